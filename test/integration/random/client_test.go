// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/integration/random/history"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// answerTime is how long a client waits for an answer.
const answerTime = 30 * time.Second

// client does one thing after another, as a user of its own.
type client struct {
	name  string
	stage *stage
	r     *rand.Rand
	kudo  clientset.Interface
}

// answer is what was answered: the Instance, the run that is said to have been started, or an error.
type answer struct {
	instance types.UID
	started  *history.RunRef
	err      error
}

func refused(err error) answer { return answer{err: err} }

// do carries an operation out and records it.
func (c *client) do(ctx context.Context, o history.Operation, call func(context.Context) answer) history.Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errors.New("no answer in time"))
	defer cancel()
	o.Client, o.Sent = c.name, time.Now()
	a := call(ctx)
	o.Answered, o.InstanceUID = time.Now(), a.instance
	o.Outcome, o.Answer = outcome(a.err)
	if a.err == nil {
		o.Started = a.started
	}
	c.stage.record(o)
	return o.Outcome
}

// run does random things until there were enough.
func (c *client) run(ctx context.Context) {
	for {
		c.stage.waitUp(ctx)
		id, ok := c.stage.number()
		if !ok || ctx.Err() != nil {
			return
		}
		c.act(ctx, id)
	}
}

// operation is one on a place.
func operation(id int, kind history.Kind, at types.NamespacedName, plans ...string) history.Operation {
	return history.Operation{ID: id, Kind: kind, Namespace: at.Namespace, Instance: at.Name, Plans: plans}
}

// onRun is an operation on a run.
func onRun(id int, kind history.Kind, pe *v1beta1.PlanExecution) history.Operation {
	o := operation(id, kind, instanceOf(pe))
	o.Target = history.RunRef{Name: pe.Name, UID: pe.UID}
	return o
}

// holder is the run that the lock of an Instance names.
func holder(i *v1beta1.Instance) *history.RunRef {
	pe := lab.Holder(i)
	if pe.UID == "" {
		return nil
	}
	return &history.RunRef{Name: pe.Name, UID: pe.UID}
}

// changed is the answer to a change of an Instance that starts a run by itself.
func changed(i *v1beta1.Instance, err error) answer {
	if err != nil {
		return refused(err)
	}
	return answer{instance: i.UID, started: holder(i)}
}

// asked is the answer to a request that may have started a run: the one that holds the Instance is it if it is this client's, of the
// wanted cause, and nobody was told of it.
func (c *client) asked(i *v1beta1.Instance, trigger v1beta1.TriggerReason) answer {
	a := answer{instance: i.UID}
	if t := i.Spec.PlanExecution.Template; t != nil && t.Spec.Trigger == trigger && t.Annotations[history.OperationAnnotation] == "" &&
		t.Spec.RequestedBy != nil && t.Spec.RequestedBy.Username == c.name && c.stage.first(i.Spec.PlanExecution.UID) {
		a.started = holder(i)
	}
	return a
}

// triggered is the answer to a request that is answered with a run.
func triggered(pe *v1beta1.PlanExecution, err error) answer {
	if err != nil {
		return refused(err)
	}
	a := answer{started: &history.RunRef{Name: pe.Name, UID: pe.UID}}
	if owner := metav1.GetControllerOf(pe); owner != nil {
		a.instance = owner.UID
	}
	return a
}

func (c *client) create(ctx context.Context, id int, at types.NamespacedName) {
	version, cleanup := first, "ok"
	switch n := c.r.IntN(100); {
	case n < 20:
		version = bare
	case n < 40:
		version = second
	}
	if c.r.IntN(4) == 0 {
		cleanup = "fail"
	}
	c.do(ctx, operation(id, history.Create, at, v1beta1.DeployPlanName), func(ctx context.Context) answer {
		return changed(c.kudo.KudoV1beta1().Instances(at.Namespace).Create(ctx, newInstance(at.Name, version, strconv.Itoa(id), cleanup), metav1.CreateOptions{}))
	})
}

// change changes parameters by a patch, by server-side apply, or by sending the whole Instance back.
func (c *client) change(ctx context.Context, id int, at types.NamespacedName) {
	instances := c.kudo.KudoV1beta1().Instances(at.Namespace)
	parameters := map[string]string{history.OperationParameter: strconv.Itoa(id)}
	plan := v1beta1.DeployPlanName
	kind := c.r.IntN(3)
	if c.r.IntN(2) == 0 || kind == 0 {
		parameters["file"], plan = strconv.Itoa(id), backup
	}
	o := operation(id, history.Change, at, plan)
	switch kind {
	case 0: // what a manager applied once and leaves out later is taken away, so it always applies the same parameters
		patch := mustJSON(map[string]any{"apiVersion": "kudo.dev/v1beta1", "kind": "Instance", "spec": map[string]any{"parameters": parameters}})
		force := true
		c.do(ctx, o, func(ctx context.Context) answer {
			return changed(instances.Patch(ctx, at.Name, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: c.name, Force: &force}))
		})
	case 1:
		i, err := instances.Get(ctx, at.Name, metav1.GetOptions{})
		if err != nil {
			return
		}
		maps.Copy(i.Spec.Parameters, parameters)
		c.do(ctx, o, func(ctx context.Context) answer {
			return changed(instances.Update(ctx, i, metav1.UpdateOptions{}))
		})
	default:
		patch := mustJSON(map[string]any{"spec": map[string]any{"parameters": parameters}})
		c.do(ctx, o, func(ctx context.Context) answer {
			return changed(instances.Patch(ctx, at.Name, types.MergePatchType, patch, metav1.PatchOptions{}))
		})
	}
}

// upgrade changes the OperatorVersion. If the Instance has it, what remains is a change of a parameter.
func (c *client) upgrade(ctx context.Context, id int, at types.NamespacedName) {
	version := []string{first, second, bare}[c.r.IntN(3)]
	patch := mustJSON(map[string]any{"spec": map[string]any{"operatorVersion": map[string]any{"name": version},
		"parameters": map[string]string{history.OperationParameter: strconv.Itoa(id)}}})
	c.do(ctx, operation(id, history.Upgrade, at, v1beta1.UpgradePlanName, v1beta1.DeployPlanName), func(ctx context.Context) answer {
		return changed(c.kudo.KudoV1beta1().Instances(at.Namespace).Patch(ctx, at.Name, types.MergePatchType, patch, metav1.PatchOptions{}))
	})
}

// trigger starts a plan in one of the ways there are.
func (c *client) trigger(ctx context.Context, id int, at types.NamespacedName, plan string, parameters map[string]string) history.Outcome {
	client := c.kudo.KudoV1beta1()
	meta := metav1.ObjectMeta{Annotations: map[string]string{history.OperationAnnotation: strconv.Itoa(id)}}
	if c.r.IntN(2) == 0 {
		meta.Name = fmt.Sprintf("%s-operation-%d", at.Name, id)
	}
	request := &v1beta1.PlanTrigger{ObjectMeta: meta, PlanName: plan, Parameters: parameters}
	o := operation(id, history.Trigger, at, plan)
	switch c.r.IntN(3) {
	case 0:
		body := mustJSON(request)
		return c.do(ctx, o, func(ctx context.Context) answer {
			pe := &v1beta1.PlanExecution{}
			err := client.RESTClient().Post().Namespace(at.Namespace).Resource("instances").Name(at.Name).SubResource("plans", plan+":trigger").
				SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Into(pe)
			return triggered(pe, err)
		})
	case 1:
		return c.do(ctx, o, func(ctx context.Context) answer {
			return triggered(client.Instances(at.Namespace).CreatePlan(ctx, at.Name, request, metav1.CreateOptions{}))
		})
	default:
		run := &v1beta1.PlanExecution{ObjectMeta: meta, Spec: v1beta1.PlanExecutionSpec{InstanceName: at.Name, PlanName: plan, Parameters: parameters}}
		return c.do(ctx, o, func(ctx context.Context) answer {
			return triggered(client.PlanExecutions(at.Namespace).Create(ctx, run, metav1.CreateOptions{}))
		})
	}
}

// patch starts a plan as clients of KUDO 0.19 do.
func (c *client) patch(ctx context.Context, id int, at types.NamespacedName, plan string) {
	patch := mustJSON(map[string]any{"spec": map[string]any{"planExecution": map[string]any{"planName": plan}}})
	c.do(ctx, operation(id, history.Patch, at, plan), func(ctx context.Context) answer {
		i, err := c.kudo.KudoV1beta1().Instances(at.Namespace).Patch(ctx, at.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return refused(err)
		}
		return c.asked(i, v1beta1.TriggerManual)
	})
}
