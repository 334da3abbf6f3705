// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
)

// A quota is charged each time admission is asked, so it is asked once about a run that is tried again.
func TestAdmissionIsAskedOnce(t *testing.T) {
	asked, full := 0, errors.New("the quota is used up")
	check := remembering(func(context.Context, runtime.Object) error {
		if asked++; asked > 1 {
			return full
		}
		return nil
	})
	run := &kudo.PlanExecution{Spec: kudo.PlanExecutionSpec{PlanName: "backup", InstanceParameters: map[string]string{"SIZE": "1"}}}
	for range 3 {
		if err := check(t.Context(), run.DeepCopy()); err != nil || asked != 1 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
	// The Instance was changed in between: a policy may see that otherwise.
	run.Spec.InstanceParameters["SIZE"] = "2"
	for range 2 {
		if err := check(t.Context(), run.DeepCopy()); !errors.Is(err, full) || asked != 2 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
}
