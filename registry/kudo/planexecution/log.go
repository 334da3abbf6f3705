// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
)

// What the log is answered as.
const (
	textLog = "text/plain"
	jsonLog = "application/x-ndjson"
)

// LogREST serves the subresource log: what happened in a run, as lines of text or JSON. The name is one of the few that the front door
// lets stream for longer than a minute.
type LogREST struct {
	executions source
	shutdown   <-chan struct{}
}

var (
	_ rest.GetterWithOptions = &LogREST{}
	_ rest.StorageMetadata   = &LogREST{}
)

// NewLogREST makes the subresource. Streams end when shutdown is closed, so that the server can stop.
func NewLogREST(executions *REST, shutdown <-chan struct{}) *LogREST {
	return &LogREST{executions, shutdown}
}

// New returns an empty PlanExecution.
func (*LogREST) New() runtime.Object { return &kudo.PlanExecution{} }

// Destroy does nothing: the storage belongs to REST.
func (*LogREST) Destroy() {}

// ProducesMIMETypes are what is answered.
func (*LogREST) ProducesMIMETypes(string) []string { return []string{textLog, jsonLog} }

// ProducesObject tells OpenAPI that the answer is text.
func (*LogREST) ProducesObject(string) any { return "" }

// OverrideMetricsVerb keeps streams out of the latencies of GET.
func (*LogREST) OverrideMetricsVerb(verb string) string {
	if verb == "GET" {
		return "CONNECT"
	}
	return verb
}

// NewGetOptions are the options of GET.
func (*LogREST) NewGetOptions() (runtime.Object, bool, string) {
	return &kudo.PlanExecutionLogOptions{}, false, ""
}

// Get answers the log so far, and with follow=true all that comes until the run ends.
func (r *LogREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	o, ok := options.(*kudo.PlanExecutionLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not PlanExecutionLogOptions: %T", options))
	}
	if errs := validation.ValidatePlanExecutionLogOptions(o); len(errs) > 0 {
		return nil, badOptions(errs)
	}
	s := &logStream{rest: r, options: *o}
	var err error
	if s.first, s.from, err = newest(ctx, r.executions, name); err != nil {
		return nil, err
	}
	if end := lastSequence(s.first.Status.Log); o.SinceSequence > end {
		return nil, badOptions(field.ErrorList{field.Invalid(field.NewPath("sinceSequence"), o.SinceSequence, fmt.Sprintf(
			"the log of this run ends at %d; what you have is of another run of the name: this one has uid %s and was created at %s; leave sinceSequence out",
			end, s.first.UID, s.first.CreationTimestamp.UTC().Format("2006-01-02T15:04:05Z")))})
	}
	return s, nil
}

// badOptions is the answer to a query that is not valid.
func badOptions(errs field.ErrorList) error {
	err := apierrors.NewBadRequest(errs.ToAggregate().Error())
	err.ErrStatus.Details = &metav1.StatusDetails{Group: kudo.GroupName, Kind: "PlanExecutionLogOptions"}
	for _, e := range errs {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: metav1.CauseType(e.Type), Message: e.ErrorBody(), Field: e.Field})
	}
	return err
}
