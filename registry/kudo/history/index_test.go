// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	etcd3metrics "k8s.io/apiserver/pkg/storage/etcd3/metrics"
	storagemetrics "k8s.io/apiserver/pkg/storage/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// read is how many objects were read to answer lists of runs, by where they were read and by which index.
func read(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "apiserver_storage_list_fetched_objects_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["resource"] == "planexecutions" {
				found[labels["storage"]+" "+labels["index"]] += m.GetCounter().GetValue()
			}
		}
	}
	return found
}

// TestOneHistoryOfMany: a list of the runs of one Instance reads these and no others, in whatever way clients ask.
func TestOneHistoryOfMany(t *testing.T) {
	cachermetrics.Register()
	etcd3metrics.Register()
	storagemetrics.Register()
	s := open(t)
	const instances, each = 30, 5
	for i := range instances {
		for r := range each {
			s.run(t, fmt.Sprintf("db%02d-%d", i, r), fmt.Sprintf("db%02d", i), kudo.ExecutionComplete, r, "")
		}
	}
	selected := fields.OneTermEqualSelector(v1beta1.InstanceNameField, "db07")
	for _, tc := range []struct {
		name    string
		options metainternalversion.ListOptions
		walks   bool
	}{
		{"consistent", metainternalversion.ListOptions{}, false},
		{"as kubectl", metainternalversion.ListOptions{Limit: 500}, false},
		{"just enough", metainternalversion.ListOptions{Limit: each}, false},
		{"from the cache", metainternalversion.ListOptions{ResourceVersion: "0"}, false},
		{"from the cache, limited", metainternalversion.ListOptions{ResourceVersion: "0", Limit: 500}, false},
		{"at least as new", metainternalversion.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, false},
		{"in chunks, the later ones of which walk the cache", metainternalversion.ListOptions{Limit: 2}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := read(t)
			tc.options.FieldSelector = selected
			var names []string
			for {
				list, err := s.runs.List(inNamespace(t), &tc.options)
				if err != nil {
					t.Fatal(err)
				}
				for _, run := range list.(*kudo.PlanExecutionList).Items {
					names = append(names, run.Name)
				}
				if tc.options.Continue = list.(*kudo.PlanExecutionList).Continue; tc.options.Continue == "" {
					break
				}
			}
			if diff := cmp.Diff([]string{"db07-0", "db07-1", "db07-2", "db07-3", "db07-4"}, names); diff != "" {
				t.Error(diff)
			}
			after := read(t)
			for where := range after {
				if after[where] -= before[where]; after[where] == 0 || tc.walks && where == "watchcache " {
					delete(after, where)
				}
			}
			if diff := cmp.Diff(map[string]float64{"watchcache f:" + v1beta1.InstanceNameField: each}, after); diff != "" {
				t.Errorf("objects read, by where and by which index: %s", diff)
			}
		})
	}
}
