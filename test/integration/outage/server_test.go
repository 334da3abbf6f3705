// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// comeback is the most it may take until the executor works again after an outage of the server: what it watches is tried again
// after pauses that grow to at most a minute.
const comeback = 70 * time.Second

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// away kills the server and waits until kube-apiserver has noticed. The server is back at the latest when the test ends.
func away(t *testing.T, l *lab.Lab) {
	t.Helper()
	t.Cleanup(func() {
		if err := l.KUDO.StartServer(context.Background()); err != nil {
			t.Errorf("the server does not come back: %v", err)
		}
	})
	begin := time.Now()
	must(t, l.KUDO.KillServer())
	// kube-apiserver looks once in half a minute, and at once if the APIService changes.
	_, err := l.Cluster.Kubectl("annotate", "--overwrite", "apiservice", "v1beta1.kudo.dev", "test.kudo.dev/server-killed="+strconv.FormatInt(begin.UnixNano(), 10))
	must(t, err)
	l.Object(t, apiServices, "", "v1beta1.kudo.dev", "to be unavailable", func(obj *unstructured.Unstructured) bool {
		return obj != nil && strings.Contains(condition(obj, "Available"), "False")
	})
	// Discovery follows, and nobody tells when.
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	for !stale(ctx, t, l) {
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("kube-apiserver noticed after %v that the server is away", time.Since(begin).Round(100*time.Millisecond))
}

// stale tells whether what kube-apiserver says it serves of kudo.dev is marked as out of date.
func stale(ctx context.Context, t *testing.T, l *lab.Lab) bool {
	t.Helper()
	data, err := l.Kube.Discovery().RESTClient().Get().AbsPath("/apis").
		SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").Do(ctx).Raw()
	must(t, err)
	var groups apidiscoveryv2.APIGroupDiscoveryList
	must(t, json.Unmarshal(data, &groups))
	for _, group := range groups.Items {
		if group.Name == v1beta1.SchemeGroupVersion.Group {
			return group.Versions[0].Freshness == apidiscoveryv2.DiscoveryFreshnessStale
		}
	}
	t.Fatal("/apis does not have kudo.dev any more")
	return false
}

// condition is "STATUS REASON MESSAGE" of a condition, or empty.
func condition(obj *unstructured.Unstructured, kind string) string {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] != kind {
			continue
		}
		var words []string
		for _, field := range []string{"status", "reason", "message"} {
			word, _ := c[field].(string)
			words = append(words, word)
		}
		return strings.Join(words, " ")
	}
	return ""
}

// TestRestOfTheClusterWhileServerIsKilled: kubectl and controllers work on everything that is not of kudo.dev, and nothing that a plan made is
// deleted because its owner cannot be found.
func TestRestOfTheClusterWhileServerIsKilled(t *testing.T) {
	l := enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator(""))
	l.Ended(t, l.Trigger(t, ns, "work"), v1beta1.ExecutionComplete)
	away(t, l)

	stdout, stderr, err := kubectl(t, l, "get", "pods", "-n", ns)
	if err != nil || stderr != "" || !strings.Contains(stdout, "wait-") {
		t.Errorf("kubectl get pods: %v\n%s\n%s", err, stdout, stderr)
	}
	for _, args := range [][]string{
		{"create", "deployment", "other", "--image=none", "-n", ns},
		{"rollout", "status", "deployment/other", "-n", ns, "--timeout=60s"},
		{"delete", "deployment", "other", "-n", ns, "--cascade=foreground", "--timeout=60s"},
		{"create", "secret", "generic", "s", "--from-literal=a=b", "-n", ns},
		{"delete", "secret", "s", "-n", ns},
	} {
		if stdout, stderr, err := kubectl(t, l, args...); err != nil || stderr != "" {
			t.Errorf("kubectl %s: %v\n%s\n%s", strings.Join(args, " "), err, stdout, stderr)
		}
	}
	// kubectl asks what there is before it asks for it, and is not told of our resources.
	stdout, stderr, err = kubectl(t, l, "api-resources")
	if err != nil || stderr != "" || !strings.Contains(stdout, "deployments") || strings.Contains(stdout, "kudo.dev") {
		t.Errorf("kubectl api-resources: %v\n%s\n%s", err, stdout, stderr)
	}
	for _, resource := range []string{"instances.kudo.dev", "instances", "inst"} {
		stdout, stderr, err = kubectl(t, l, "get", resource, "-n", ns)
		if err == nil || !strings.Contains(stderr, "the server doesn't have a resource type") {
			t.Errorf("kubectl get %s: %v\n%s\n%s", resource, err, stdout, stderr)
		}
	}
	_, err = l.Cluster.KubectlAs(t.Context(), cluster.Alice, nil, "get", "--raw", "/apis/kudo.dev/v1beta1/namespaces/"+ns+"/instances")
	if err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("who may do nothing gets %v, want Forbidden as ever", err)
	}
	_, err = l.Kudo.KudoV1beta1().Instances(ns).Get(t.Context(), "sample", metav1.GetOptions{})
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("an Instance is answered with %v, want 503", err)
	}
	_, err = l.Kudo.KudoV1beta1().PlanExecutions(ns).Create(t.Context(), &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"},
		Spec: v1beta1.PlanExecutionSpec{InstanceName: "sample", PlanName: "quick"}}, metav1.CreateOptions{})
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a trigger is answered with %v, want 503", err)
	}

	for range 2 { // while it is away and after it is back
		for gvr, names := range map[schema.GroupVersionResource][]string{lab.ConfigMaps: {"first", "last"}, lab.Deployments: {"wait"}} {
			for _, name := range names {
				obj, err := l.Dynamic.Resource(gvr).Namespace(ns).Get(t.Context(), name, metav1.GetOptions{})
				if err != nil || obj.GetDeletionTimestamp() != nil || len(obj.GetOwnerReferences()) == 0 {
					t.Errorf("what the plan made: %v: %v", err, obj)
				}
			}
		}
		must(t, l.KUDO.StartServer(t.Context()))
	}
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
}

// TestRunGoesOnAfterServerIsKilled: a run whose event happens while the server is away completes afterwards, without repeating a
// step, and so does one that was accepted a moment before the server was killed.
func TestRunGoesOnAfterServerIsKilled(t *testing.T) {
	l := enter(t)
	pe := waiting(t, l)
	other := l.Namespace(t)
	l.Deployed(t, other, operator("test/"+other))
	l.Unlocked(t, other, "sample")
	accepted := l.Trigger(t, other, "quick")
	away(t, l)
	forget(t, l, pe)
	allowed(t, l, pe)

	begin := time.Now()
	must(t, l.KUDO.StartServer(t.Context()))
	served := time.Since(begin)
	completes(t, l, pe)
	l.Ended(t, accepted, v1beta1.ExecutionComplete)
	took := time.Since(begin)
	t.Logf("served after %v, both runs complete %v after the start of the server", served.Round(100*time.Millisecond), took.Round(100*time.Millisecond))
	if took > served+comeback {
		t.Errorf("the executor needed more than %v", comeback)
	}
	l.Unlocked(t, other, "sample")
	l.Ended(t, l.Trigger(t, other, "quick"), v1beta1.ExecutionComplete)
}

// TestExecutorStartsWhileServerIsKilled: an executor that is started while the server is away waits for it and says that it is not ready.
func TestExecutorStartsWhileServerIsKilled(t *testing.T) {
	l := enter(t)
	pe := waiting(t, l)
	must(t, l.KUDO.StopExecutor(t.Context()))
	away(t, l)
	forget(t, l, pe)
	must(t, l.KUDO.LaunchExecutor())
	allowed(t, l, pe)
	begin := time.Now()
	must(t, l.KUDO.StartServer(t.Context()))
	if dead := l.KUDO.Dead(); len(dead) > 0 {
		t.Errorf("%v ended because the server was away", dead)
	}
	completes(t, l, pe)
	t.Logf("complete %v after the start of the server", time.Since(begin).Round(100*time.Millisecond))
	must(t, l.KUDO.StartExecutor(t.Context()))
}
