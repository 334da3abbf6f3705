// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/test/integration/runs/lab"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// namespaceRetry is the longest that the namespace controller of Kubernetes pauses before it tries again, and some time to work.
const namespaceRetry = 75 * time.Second

func remove(t *testing.T, l *lab.Lab, ns string) {
	t.Helper()
	must(t, l.Kube.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}))
}

// stuck waits until the namespace says that it cannot go, because of our group.
func stuck(t *testing.T, l *lab.Lab, ns string) {
	t.Helper()
	l.Object(t, namespaces, "", ns, "to say that it waits for kudo.dev", func(obj *unstructured.Unstructured) bool {
		if obj == nil {
			t.Fatalf("namespace %s is gone although nobody could ask kudo.dev what it has there", ns)
		}
		why := condition(obj, "NamespaceDeletionDiscoveryFailure")
		if strings.HasPrefix(why, "True DiscoveryFailed ") && strings.Contains(why, "stale GroupVersion discovery: kudo.dev/v1beta1") {
			t.Logf("%s: %s", ns, why)
			return true
		}
		return false
	})
}

func gone(obj *unstructured.Unstructured) bool { return obj == nil }

// TestNamespacesWaitForKilledServer: no namespace goes while the server is away, not even an empty one, because nobody can tell what it holds. It
// says so. All other content is removed meanwhile. With the server back, the namespaces go by themselves.
func TestNamespacesWaitForKilledServer(t *testing.T) {
	l := enter(t)
	empty, used := l.Namespace(t), l.Namespace(t)
	l.Deployed(t, used, operator("test/"+used))
	busy := waiting(t, l).Namespace
	_, err := l.Cluster.Kubectl("create", "configmap", "own", "-n", used)
	must(t, err)
	away(t, l)
	for _, ns := range []string{empty, used, busy} {
		remove(t, l, ns)
	}
	for _, ns := range []string{empty, used, busy} {
		stuck(t, l, ns)
	}
	l.Object(t, lab.ConfigMaps, used, "own", "to be removed", gone)
	l.Object(t, lab.Deployments, busy, "wait", "to be removed", gone)

	begin := time.Now()
	must(t, l.KUDO.StartServer(t.Context()))
	for _, ns := range []string{empty, used, busy} {
		l.Object(t, namespaces, "", ns, "to be gone", gone)
		took := time.Since(begin)
		t.Logf("%s is gone %v after the start of the server", ns, took.Round(100*time.Millisecond))
		if took > namespaceRetry {
			t.Errorf("that is more than %v", namespaceRetry)
		}
	}
	for _, resource := range []string{"instances", "operatorversions", "planexecutions", "operatorversionrevisions"} {
		list, err := l.Dynamic.Resource(schema.GroupVersionResource{Group: "kudo.dev", Version: "v1beta1", Resource: resource}).List(t.Context(), metav1.ListOptions{})
		must(t, err)
		for _, item := range list.Items {
			if ns := item.GetNamespace(); ns == empty || ns == used || ns == busy {
				t.Errorf("%s %s/%s outlives its namespace", resource, ns, item.GetName())
			}
		}
	}
}

// TestKilledServerWithoutAPIService: who cannot wait for the server deletes its APIService. Namespaces then go; what the server holds of them
// stays in its store and is found there when the APIService is back.
func TestKilledServerWithoutAPIService(t *testing.T) {
	l := enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator("test/"+ns))
	away(t, l)
	remove(t, l, ns)
	stuck(t, l, ns)
	_, err := l.Cluster.Kubectl("delete", "apiservice", "v1beta1.kudo.dev")
	must(t, err)
	begin := time.Now()
	l.Object(t, namespaces, "", ns, "to be gone", gone)
	t.Logf("gone %v after the APIService", time.Since(begin).Round(100*time.Millisecond))
	must(t, l.KUDO.Repair(t.Context()))
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Get(t.Context(), "sample", metav1.GetOptions{})
	if err != nil || i.Name != "sample" {
		t.Errorf("the Instance of a namespace that is gone: %v, %v", i, err)
	}
	stdout, stderr, err := kubectl(t, l, "delete", "-n", ns, "--timeout=60s", "instances,planexecutions,operatorversionrevisions,operatorversions", "--all")
	if err != nil {
		t.Errorf("what is left cannot be deleted: %v\n%s\n%s", err, stdout, stderr)
	}
}
