// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package install_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/fuzzer"
	"kudo.dev/kudo/apis/kudo/install"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

func TestRoundTripJSONAndProtobuf(t *testing.T) {
	roundtrip.RoundTripTestForAPIGroup(t, install.Install, fuzzer.Funcs)
}

// encode writes a wire object in the media type and reads it back.
func through(t *testing.T, mediaType string, in runtime.Object) runtime.Object {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme())
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	codec := codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), v1beta1.SchemeGroupVersion, v1beta1.SchemeGroupVersion)
	data, err := runtime.Encode(codec, in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := runtime.Decode(codec, data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEnumAbsentAndEmptyDiffer(t *testing.T) {
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		in := &v1beta1.OperatorVersion{Spec: v1beta1.OperatorVersionSpec{Parameters: []v1beta1.Parameter{
			{Name: "absent"}, {Name: "empty", Enum: v1beta1.EnumValues{}}, {Name: "values", Enum: v1beta1.EnumValues{"a"}}}}}
		out := through(t, mediaType, in).(*v1beta1.OperatorVersion)
		if p := out.Spec.Parameters; p[0].Enum != nil || p[1].Enum == nil || len(p[1].Enum) != 0 || len(p[2].Enum) != 1 {
			t.Errorf("%s: got %#v", mediaType, p)
		}
	}
}

func TestListItemsCarryTheirKind(t *testing.T) {
	scheme := newScheme()
	items := []kudo.Instance{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	for _, tc := range []struct {
		kind string
		list runtime.Object
	}{
		{"Operator", &kudo.OperatorList{Items: make([]kudo.Operator, 1)}},
		{"OperatorVersion", &kudo.OperatorVersionList{Items: make([]kudo.OperatorVersion, 1)}},
		{"OperatorVersionRevision", &kudo.OperatorVersionRevisionList{Items: make([]kudo.OperatorVersionRevision, 1)}},
		{"Instance", &kudo.InstanceList{Items: items}},
		{"PlanExecution", &kudo.PlanExecutionList{Items: make([]kudo.PlanExecution, 1)}},
	} {
		out, err := scheme.ConvertToVersion(tc.list, v1beta1.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		unstructured, err := runtime.DefaultUnstructuredConverter.ToUnstructured(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range unstructured["items"].([]any) {
			got := item.(map[string]any)
			if got["kind"] != tc.kind || got["apiVersion"] != "kudo.dev/v1beta1" {
				t.Errorf("item of %T: kind %v, apiVersion %v", tc.list, got["kind"], got["apiVersion"])
			}
		}
	}
	// The items converted from may belong to the watch cache.
	if diff := cmp.Diff(metav1.TypeMeta{}, items[0].TypeMeta); diff != "" {
		t.Errorf("conversion changed its input: %s", diff)
	}
}

func TestStrategyDefaultsToSerial(t *testing.T) {
	ov := &v1beta1.OperatorVersion{Spec: v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{
		"deploy": {Phases: []v1beta1.Phase{{Name: "a"}, {Name: "b", Strategy: v1beta1.Parallel}}}}}}
	newScheme().Default(ov)
	plan := ov.Spec.Plans["deploy"]
	if plan.Strategy != v1beta1.Serial || plan.Phases[0].Strategy != v1beta1.Serial || plan.Phases[1].Strategy != v1beta1.Parallel {
		t.Errorf("got %+v", plan)
	}
}

func TestFieldLabels(t *testing.T) {
	scheme := newScheme()
	for _, tc := range []struct {
		kind, label string
		supported   bool
	}{
		{"Instance", "metadata.name", true},
		{"Instance", v1beta1.OperatorVersionNameField, true},
		{"Instance", v1beta1.StatusField, false},
		{"PlanExecution", v1beta1.InstanceNameField, true},
		{"PlanExecution", v1beta1.PlanNameField, true},
		{"PlanExecution", v1beta1.StatusField, true},
		{"PlanExecution", "spec.suspend", false},
		{"Operator", "spec.url", false},
	} {
		_, _, err := scheme.ConvertFieldLabel(v1beta1.SchemeGroupVersion.WithKind(tc.kind), tc.label, "x")
		if (err == nil) != tc.supported {
			t.Errorf("%s %s: %v", tc.kind, tc.label, err)
		}
	}
}
