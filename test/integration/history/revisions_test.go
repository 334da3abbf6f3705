// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// unusedSince is the annotation by which the server remembers when it saw that no run refers to a revision.
const unusedSince = "kudo.dev/unused-since"

// TestRevisions: an OperatorVersion is changed several times, with a run each time. Of its contents those stay that a run refers to.
func TestRevisions(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":2}}`)
	var names []string // of the revisions, the oldest first
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"} {
		names = append(names, work(t, l, ns, version))
	}
	unused := names[:2]
	for _, name := range unused {
		marked(t, l, ns, name)
		// As if it had been seen ten minutes ago.
		body := `{"metadata":{"annotations":{"` + unusedSince + `":"` + time.Now().Add(-10*time.Minute).UTC().Format(time.RFC3339) + `"}}}`
		if _, err := l.Dynamic.Resource(revisions).Namespace(ns).Patch(t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("the content that came second is used again, the first is not")
	if again := work(t, l, ns, "1.1.0"); again != names[1] {
		t.Fatalf("the same content is kept as %s and as %s", names[1], again)
	}
	l.Object(t, revisions, ns, names[0], "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
	l.Object(t, revisions, ns, names[1], "to be in use", func(obj *unstructured.Unstructured) bool {
		return obj != nil && obj.GetAnnotations()[unusedSince] == ""
	})
	marked(t, l, ns, names[2])
	list, err := l.Kudo.KudoV1beta1().OperatorVersionRevisions(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range list.Items {
		left = append(left, r.Name)
	}
	slices.Sort(left)
	if want := slices.Sorted(slices.Values(names[1:])); !slices.Equal(left, want) {
		t.Errorf("revisions %v, want %v", left, want)
	}
	t.Log("the content that came first is made anew")
	if again := work(t, l, ns, "1.0.0"); again != names[0] {
		t.Errorf("the same content is kept as %s and as %s", names[0], again)
	}
}

var revisions = v1beta1.SchemeGroupVersion.WithResource("operatorversionrevisions")

// marked waits until the server has seen that no run refers to the revision.
func marked(t *testing.T, l *lab.Lab, ns, name string) {
	t.Helper()
	l.Object(t, revisions, ns, name, "to be marked", func(obj *unstructured.Unstructured) bool {
		return obj != nil && obj.GetAnnotations()[unusedSince] != ""
	})
}

// work changes the version in the OperatorVersion, runs a plan, and returns the revision that the run used. It is over in another
// second than it began in: the newest revision always stays, and times of creation have whole seconds.
func work(t *testing.T, l *lab.Lab, ns, version string) string {
	t.Helper()
	if _, err := l.Kudo.KudoV1beta1().OperatorVersions(ns).Patch(t.Context(), "op", types.MergePatchType, []byte(`{"spec":{"version":"`+version+`"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	pe := l.Ended(t, l.Trigger(t, ns, "well"), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	time.Sleep(time.Until(pe.CreationTimestamp.Add(time.Second)))
	return pe.Spec.RevisionName
}
