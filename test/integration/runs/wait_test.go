// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// reaction is the most that may pass between an event and the end of the step that waited for it. It takes milliseconds;
// the rest is for a busy machine. Nothing that polls would pass.
const reaction = 3 * time.Second

// waiting waits until a step says that it waits for something.
func waiting(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, step, message string) {
	t.Helper()
	l.Run(t, pe, "to say "+message, func(pe *v1beta1.PlanExecution) bool {
		return lab.Step(t, pe, step).Status == v1beta1.ExecutionInProgress && strings.Contains(lab.Step(t, pe, step).Message, message)
	})
}

// reacts waits for the end of a run and checks how long after the event it came.
func reacts(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, event time.Time) {
	t.Helper()
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	took := time.Since(event)
	t.Logf("complete %v after the event", took.Round(time.Millisecond))
	if took > reaction {
		t.Errorf("complete %v after the event, want less than %v", took, reaction)
	}
}

// TestWorkloads: a step goes on with the event that makes its workload ready.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for _, c := range []struct {
		kind, message string
		gvr           schema.GroupVersionResource
		ready         string
	}{
		{"StatefulSet", "0 of 1 replicas ready", lab.StatefulSets, "readyReplicas"},
		{"Deployment", "0 of 1 replicas available", lab.Deployments, "availableReplicas"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			pe := l.Install(t, ns, lab.Operator{
				Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("it")},
				Tasks:     []v1beta1.Task{lab.Apply("it", "it")},
				Templates: map[string]string{"it": lab.Workload(c.kind, "it", "test/"+ns)},
			}, nil)
			waiting(t, l, pe, "it", c.message)
			l.Allow(t, "test/"+ns)
			l.Object(t, c.gvr, ns, "it", "to be ready", func(obj *unstructured.Unstructured) bool {
				n, _, _ := unstructured.NestedInt64(obj.Object, "status", c.ready)
				return n == 1
			})
			reacts(t, l, pe, time.Now())
		})
	}
}

// TestFailedJob: a Job that fails ends the run, with the reason that the Job gives.
func TestFailedJob(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("work", "after=work")},
		Tasks:     []v1beta1.Task{lab.Apply("work", "job.yaml")},
		Templates: map[string]string{"job.yaml": lab.Job("work", "test/"+ns)},
	}, nil)
	waiting(t, l, pe, "work", "0 of 1 completions")
	pod := l.Selected(t, lab.Pods, ns, metav1.ListOptions{LabelSelector: "job-name=work"}, "of the job", func(obj *unstructured.Unstructured) bool { return obj != nil })
	t.Log("the pod fails")
	event := time.Now()
	if _, err := l.Kube.CoreV1().Pods(ns).Patch(t.Context(), pod.GetName(), types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	pe = l.Ended(t, pe, v1beta1.ExecutionFatalError)
	t.Logf("ended %v after the pod: %s", time.Since(event).Round(time.Millisecond), pe.Status.Message)
	failed(t, l, pe, "FailedTerminalStateError", "deploy.main.work.work: Job "+ns+"/work failed", "has reached the specified backoff limit")
	if s := lab.Step(t, pe, "after"); s.Status != v1beta1.ExecutionPending || s.StartTime != nil {
		t.Errorf("the next step: %+v", s)
	}
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]ss.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[2]ss, singular: %[2]s, kind: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// TestCustomResources: a plan can define a kind and use it, and waits for the condition Ready of its objects.
func TestCustomResources(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	group := ns + ".example.org"
	object := "apiVersion: " + group + "/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1}\n"
	t.Cleanup(func() {
		_, _ = l.Cluster.Kubectl("delete", "crd", "--ignore-not-found", "widgets."+group, "gadgets."+group)
	})
	l.Deployed(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{
			"deploy":   lab.Serial("define", "use"),
			"one-task": lab.Serial("both"),
			"wait":     lab.Serial("use"),
		},
		Tasks: []v1beta1.Task{lab.Apply("define", "crd"), lab.Apply("use", "cr"), lab.Apply("both", "crd2", "cr2")},
		Templates: map[string]string{
			"crd": fmt.Sprintf(definition, group, "widget", "Widget"), "cr": object,
			"crd2": fmt.Sprintf(definition, group, "gadget", "Gadget"), "cr2": strings.ReplaceAll(object, "Widget", "Gadget"),
		},
	})
	widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	t.Log("definition and object are in one task")
	l.Ended(t, l.Trigger(t, ns, "one-task"), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")

	setReady := func(status string) {
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Test","message":"three parts are missing","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`, status)
		if _, err := l.Dynamic.Resource(widgets).Namespace(ns).Patch(t.Context(), "w", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	setReady("False")
	pe := l.Trigger(t, ns, "wait")
	waiting(t, l, pe, "use", "three parts are missing")
	event := time.Now()
	setReady("True")
	reacts(t, l, pe, event)
}

// TestVolumes: a claim whose volume is made for its first pod does not hold up the step before that pod's; one that
// nobody can satisfy does, and says why.
func TestVolumes(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	if _, err := l.Kube.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: ns}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: ns, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}}}}
	if _, err := l.Kube.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim := func(name, class string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s}\nspec: {storageClassName: %q, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n", name, class)
	}
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: user}\nspec: {containers: [{name: main, image: none}], volumes: [{name: v, persistentVolumeClaim: {claimName: late}}]}\n"
	l.Deployed(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("late", "pod"), "never": lab.Serial("never")},
		Tasks:     []v1beta1.Task{lab.Apply("late", "late"), lab.Apply("pod", "pod"), lab.Apply("never", "never")},
		Templates: map[string]string{"late": claim("late", ns), "pod": pod, "never": claim("never", "no-such-class")},
	})
	if c, err := l.Kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), "late", metav1.GetOptions{}); err != nil || c.Status.Phase != corev1.ClaimBound {
		t.Errorf("the claim of the pod that runs: %v, %v", c.Status, err)
	}
	waiting(t, l, l.Trigger(t, ns, "never"), "never", `there is no storage class "no-such-class"`)
}
