// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package readiness

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

const (
	// fieldManager is the name under which the condition is written.
	fieldManager = "kudo-executor"
	// maxMessage is the longest message of the condition; the API takes 32 KiB.
	maxMessage = 4096
)

// write stores a verdict if it is another one than the Instance has. The version of the Instance that was judged is a precondition: if a
// plan was started meanwhile, the server has the last word.
func (c *Controller) write(ctx context.Context, i *v1beta1.Instance, k *known, v verdict) (again time.Duration, err error) {
	conditions, changed := changedBy(i, v, c.Clock.Now())
	if !changed {
		return v.again, nil
	}
	if wait := k.pace.next(c.Clock.Now()); wait > 0 {
		return wait, nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": i.UID, "resourceVersion": i.ResourceVersion},
		"status":   map[string]any{"conditions": conditions},
	})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err = c.Kudo.KudoV1beta1().Instances(i.Namespace).Patch(ctx, i.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status"); err != nil {
		return 0, err
	}
	k.pace.wrote(c.Clock.Now())
	return v.again, nil
}

// changedBy is the list of conditions with the verdict in it.
func changedBy(i *v1beta1.Instance, v verdict, now time.Time) (conditions []metav1.Condition, changed bool) {
	after := i.DeepCopy().Status.Conditions
	if len(v.message) > maxMessage {
		v.message = strings.ToValidUTF8(v.message[:maxMessage], "") + "…"
	}
	meta.SetStatusCondition(&after, metav1.Condition{
		Type: v1beta1.ReadyConditionType, Status: v.status, Reason: v.reason, Message: v.message,
		ObservedGeneration: i.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	})
	return after, !apiequality.Semantic.DeepEqual(after, i.Status.Conditions)
}

// Writes of one Instance may follow each other at once as often as burst says, and then once per interval: objects that come and go all
// the time must not keep the server busy. What is written is always how things stand at that moment.
const (
	burst    = 5
	interval = 10 * time.Second
)

// pace is a bucket of writes: it fills by one per interval.
type pace struct {
	// full is when the bucket is full again.
	full time.Time
}

// next is how long to wait with the next write.
func (p *pace) next(now time.Time) time.Duration {
	return max(0, p.full.Sub(now)-(burst-1)*interval)
}

func (p *pace) wrote(now time.Time) {
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(interval)
}

// unknownKind tells the error about a kind that the cluster does not have.
func unknownKind(err error) bool {
	reason, _ := fault.Classify(err)
	return reason == fault.ReasonUnknownKind
}
