// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package install_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// fields collects the fields of our own types, as Type.field, and which of them have a value somewhere.
type fields map[string]bool

func ours(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[v1beta1.Instance]().PkgPath() }

// declare adds the fields of a type and of all types in it.
func (f fields) declare(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		f.declare(t.Elem())
	case reflect.Struct:
		if !ours(t) {
			return
		}
		for field := range t.Fields() {
			name := t.Name() + "." + field.Name
			if _, known := f[name]; known {
				continue
			}
			// A struct that can have no fields cannot have a value.
			if field.Type.Kind() != reflect.Struct || field.Type.NumField() > 0 {
				f[name] = false
			}
			f.declare(field.Type)
		}
	}
}

// use marks the fields that have a value.
func (f fields) use(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			f.use(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.use(v.Index(i))
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			f.use(entry.Value())
		}
	case reflect.Struct:
		if !ours(v.Type()) {
			return
		}
		for field, value := range v.Fields() {
			name := v.Type().Name() + "." + field.Name
			if _, known := f[name]; known && !value.IsZero() {
				f[name] = true
			}
			f.use(value)
		}
	}
}

func (f fields) unused() []string {
	var all []string
	for name, used := range f {
		if !used {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// TestEveryFieldHasASample: a field that no sample sets could get another number without any stored object telling.
func TestEveryFieldHasASample(t *testing.T) {
	all := fields{}
	for _, kind := range []any{v1beta1.Operator{}, v1beta1.OperatorVersion{}, v1beta1.OperatorVersionRevision{}, v1beta1.Instance{}, v1beta1.PlanExecution{}} {
		all.declare(reflect.TypeOf(kind))
	}
	if unused := all.unused(); !slices.Contains(unused, "StepExecutionStatus.Objects") || !slices.Contains(unused, "ObjectReference.Name") {
		t.Fatalf("fields are not found: %v", unused)
	}
	codecs := serializer.NewCodecFactory(newScheme(), serializer.EnableStrict)
	for _, name := range sampleNames(t) {
		wire, err := runtime.Decode(codecs.UniversalDeserializer(), read(t, samplesDir, name+".yaml"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all.use(reflect.ValueOf(wire))
	}
	if unused := all.unused(); len(unused) > 0 {
		t.Errorf("no file of %s sets %s%s", samplesDir, strings.Join(unused, ", "), whatToDo)
	}
}
