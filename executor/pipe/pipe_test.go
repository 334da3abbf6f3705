// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

const authorPod = `
metadata: {generateName: x, labels: {a: b}}
spec:
  serviceAccountName: writer
  volumes: [{name: v, emptyDir: {}}, {name: c, configMap: {name: c}}]
  initContainers:
  - {name: init, image: i, securityContext: {runAsUser: 7, privileged: true, capabilities: {add: [SYS_ADMIN], drop: [ALL]}}, volumeMounts: [{name: v, mountPath: /tmp/}]}
`

func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	obj.SetAPIVersion("v1")
	obj.SetKind("Pod")
	return obj
}

func TestPod(t *testing.T) {
	pod, err := Pod("pod.yaml", read(t, authorPod), "name", "image", []v1beta1.PipeSpec{{File: "/tmp/a"}, {EnvFile: "/tmp/b/c.env"}})
	if err != nil {
		t.Fatal(err)
	}
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	if pod.GetName() != "name" || pod.GetGenerateName() != "" || pod.GetAnnotations()[Annotation] != "true" || pod.GetLabels()["a"] != "b" || len(containers) != 1 {
		t.Fatalf("got %v", pod.Object)
	}
	waiter := containers[0].(map[string]any)
	want := map[string]any{"runAsUser": int64(7), "capabilities": map[string]any{"drop": []any{"ALL"}}}
	if diff := cmp.Diff(want, waiter["securityContext"]); diff != "" || waiter["name"] != Waiter || waiter["image"] != "image" {
		t.Errorf("the waiter is %v, security context (-want +got):\n%s", waiter, diff)
	}
	mounts := []any{map[string]any{"name": "v", "mountPath": "/tmp/", "readOnly": true}}
	if diff := cmp.Diff(mounts, waiter["volumeMounts"]); diff != "" {
		t.Error(diff)
	}
	account, _, _ := unstructured.NestedString(pod.Object, "spec", "serviceAccountName")
	policy, _, _ := unstructured.NestedString(pod.Object, "spec", "restartPolicy")
	if account != "writer" || policy != "OnFailure" {
		t.Errorf("service account %s, restart policy %s", account, policy)
	}
}

func TestPodErrors(t *testing.T) {
	mounted := "initContainers: [{name: i, volumeMounts: [{name: v, mountPath: /tmp}]}]"
	for _, c := range []struct{ spec, file, want string }{
		{"{}", "/tmp/a", "exactly one init container"},
		{"containers: [{name: c}]\n" + mounted, "/tmp/a", "must not have containers, but has 1"},
		{"restartPolicy: Always\n" + mounted, "/tmp/a", "restartPolicy OnFailure"},
		{mounted, "/tmp/a", "exactly one emptyDir volume, for the files, but has 0"},
		{"volumes: [{name: v, emptyDir: {}}, {name: w, emptyDir: {}}]\n" + mounted, "/tmp/a", "but has 2"},
		{"volumes: [{name: w, emptyDir: {}}]\n" + mounted, "/tmp/a", `"i" does not mount it`},
		{"volumes: [{name: v, emptyDir: {}}]\n" + mounted, "/tmp", "does not lie below /tmp"},
		{"volumes: [{name: v, emptyDir: {}}]\n" + mounted, "/tmpx/a", "does not lie below /tmp"},
		{"volumes: [{name: v, emptyDir: {}}]\n" + mounted, "/tmp/../etc/passwd", "does not lie below /tmp"},
		{"volumes: [{name: v, emptyDir: {}}]\n" + mounted, "a", "does not lie below /tmp"},
		{"volumes: [{name: v, emptyDir: {}}]\n" + mounted, "/tmp/a b", "cannot be a key"},
		{"volumes: [{name: v, emptyDir: {}}]\ninitContainers: [{name: waiter}]", "/tmp/a", "must not name its init container"},
		{"volumes: v", "/tmp/a", "it is not a Pod"},
	} {
		pod := read(t, "spec:\n  "+strings.ReplaceAll(c.spec, "\n", "\n  "))
		_, err := Pod("pod.yaml", pod, "n", "i", []v1beta1.PipeSpec{{File: c.file}})
		if reason, final := fault.Classify(err); !final || reason != fault.ReasonPipePod || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `template "pod.yaml"`) {
			t.Errorf("%s\ngot  %v\nwant %s", c.spec, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	task := func(name string, keys ...string) v1beta1.Task {
		out := v1beta1.Task{Name: name, Kind: "Pipe"}
		for _, k := range keys {
			out.Spec.Pipe = append(out.Spec.Pipe, v1beta1.PipeSpec{Key: k})
		}
		return out
	}
	plan := func(steps ...v1beta1.Step) *v1beta1.Plan {
		return &v1beta1.Plan{Phases: []v1beta1.Phase{{Name: "Main_1", Steps: steps}}}
	}
	tasks := []v1beta1.Task{task("gen-www", "indexHtml", "Env"), task("same", "Env"), task("alike", "a-b", "ab"), {Name: "apply", Kind: "Apply"}, task("___", "k"), task(strings.Repeat("x", 250), "k")}
	got, err := Names("my-app", "deploy", plan(v1beta1.Step{Name: "files", Tasks: []string{"gen-www", "apply", "unknown"}}), tasks)
	want := map[string]string{"indexHtml": "myapp.deploy.main1.files.genwww.indexhtml", "Env": "myapp.deploy.main1.files.genwww.env"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for names, want := range map[string]string{
		"gen-www,same":           `the key "Env" of a pipe is used more than once in plan deploy, first by deploy.Main_1.s.gen-www`,
		"alike":                  "only letters and digits count",
		"___":                    "no name that Kubernetes takes",
		strings.Repeat("x", 250): "no name that Kubernetes takes",
	} {
		_, err := Names("i", "deploy", plan(v1beta1.Step{Name: "s", Tasks: strings.Split(names, ",")}), tasks)
		if _, final := fault.Classify(err); !final || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", names, err, want)
		}
	}
}

func TestParseEnv(t *testing.T) {
	got, err := parseEnv([]byte("\xef\xbb\xbfA=1\r\n\n  # no\n\tB = x=y \nC.d-e=\n"))
	if err == nil {
		t.Fatalf("a blank in a name: %v", got)
	}
	got, err = parseEnv([]byte("\xef\xbb\xbfA=1\r\n\n  # no\n\tB= x=y \nC.d-e="))
	if diff := cmp.Diff(map[string]string{"A": "1", "B": " x=y ", "C.d-e": ""}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{"A=1\nhunter2": "line 2", "1A=hunter2": "line 1", "A=hunter2\n\nA=hunter2": "line 3 sets what line 1 has set already", "=hunter2": "line 1", "hunter2+/==": "line 1", "B=1\nhunter2=\nhunter2=": "line 3"} {
		if _, err := parseEnv([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want %s and no value", text, err, want)
		}
	}
}

func TestArtifactThatIsNoText(t *testing.T) {
	p := v1beta1.PipeSpec{EnvFile: "/tmp/e", Kind: "ConfigMap"}
	if _, err := Artifact(p, "n", []byte("A=\xff")); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("got %v", err)
	}
	p.Kind = "Secret"
	if obj, err := Artifact(p, "n", []byte("A=\xff")); err != nil || obj.Object["data"].(map[string]any)["A"] != "/w==" {
		t.Errorf("got %v, %v", obj, err)
	}
}
