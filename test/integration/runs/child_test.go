// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestChild: a child is deployed, left alone when nothing changes, changed with its parent, by one request for each plan that has to
// run, upgraded with it, and deleted with it.
func TestChild(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	kid := lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("value"), "resize": lab.Serial("size")},
		Tasks: []v1beta1.Task{lab.Apply("value", "value"), lab.Apply("size", "size")},
		Templates: map[string]string{"value": lab.ConfigMap("{{ .Name }}-value", "{{ .Params.value }} of {{ .OperatorVersion }}"),
			"size": lab.ConfigMap("{{ .Name }}-size", "{{ .Params.size }}")},
		Parameters: []v1beta1.Parameter{lab.Parameter("value", "none"), {Name: "size", Default: new("0"), Trigger: "resize"}, lab.Parameter("own", "")},
	}
	version(t, l, ns, "kid", "1.0.0", kid)
	parent := parentOf("kid", "1.0.0")
	l.Ended(t, l.Install(t, ns, parent, map[string]string{"value": "a", "size": "1"}), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	i := child(t, l, ns, "sample-kid", 1, "a of 1.0.0")
	if o := i.OwnerReferences; len(o) != 1 || o[0].Kind != "Instance" || o[0].Name != "sample" || o[0].Controller != nil {
		t.Errorf("the child has the owners %v", o)
	}
	if i.Labels["kudo.dev/operator"] != "kid" || i.Spec.Parameters["size"] != "1" {
		t.Errorf("the child has the labels %v and the parameters %v", i.Labels, i.Spec.Parameters)
	}

	l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	child(t, l, ns, "sample-kid", 1, "a of 1.0.0")

	t.Log("a parameter of the child that its parent does not set is its own")
	patchInstance(t, l, ns, "sample-kid", `{"spec":{"parameters":{"own":"mine"}}}`)
	l.Unlocked(t, ns, "sample-kid")
	l.Ended(t, patchInstance(t, l, ns, "sample", `{"spec":{"parameters":{"value":"b","size":"2"}}}`), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	i = child(t, l, ns, "sample-kid", 4, "b of 1.0.0")
	if size(t, l, ns) != "2" || i.Spec.Parameters["own"] != "mine" {
		t.Errorf("size %s, parameters %v", size(t, l, ns), i.Spec.Parameters)
	}

	t.Log("an upgrade of the child, together with parameters that start another plan")
	version(t, l, ns, "kid", "2.0.0", kid)
	version(t, l, ns, "op", "2.0.0", parentOf("kid", "2.0.0"))
	l.Ended(t, patchInstance(t, l, ns, "sample", `{"spec":{"operatorVersion":{"name":"op-2.0.0"}}}`), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	child(t, l, ns, "sample-kid", 5, "b of 2.0.0")
	version(t, l, ns, "kid", "3.0.0", kid)
	fixed := parentOf("kid", "3.0.0")
	fixed.Templates["kid.yaml"] = "value: c\nsize: 3\n"
	version(t, l, ns, "op", "3.0.0", fixed)
	l.Ended(t, patchInstance(t, l, ns, "sample", `{"spec":{"operatorVersion":{"name":"op-3.0.0"}}}`), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	child(t, l, ns, "sample-kid", 8, "c of 3.0.0")
	if got := size(t, l, ns); got != "3" {
		t.Errorf("size %s", got)
	}

	if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Object(t, lab.Instances, ns, "sample-kid", "to be deleted", func(obj *unstructured.Unstructured) bool { return obj == nil })
}

// TestChildFails: the parent's run fails with what the child's says, at once if it is tried again, and goes on when the child is mended.
func TestChildFails(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	version(t, l, ns, "kid", "1.0.0", lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("value")}, Tasks: []v1beta1.Task{lab.Apply("value", "value")},
		Templates:  map[string]string{"value": lab.ConfigMap("{{ .Name }}-value", "{{ if eq .Params.value `bad` }}{{ fail `no luck` }}{{ end }}{{ .Params.value }}")},
		Parameters: []v1beta1.Parameter{lab.Parameter("value", "none"), lab.Parameter("size", "0")},
	})
	pe := l.Ended(t, l.Install(t, ns, parentOf("kid", "1.0.0"), map[string]string{"value": "bad"}), v1beta1.ExecutionFatalError)
	runs := childRuns(t, l, ns, "sample-kid")
	if len(runs) != 1 || !strings.Contains(pe.Status.Message, runs[0].Name) || !strings.Contains(pe.Status.Message, "no luck") {
		t.Errorf("the child had %d runs, the parent says: %s", len(runs), pe.Status.Message)
	}
	l.Unlocked(t, ns, "sample")
	pe = l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionFatalError)
	if len(childRuns(t, l, ns, "sample-kid")) != 1 || !strings.Contains(pe.Status.Message, "no luck") {
		t.Errorf("the second run says: %s", pe.Status.Message)
	}
	l.Unlocked(t, ns, "sample")
	l.Ended(t, patchInstance(t, l, ns, "sample", `{"spec":{"parameters":{"value":"good"}}}`), v1beta1.ExecutionComplete)
}

// TestChildIsBusy: while another plan of the child runs, the parent waits and says for what.
func TestChildIsBusy(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	version(t, l, ns, "kid", "1.0.0", lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("done"), "hold": lab.Serial("hold")}, Tasks: []v1beta1.Task{lab.Done("done"), lab.Hold("hold")},
		Parameters: []v1beta1.Parameter{lab.Parameter("value", "none"), lab.Parameter("size", "0")},
	})
	l.Ended(t, l.Install(t, ns, parentOf("kid", "1.0.0"), nil), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	held, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Create(t.Context(), &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: ns},
		Spec: v1beta1.PlanExecutionSpec{InstanceName: "sample-kid", PlanName: "hold"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pe := patchInstance(t, l, ns, "sample", `{"spec":{"parameters":{"value":"b"}}}`)
	waiting(t, l, pe, "kid", held.Name)
	if err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Delete(t.Context(), held.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Ended(t, pe, v1beta1.ExecutionComplete)
}

// TestChildRefused: what cannot work ends the run before a child is made or touched.
func TestChildRefused(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for name, c := range map[string]struct {
		prepare func(t *testing.T, ns string)
		want    string
	}{
		"no version": {func(*testing.T, string) {}, "no OperatorVersion kid-1.0.0"},
		"cycle": {func(t *testing.T, ns string) {
			version(t, l, ns, "kid", "1.0.0", parentOf("grandkid", "1.0.0"))
			version(t, l, ns, "grandkid", "1.0.0", parentOf("kid", "1.0.0"))
		}, "op -> kid-1.0.0 -> grandkid-1.0.0 -> kid-1.0.0"},
		"null parameter": {func(t *testing.T, ns string) { version(t, l, ns, "kid", "1.0.0", lab.Operator{}) }, `template "kid.yaml": parameter "size": it has no value`},
		"foreign": {func(t *testing.T, ns string) {
			version(t, l, ns, "kid", "1.0.0", lab.Operator{Plans: map[string]v1beta1.Plan{"deploy": {}}})
			if _, err := l.Kudo.KudoV1beta1().Instances(ns).Create(t.Context(), &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "sample-kid"},
				Spec: v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "kid-1.0.0"}}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "does not belong to Instance sample"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			c.prepare(t, ns)
			parent := parentOf("kid", "1.0.0")
			if name == "null parameter" {
				parent.Templates["kid.yaml"] = "size:\n"
			}
			pe := l.Ended(t, l.Install(t, ns, parent, nil), v1beta1.ExecutionFatalError)
			if !strings.Contains(pe.Status.Message, c.want) {
				t.Errorf("got %s, want %s", pe.Status.Message, c.want)
			}
			i, err := l.Kudo.KudoV1beta1().Instances(ns).Get(t.Context(), "sample-kid", metav1.GetOptions{})
			if err == nil && (name != "foreign" || len(i.OwnerReferences) > 0) {
				t.Errorf("the child was made or touched: %v", i)
			}
		})
	}
}

// parentOf is an operator with one child, which gets the parent's parameters.
func parentOf(kid, version string) lab.Operator {
	return lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("kid")},
		Tasks: []v1beta1.Task{{Name: "kid", Kind: v1beta1.KudoOperatorTaskKind,
			Spec: v1beta1.TaskSpec{Package: kid, OperatorVersion: version, ParameterFile: "kid.yaml"}}},
		Templates:  map[string]string{"kid.yaml": "value: {{ .Params.value }}\nsize: {{ .Params.size }}\n"},
		Parameters: []v1beta1.Parameter{lab.Parameter("value", "none"), lab.Parameter("size", "0")},
	}
}

// version creates the OperatorVersion NAME-VERSION.
func version(t *testing.T, l *lab.Lab, ns, name, v string, o lab.Operator) {
	t.Helper()
	if o.Plans == nil {
		o.Plans = map[string]v1beta1.Plan{"deploy": {}}
	}
	ov := &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + v, Namespace: ns}, Spec: v1beta1.OperatorVersionSpec{
		Operator: v1beta1.ObjectReference{Name: name}, Version: v, Plans: o.Plans, Tasks: o.Tasks, Templates: o.Templates, Parameters: o.Parameters}}
	if _, err := l.Kudo.KudoV1beta1().OperatorVersions(ns).Create(t.Context(), ov, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// patchInstance changes an Instance and returns the run that this starts.
func patchInstance(t *testing.T, l *lab.Lab, ns, name, patch string) *v1beta1.PlanExecution {
	t.Helper()
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lab.Holder(i)
}

func childRuns(t *testing.T, l *lab.Lab, ns, name string) []v1beta1.PlanExecution {
	t.Helper()
	list, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.instanceName=" + name})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// child returns a child that has had so many runs, none of which is under way, and has applied the value.
func child(t *testing.T, l *lab.Lab, ns, name string, runs int, value string) *v1beta1.Instance {
	t.Helper()
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if i.Spec.PlanExecution.UID != "" {
		t.Errorf("the parent is complete, but the child runs %s", i.Spec.PlanExecution.PlanName)
	}
	cm, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), name+"-value", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range childRuns(t, l, ns, name) {
		names = append(names, fmt.Sprintf("%s (%s, %s)", r.Name, r.Spec.Trigger, r.Status.Status))
	}
	if len(names) != runs || cm.Data["value"] != value {
		t.Errorf("the child had the runs %v, want %d, and the value %q, want %q", names, runs, cm.Data["value"], value)
	}
	return i
}

func size(t *testing.T, l *lab.Lab, ns string) string {
	t.Helper()
	cm, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "sample-kid-size", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.Data["value"]
}
