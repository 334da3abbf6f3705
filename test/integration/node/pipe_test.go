// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package node

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

const generator = `
apiVersion: v1
kind: Pod
spec:
  volumes: [{name: shared, emptyDir: {}}]
  initContainers:
  - name: main
    image: ` + cluster.BusyboxImage + `
    command: [sh, -c, "head -c 64 /dev/urandom | sha256sum | cut -c 1-64 >/out/token; echo page-of-{{ .Name }} >/out/page"]
    volumeMounts: [{name: shared, mountPath: /out}]
`

// consumer has what was generated as files; what it prints is what it read.
const consumer = `
apiVersion: v1
kind: Pod
metadata: {name: consumer}
spec:
  containers:
  - name: main
    image: ` + cluster.BusyboxImage + `
    command: [sh, -c, "cat /page/* /token/*; exec sleep 3600"]
    volumeMounts: [{name: page, mountPath: /page}, {name: token, mountPath: /token}]
  volumes:
  - {name: page, configMap: {name: "{{ .Pipes.page }}"}}
  - {name: token, secret: {secretName: "{{ .Pipes.token }}"}}
`

// TestE2EPipe: what a container writes, another one reads, through a ConfigMap and a Secret, byte for byte.
func TestE2EPipe(t *testing.T) {
	l := enter(t)
	ns := l.Namespace(t)
	pipe := v1beta1.Task{Name: "generate", Kind: v1beta1.PipeTaskKind, Spec: v1beta1.TaskSpec{Pod: "generate.yaml", Pipe: []v1beta1.PipeSpec{
		{File: "/out/page", Kind: "ConfigMap", Key: "page"}, {File: "/out/token", Kind: "Secret", Key: "token"}}}}
	l.Deployed(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("generate", "use")},
		Tasks:     []v1beta1.Task{pipe, lab.Apply("use", "consumer.yaml")},
		Templates: map[string]string{"generate.yaml": generator, "consumer.yaml": consumer},
	})
	kubectl(t, l, "", "wait", "-n", ns, "--for=condition=Ready", "pod/consumer", "--timeout=120s")
	lines := strings.Fields(kubectl(t, l, "", "logs", "-n", ns, "consumer"))
	if len(lines) != 2 || lines[0] != "page-of-sample" || len(lines[1]) != 64 {
		t.Fatalf("the consumer read %q", lines)
	}
	secrets, err := l.Kube.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range secrets.Items {
		for _, value := range s.Data {
			found = found || string(value) == lines[1]+"\n"
		}
	}
	if !found {
		t.Error("no Secret has what the consumer read")
	}
	kubectl(t, l, "", "wait", "-n", ns, "--for=delete", "pod", "-l", "kudo.dev/pipepod=true", "--timeout=120s")
}

// TestE2EPipeRefusals: what cannot be stored or was not made ends the run with the reason, stores nothing and leaves no pod.
func TestE2EPipeRefusals(t *testing.T) {
	l := enter(t)
	ns := l.Namespace(t)
	const whole = 1 << 20 // bytes, as much as a Secret or ConfigMap may hold
	writes := func(script string) string { return strings.Replace(generator, "head -c 64", script+"; head -c 64", 1) }
	task := func(name, file string) v1beta1.Task {
		return v1beta1.Task{Name: name, Kind: v1beta1.PipeTaskKind, Spec: v1beta1.TaskSpec{Pod: name + ".yaml", Pipe: []v1beta1.PipeSpec{{File: file, Kind: "ConfigMap", Key: "key"}}}}
	}
	l.Deployed(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("fits"), "large": lab.Serial("large"), "fails": lab.Serial("fails"), "missing": lab.Serial("missing")},
		Tasks: []v1beta1.Task{task("fits", "/out/blob"), task("large", "/out/blob"), task("fails", "/out/page"), task("missing", "/out/nothing")},
		Templates: map[string]string{
			"fits.yaml":    writes(fmt.Sprintf("head -c %d /dev/urandom >/out/blob", whole)),
			"large.yaml":   writes(fmt.Sprintf("head -c %d /dev/urandom >/out/blob", whole+1)),
			"fails.yaml":   writes("echo no room left; exit 3"),
			"missing.yaml": generator,
		},
	})
	stored, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "sample.deploy.main.fits.fits.key", metav1.GetOptions{})
	if err != nil || len(stored.BinaryData["blob"]) != whole {
		t.Fatalf("%d bytes are stored: %v", len(stored.BinaryData["blob"]), err)
	}
	for plan, words := range map[string][]string{
		"large":   {"/out/blob", "1 MiB"},
		"fails":   {"exit code 3", "no room left"},
		"missing": {"/out/nothing"},
	} {
		ended := l.Ended(t, l.Trigger(t, ns, plan), v1beta1.ExecutionFatalError)
		l.Unlocked(t, ns, "sample")
		for _, word := range words {
			if !strings.Contains(ended.Status.Message, word) {
				t.Errorf("%s: %q does not say %q", plan, ended.Status.Message, word)
			}
		}
		if maps, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "sample."+plan+".main."+plan+"."+plan+".key", metav1.GetOptions{}); err == nil {
			t.Errorf("%s: %s is stored", plan, maps.Name)
		}
	}
	pods, err := l.Kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			t.Errorf("pod %s is left", pod.Name)
		}
	}
}
