// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/executor/fault"
)

func TestRecreationOf(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  Recreation
		final bool
	}{
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}", "", false},
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {kudo.dev/recreate: Always}}", RecreateAlways, false},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: j, annotations: {kudo.dev/recreate: OnChange}}", RecreateOnChange, false},
		{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: j, annotations: {kudo.dev/recreate: Never}}", RecreateNever, false},
		{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: j, annotations: {kudo.dev/recreate: OnChange}}", "", true},
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {kudo.dev/recreate: \"true\"}}", "", true},
	} {
		got, err := RecreationOf(object(t, c.in))
		if _, final := fault.Classify(err); got != c.want || final != c.final {
			t.Errorf("%s: %q %v", c.in, got, err)
		}
	}
}

func TestReplaces(t *testing.T) {
	job := func(run, owner, condition string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, annotations: {kudo.dev/last-plan-execution-uid: " + run + "}, ownerReferences: [{uid: " + owner +
			", kind: Instance, name: zk, apiVersion: kudo.dev/v1beta1}]}\nstatus: {conditions: [{type: " + condition + ", status: \"True\"}]}"
	}
	for _, c := range []struct {
		name      string
		mark      Recreation
		live      string
		describes bool
		want      bool
	}{
		{"finished in an earlier backup", "", job("other", "iuid", "Complete"), false, true},
		{"finished in an earlier deploy", "", job("other", "iuid", "Complete"), true, false},
		{"failed in an earlier deploy", "", job("other", "iuid", "Failed"), true, true},
		{"still runs", "", job("other", "iuid", "Suspended"), false, false},
		{"of this run", RecreateAlways, job("run", "iuid", "Complete"), false, false},
		{"of somebody else", RecreateAlways, job("other", "somebody", "Complete"), false, false},
		{"always", RecreateAlways, job("other", "iuid", "Suspended"), true, true},
		{"never", RecreateNever, job("other", "iuid", "Failed"), false, false},
		{"on change only", RecreateOnChange, job("other", "iuid", "Complete"), true, false},
		{"another kind", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: j, namespace: ns, ownerReferences: [{uid: iuid, kind: Instance, name: zk, apiVersion: kudo.dev/v1beta1}]}", false, false},
	} {
		if got := c.mark.Replaces(object(t, c.live), id, c.describes); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	refused := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "c", field.ErrorList{field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")})
	live := object(t, job("other", "iuid", "Complete"))
	if !Recreation(RecreateOnChange).OnRefusal(live, id, refused) || Recreation("").OnRefusal(live, id, refused) || Recreation(RecreateOnChange).OnRefusal(nil, id, refused) {
		t.Error("who is made anew after a refusal")
	}
}
