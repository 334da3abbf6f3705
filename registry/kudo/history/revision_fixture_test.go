// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/revision"
)

// version is an OperatorVersion of some content.
func version(content string) *kudo.OperatorVersion {
	return &kudo.OperatorVersion{ObjectMeta: meta("v"), Spec: kudo.OperatorVersionSpec{Version: content}}
}

// kept stores the revision of a content for db that was created so long ago, and returns its name.
func (s *stores) kept(t *testing.T, content string, age time.Duration) string {
	t.Helper()
	v := version(content)
	name, err := revision.Name("db", v)
	if err != nil {
		t.Fatal(err)
	}
	r := &kudo.OperatorVersionRevision{ObjectMeta: meta(name), Data: v.Spec}
	r.CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
	r.Labels = map[string]string{revision.InstanceLabel: "db"}
	if err := s.raw.Create(t.Context(), "/operatorversionrevisions/ns/"+name, r, &kudo.OperatorVersionRevision{}, 0); err != nil {
		t.Fatal(err)
	}
	return name
}

// used does what a request does before it takes the lock for a run of the content.
func (s *stores) used(t *testing.T, i *kudo.Instance, content string) string {
	t.Helper()
	name, err := s.revisions.Ensure(inNamespace(t), i, version(content), nil)
	if err != nil {
		t.Error(err)
	}
	return name
}

// locked lets a run hold the Instance that is not stored yet; without a revision no run holds it.
func (s *stores) locked(t *testing.T, revision string) {
	t.Helper()
	_, err := s.instances.Change(inNamespace(t), "db", nil, func(i *kudo.Instance) (bool, error) {
		i.Spec.PlanExecution = kudo.InstancePlanExecution{}
		if revision != "" {
			i.Spec.PlanExecution = kudo.InstancePlanExecution{UID: "run", Template: &kudo.PlanExecutionTemplate{Spec: kudo.PlanExecutionSpec{RevisionName: revision}}}
		}
		return true, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// revision reads a revision, which must exist.
func (s *stores) revision(t *testing.T, name string) *kudo.OperatorVersionRevision {
	t.Helper()
	obj, err := s.revisions.Get(inNamespace(t), name, &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*kudo.OperatorVersionRevision)
}
