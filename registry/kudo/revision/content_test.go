// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"kudo.dev/kudo/apis/kudo"
)

func newVersion(uid, resourceVersion, content string) *kudo.OperatorVersion {
	return &kudo.OperatorVersion{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: resourceVersion},
		Spec:       kudo.OperatorVersionSpec{Version: content},
	}
}

func name(t *testing.T, ov *kudo.OperatorVersion) string {
	t.Helper()
	got, err := Name("db", ov)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNameFollowsTheContent(t *testing.T) {
	first := name(t, newVersion("a", "1", "1.0.0"))
	if again := name(t, newVersion("a", "1", "1.0.0")); again != first {
		t.Errorf("the same state has the names %q and %q", first, again)
	}
	if other := name(t, newVersion("b", "7", "1.0.0")); other != first {
		t.Errorf("equal contents have the names %q and %q", first, other)
	}
	if changed := name(t, newVersion("a", "2", "2.0.0")); changed == first {
		t.Error("another content has the same name")
	}
	// What was not read from the storage has no state to be remembered by.
	for _, ov := range []*kudo.OperatorVersion{newVersion("a", "", "3.0.0"), newVersion("", "1", "3.0.0")} {
		before := name(t, ov)
		ov.Spec.Version = "4.0.0"
		if name(t, ov) == before {
			t.Errorf("uid %q, resourceVersion %q: the name did not follow a change", ov.UID, ov.ResourceVersion)
		}
	}
}

func TestSameRemembersEqualOnly(t *testing.T) {
	r := &REST{equal: lru.New(8)}
	kept := &kudo.OperatorVersionRevision{ObjectMeta: metav1.ObjectMeta{UID: "r"}, Data: newVersion("a", "1", "1.0.0").Spec}
	for range 2 {
		if err := r.same(kept, newVersion("a", "1", "1.0.0")); err != nil {
			t.Error(err)
		}
		if err := r.same(kept, newVersion("a", "2", "2.0.0")); err == nil {
			t.Error("another content counts as the same")
		}
	}
	another := &kudo.OperatorVersionRevision{ObjectMeta: metav1.ObjectMeta{UID: "s"}, Data: newVersion("a", "1", "2.0.0").Spec}
	if err := r.same(another, newVersion("a", "1", "1.0.0")); err == nil {
		t.Error("what was found of one revision counts for another")
	}
}
