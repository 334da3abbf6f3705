// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var pods = schema.GroupResource{Resource: "pods"}

func TestClassify(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", field.ErrorList{field.Required(field.NewPath("spec"), "")})
	terminating := apierrors.NewForbidden(pods, "x", errors.New("namespace n is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	immutableJob := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "x", field.ErrorList{field.Invalid(field.NewPath("spec", "template"), "", "field is immutable")})
	for _, c := range []struct {
		name   string
		err    error
		reason string
		final  bool
	}{
		{"invalid", invalid, ReasonRejected, true},
		{"wrapped invalid", fmt.Errorf("apply: %w", invalid), ReasonRejected, true},
		{"immutable", immutableJob, ReasonImmutable, true},
		{"bad request", apierrors.NewBadRequest("x"), ReasonRejected, true},
		{"forbidden", apierrors.NewForbidden(pods, "x", errors.New("no")), ReasonForbidden, true},
		{"too large", apierrors.NewRequestEntityTooLargeError("x"), ReasonRejected, true},
		{"method", apierrors.NewMethodNotSupported(pods, "apply"), ReasonRejected, true},
		{"namespace terminating", terminating, ReasonNamespace, true},
		{"no namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n"), ReasonNamespace, true},
		{"schema", apierrors.NewInternalError(errors.New("failed to create typed patch object (x): .spec.foo: field not declared in schema")), ReasonRejected, true},
		{"marked final", fmt.Errorf("x: %w", Finalf(ReasonDummy, "dummy")), ReasonDummy, true},
		{"marked retried", fmt.Errorf("x: %w", &Retried{Err: invalid}), ReasonTransient, false},
		{"final around retried", &Final{Reason: "R", Err: &Retried{Err: invalid}}, "R", true},
		{"quota", apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q, requested: pods=1")), ReasonTransient, false},
		{"quota without status", apierrors.NewForbidden(pods, "x", errors.New("status unknown for quota: q, resources: pods")), ReasonTransient, false},
		{"service account", apierrors.NewForbidden(pods, "x", errors.New(`error looking up service account n/default: serviceaccount "default" not found`)), ReasonTransient, false},
		{"webhook refuses", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: "because", Message: `admission webhook "w" denied the request: because`}}, ReasonForbidden, true},
		{"conflict", apierrors.NewConflict(pods, "x", errors.New("y")), ReasonTransient, false},
		{"already exists", apierrors.NewAlreadyExists(pods, "x"), ReasonTransient, false},
		{"no such resource", apierrors.NewGenericServerResponse(404, "patch", pods, "x", "", 0, true), ReasonTransient, false},
		{"server timeout", apierrors.NewServerTimeout(pods, "patch", 2), ReasonTransient, false},
		{"timeout", apierrors.NewTimeoutError("x", 1), ReasonTransient, false},
		{"too many requests", apierrors.NewTooManyRequests("x", 3), ReasonTransient, false},
		{"internal", apierrors.NewInternalError(errors.New("x")), ReasonTransient, false},
		{"webhook", apierrors.NewInternalError(errors.New(`failed calling webhook "w": connection refused`)), ReasonTransient, false},
		{"unavailable", apierrors.NewServiceUnavailable("x"), ReasonTransient, false},
		{"unauthorized", apierrors.NewUnauthorized("x"), ReasonTransient, false},
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, ReasonTransient, false},
		{"deadline", context.DeadlineExceeded, ReasonTransient, false},
		{"nil", nil, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if reason, final := Classify(c.err); reason != c.reason || final != c.final {
				t.Errorf("got %s, %v; want %s, %v", reason, final, c.reason, c.final)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	if got := RetryAfter(fmt.Errorf("x: %w", apierrors.NewTooManyRequests("x", 3))); got != 3*time.Second {
		t.Errorf("got %v", got)
	}
	if got := RetryAfter(errors.New("x")); got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestBrief(t *testing.T) {
	type template struct{ Env map[string]string }
	secret := template{map[string]string{"PASSWORD": strings.Repeat("hunter2 ", 30)}}
	kind := schema.GroupKind{Group: "batch", Kind: "Job"}
	at := field.NewPath("spec", "template")
	for _, c := range []struct {
		err  error
		want string
	}{
		{apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(at, secret, "field is immutable")}), `Job "x" is invalid: spec.template: Invalid value (value left out): field is immutable`},
		{apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(at, strings.Repeat("y", 300), "too long")}), `Job "x" is invalid: spec.template: Invalid value (value left out): too long`},
		{fmt.Errorf("w: %w", apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(at, 3, "must be 4"), field.Required(at, "")})), `Job "x" is invalid: spec.template: Invalid value: 3: must be 4; spec.template: Required value`},
		{errors.New("plain"), "plain"},
		{apierrors.NewInternalError(errors.New("failed to create typed patch object (n/x; /v1, Kind=Secret): .stringData.password: expected string, got &value.valueUnstructured{Value:123456}")),
			"Internal error occurred: failed to create typed patch object (n/x; /v1, Kind=Secret): .stringData.password: expected string, got another type (value left out; quote it in the template)"},
		{errors.New("errors:\n  .a.b: expected map, got &{hunter2\n  hunter2}\n  .c: expected string, got &{1}\n  .d: field not declared in schema"),
			"errors:\n  .a.b: expected map, got another type (value left out; quote it in the template)\n  .c: expected string, got another type (value left out; quote it in the template)\n  .d: field not declared in schema"},
		{apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(at, 3, "expected string, got 123456")}), `Job "x" is invalid: spec.template: Invalid value: 3: expected string, got another type (value left out; quote it in the template)`},
	} {
		if got := Brief(c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
