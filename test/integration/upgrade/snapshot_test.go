// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package upgrade

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// snapshot is every object that the server stores as it answers it, by resource, namespace and name.
type snapshot map[string]any

func take(t *testing.T, l *lab.Lab) snapshot {
	t.Helper()
	all := snapshot{}
	for _, resource := range []string{"operators", "operatorversions", "operatorversionrevisions", "instances", "planexecutions"} {
		list, err := l.Dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource(resource)).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == 0 {
			t.Fatalf("there are no %s to compare", resource)
		}
		for _, item := range list.Items {
			all[resource+" "+item.GetNamespace()+"/"+item.GetName()] = item.Object
		}
	}
	return all
}

// difference is a field that one of two snapshots has alone; without a field it is a whole object.
type difference struct{ object, path, field string }

// comparison is how two snapshots differ.
type comparison struct {
	changed        []string
	added, missing []difference
}

func compare(was, is snapshot) *comparison {
	c := &comparison{}
	for name, object := range was {
		if other, ok := is[name]; ok {
			c.walk(name, "", object, other)
		} else {
			c.missing = append(c.missing, difference{object: name})
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			c.added = append(c.added, difference{object: name})
		}
	}
	return c
}

func (c *comparison) walk(object, path string, was, is any) {
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			for key, value := range was {
				if other, ok := is[key]; ok {
					c.walk(object, path+"."+key, value, other)
				} else {
					c.missing = append(c.missing, difference{object, path, key})
				}
			}
			for key := range is {
				if _, ok := was[key]; !ok {
					c.added = append(c.added, difference{object, path, key})
				}
			}
			return
		}
	case []any:
		if is, ok := is.([]any); ok && len(is) == len(was) {
			for i := range was {
				c.walk(object, fmt.Sprintf("%s[%d]", path, i), was[i], is[i])
			}
			return
		}
	}
	if !reflect.DeepEqual(was, is) {
		c.changed = append(c.changed, fmt.Sprintf("%s %s: was %v, is %v", object, path, was, is))
	}
}

// words are the names of all fields and keys in a snapshot: what the server that answered it knows.
func (s snapshot) words() map[string]bool {
	words := map[string]bool{}
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				words[key] = true
				collect(value)
			}
		case []any:
			for _, value := range v {
				collect(value)
			}
		}
	}
	collect(map[string]any(s))
	return words
}

// readBack fails unless both snapshots say the same. Only fields that the older server does not know may be in the newer's alone.
func readBack(t *testing.T, was, is snapshot, known map[string]bool) {
	t.Helper()
	c := compare(was, is)
	for _, path := range c.changed {
		t.Errorf("changed: %s", path)
	}
	for what, list := range map[string][]difference{"added": c.added, "missing": c.missing} {
		for _, d := range list {
			if d.field == "" || known[d.field] {
				t.Errorf("%s: %s %s.%s", what, d.object, d.path, d.field)
			} else {
				t.Logf("%s, and not known to the older server: %s %s.%s", what, d.object, d.path, d.field)
			}
		}
	}
}

func TestComparison(t *testing.T) {
	object := func(field string, nested int64) any {
		return map[string]any{"spec": map[string]any{field: "1", "list": []any{"x", map[string]any{"k": nested}}}}
	}
	was := snapshot{"instances a/b": object("a", 1), "instances a/gone": map[string]any{}}
	c := compare(was, snapshot{"instances a/b": object("b", 2)})
	if want := []string{"instances a/b .spec.list[1].k: was 1, is 2"}; !slices.Equal(c.changed, want) {
		t.Errorf("changed %q, want %q", c.changed, want)
	}
	if want := []difference{{"instances a/b", ".spec", "b"}}; !slices.Equal(c.added, want) {
		t.Errorf("added %q, want %q", c.added, want)
	}
	want := []difference{{"instances a/b", ".spec", "a"}, {object: "instances a/gone"}}
	if len(c.missing) != 2 || !slices.Contains(c.missing, want[0]) || !slices.Contains(c.missing, want[1]) {
		t.Errorf("missing %q, want %q", c.missing, want)
	}
	if words := was.words(); !words["k"] || words["b"] {
		t.Errorf("words %v", words)
	}
}
