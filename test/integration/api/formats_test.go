// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

const (
	protobuf = "application/vnd.kubernetes.protobuf"
	asTable  = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asMeta   = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asMetas  = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// TestProtobuf: every kind is answered in protobuf, and lists of metadata, by which the garbage collector and the namespace
// controller see the group.
func TestProtobuf(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		env.Create(t, ns, k.resource, k.body("a"))
		list := harness.Path(ns, k.resource)
		for _, r := range []harness.Request{
			{Path: list, Accept: protobuf},
			{Path: list, Accept: protobuf + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
			{Path: list + "/a", Accept: protobuf},
			{Path: list + "/a", Accept: protobuf + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
		} {
			r.Method = "GET"
			if got := env.Expect(t, http.StatusOK, r); !strings.HasPrefix(got.Body, "k8s\x00") {
				t.Errorf("%s as %s: %q", r.Path, r.Accept, got.Text())
			}
		}
	})
}

// TestMetadataOnly: objects and lists are answered as their metadata, and watched so.
func TestMetadataOnly(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		env.Create(t, ns, k.resource, k.body("a"))
		one := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, k.resource, "a"), Accept: asMeta}).Object(t)
		if one.GetKind() != "PartialObjectMetadata" || one.GetName() != "a" || one.Object["spec"] != nil {
			t.Errorf("one: %v", one)
		}
		list := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, k.resource), Accept: asMetas}).Object(t)
		if items, _, _ := unstructured.NestedSlice(list.Object, "items"); list.GetKind() != "PartialObjectMetadataList" || len(items) == 0 {
			t.Errorf("list: %v", list)
		}
		watch := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, k.resource) + "?watch=true&timeoutSeconds=1&resourceVersion=0", Accept: asMeta})
		if !strings.Contains(watch.Body, `"kind":"PartialObjectMetadata"`) || strings.Contains(watch.Body, `"spec"`) {
			t.Errorf("watch: %s", watch.Text())
		}
	})
}

// TestWatchList: informers list by a watch, whose bookmark tells when all that exists was sent.
func TestWatchList(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		env.Create(t, ns, k.resource, k.body("a"))
		got := env.Expect(t, http.StatusOK, get(harness.Path(ns, k.resource)+"?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2"))
		before, _, found := strings.Cut(got.Body, "k8s.io/initial-events-end")
		if !found || !strings.Contains(before, `"ADDED"`) || !strings.Contains(before, `"BOOKMARK"`) {
			t.Errorf("the watch says %s", got.Text())
		}
	})
}

// TestTables: the columns that kubectl shows, in order, those of -o wide with a priority, and the values of a row.
func TestTables(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Create(t, ns, "operators", "{apiVersion: kudo.dev/v1beta1, kind: Operator, metadata: {name: demo}, spec: {kubernetesVersion: 1.30.0, description: A demo}}")
	env.Create(t, ns, "planexecutions", harness.Execution("nightly", "db", "backup"))
	env.Until(t, patience, "the step to begin", func() error {
		return wantCode(env.Send(t, get(harness.Path(ns, "planexecutions", "nightly"))), http.StatusOK)
	})
	for resource, tc := range map[string]struct{ columns, name, row string }{
		"operators":        {"Name Kubernetes Description* URL* Age", "demo", "demo|1.30.0|A demo|"},
		"operatorversions": {"Name Operator Version App Plans* Parameters* Age", "demo-1.0.0", "demo-1.0.0|demo|1.0.0|2.5|backup,deploy,restore,update|4"},
		"instances":        {"Name Operator Version Active_Plan Status Ready Last_Plan* Run* Objects* Age", "db", "db|demo|demo-1.0.0|backup|"},
		"planexecutions":   {"Name Plan Instance Status Started Duration Requested_By Trigger* Step* Message*", "nightly", "nightly|backup|db|"},
	} {
		for _, path := range []string{harness.Path(ns, resource), harness.Path(ns, resource, tc.name)} {
			table := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: path, Accept: asTable}).Object(t)
			var columns []string
			definitions, _, _ := unstructured.NestedSlice(table.Object, "columnDefinitions")
			for _, d := range definitions {
				column := d.(map[string]any)
				text := strings.ReplaceAll(column["name"].(string), " ", "_")
				if column["priority"] != int64(0) {
					text += "*"
				}
				if column["description"] == "" {
					t.Errorf("%s: column %s has no description", resource, text)
				}
				columns = append(columns, text)
			}
			if got := strings.Join(columns, " "); got != tc.columns {
				t.Errorf("%s has columns %s, want %s", resource, got, tc.columns)
			}
			if rows := rowsOf(table); !strings.Contains("\n"+rows, "\n"+tc.row) {
				t.Errorf("%s has rows\n%s, want one with %s", path, rows, tc.row)
			}
		}
	}
}

func rowsOf(table *unstructured.Unstructured) string {
	var all strings.Builder
	rows, _, _ := unstructured.NestedSlice(table.Object, "rows")
	for _, r := range rows {
		for n, cell := range r.(map[string]any)["cells"].([]any) {
			if n > 0 {
				all.WriteString("|")
			}
			all.WriteString(strings.TrimSpace(text(cell)))
		}
		all.WriteString("\n")
	}
	return all.String()
}

// TestFieldSelectors: each that is documented works, for lists and across namespaces.
func TestFieldSelectors(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Create(t, ns, "instances", harness.Instance("idle"))
	env.Idle(t, ns, "idle")
	env.Create(t, ns, "planexecutions", harness.Execution("nightly", "db", "backup"))
	env.Until(t, patience, "the run to begin", func() error {
		return wantText(harness.Field(env.Get(t, ns, "planexecutions", "nightly"), "status", "status"), "IN_PROGRESS")
	})
	for selector, want := range map[string]int{
		"planexecutions?spec.instanceName=db":                   2,
		"planexecutions?spec.instanceName=none":                 0,
		"planexecutions?spec.planName=backup":                   1,
		"planexecutions?status.status=IN_PROGRESS":              1,
		"planexecutions?status.status=COMPLETE":                 2,
		"planexecutions?spec.operatorVersion.name=demo-1.0.0":   3,
		"planexecutions?spec.instanceName=db,spec.planName!=x":  2,
		"planexecutions?metadata.name=nightly":                  1,
		"instances?spec.operatorVersion.name=demo-1.0.0":        2,
		"instances?spec.planExecution.planName=backup":          1,
		"instances?spec.planExecution.planName=":                1,
		"instances?metadata.name=db":                            1,
		"operatorversions?metadata.name=demo-1.0.0":             1,
		"operatorversionrevisions?metadata.namespace=elsewhere": 0,
	} {
		resource, fields, _ := strings.Cut(selector, "?")
		query := "?fieldSelector=" + strings.NewReplacer("!=", "%21%3D", "=", "%3D", ",", "%2C").Replace(fields)
		if got := env.Names(t, harness.Path(ns, resource)+query); len(got) != want {
			t.Errorf("%s selects %q, want %d", selector, got, want)
		}
		everywhere := query + "%2Cmetadata.namespace%3D" + ns
		if got := env.Names(t, harness.Root+"/"+resource+everywhere); want > 0 && len(got) != want {
			t.Errorf("%s selects %q in all namespaces, want %d", selector, got, want)
		}
	}
	for _, resource := range []string{"planexecutions", "instances", "operators", "operatorversions", "operatorversionrevisions"} {
		env.Expect(t, http.StatusBadRequest, get(harness.Path(ns, resource)+"?fieldSelector=spec.other%3Dx"), "supported are")
	}
}
