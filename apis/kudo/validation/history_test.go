// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo"
)

func TestValidateHistoryLimits(t *testing.T) {
	const successful, failed = "spec.successfulRunsHistoryLimit", "spec.failedRunsHistoryLimit"
	for _, tc := range []struct {
		name               string
		successful, failed *int32
		want               []string
		says               string
	}{
		{"absent", nil, nil, nil, ""},
		{"none kept", new(int32(0)), new(int32(0)), nil, ""},
		{"the most", new(int32(10_000)), new(int32(10_000)), nil, ""},
		{"negative", new(int32(-1)), nil, []string{successful}, "0 keeps none of these runs, and without the field 10 are kept"},
		{"too many", nil, new(int32(10_001)), []string{failed}, "must be at most 10000"},
		{"both wrong", new(int32(2_000_000_000)), new(int32(-7)), []string{successful, failed}, "must not be negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := &kudo.Instance{ObjectMeta: meta("db"), Spec: kudo.InstanceSpec{
				OperatorVersion: kudo.ObjectReference{Name: "v"}, SuccessfulRunsHistoryLimit: tc.successful, FailedRunsHistoryLimit: tc.failed}}
			errs := ValidateInstance(i)
			if diff := cmp.Diff(tc.want, fields(errs)); diff != "" {
				t.Errorf("creation: %s", diff)
			}
			if tc.says != "" && !strings.Contains(errs.ToAggregate().Error(), tc.says) {
				t.Errorf("the error does not say %q: %v", tc.says, errs)
			}
			old := i.DeepCopy()
			old.Spec.SuccessfulRunsHistoryLimit, old.Spec.FailedRunsHistoryLimit = new(int32(3)), nil
			i.ResourceVersion, old.ResourceVersion = "1", "1"
			if diff := cmp.Diff(tc.want, fields(ValidateInstanceUpdate(i, old))); diff != "" {
				t.Errorf("update: %s", diff)
			}
		})
	}
}
