// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"errors"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

type classes map[string]string

func (c classes) StorageClass(name string) (*unstructured.Unstructured, error) {
	mode, ok := c[name]
	if mode == "error" {
		return nil, errors.New("no answer")
	}
	if !ok {
		return nil, nil
	}
	return &unstructured.Unstructured{Object: map[string]any{"volumeBindingMode": mode}}, nil
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = obj.UnmarshalJSON(raw) // numbers as int64, as from the API
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestOverdue: one time at which the deadline was exceeded is told from another.
func TestOverdue(t *testing.T) {
	dep := func(condition string) string {
		return Overdue(parsed(t, "apiVersion: apps/v1\nkind: Deployment\nstatus: {conditions: ["+condition+"]}"))
	}
	first := dep("{type: Progressing, status: \"False\", reason: ProgressDeadlineExceeded, lastUpdateTime: \"2030-01-01T00:00:00Z\"}")
	second := dep("{type: Progressing, status: \"False\", reason: ProgressDeadlineExceeded, lastUpdateTime: \"2030-01-01T00:10:00Z\"}")
	if first == "" || second == "" || first == second {
		t.Errorf("got %q and %q", first, second)
	}
	if got := dep("{type: Progressing, status: \"True\", reason: ReplicaSetUpdated}") + dep(""); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestCheck(t *testing.T) {
	const sts = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {generation: 2}\n"
	const dep = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {generation: 2}\n"
	const jb = "apiVersion: batch/v1\nkind: Job\n"
	const pvc = "apiVersion: v1\nkind: PersistentVolumeClaim\n"
	const inst = "apiVersion: kudo.dev/v1beta1\nkind: Instance\nmetadata: {generation: 7}\n"
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	lookup := classes{"late": "WaitForFirstConsumer", "now": "Immediate", "broken": "error"}
	for _, c := range []struct{ name, obj, want string }{
		{"config map", "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}", "ready"},
		{"being deleted", "apiVersion: v1\nkind: ConfigMap\nmetadata: {deletionTimestamp: \"2030-01-01T00:00:00Z\"}", "waiting: being deleted"},

		{"sts new", sts + "spec: {replicas: 3}", "waiting: has not seen it"},
		{"sts stale", sts + "spec: {replicas: 3}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3}", "waiting: generation 2, seen 1"},
		{"sts not ready", sts + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 2, updatedReplicas: 3}", "waiting: 2 of 3 replicas ready"},
		{"sts scaling down", sts + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3}", "waiting: 2 replicas are to be terminated"},
		{"sts rolling", sts + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}", "waiting: 1 of 3 replicas updated"},
		{"sts last pod", sts + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: b}", "waiting: revision b"},
		{"sts done", sts + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3, currentRevision: b, updateRevision: b}", "ready"},
		{"sts partition", sts + "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}", "ready"},
		{"sts partition behind", sts + "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}", "waiting: 1 of 2 replicas updated"},
		{"sts on delete", sts + "spec: {replicas: 3, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: b}", "ready"},
		{"sts of none", sts + "spec: {replicas: 0}\nstatus: {observedGeneration: 2, replicas: 0, currentRevision: a, updateRevision: a}", "ready"},

		{"deployment new", dep + "spec: {replicas: 2}", "waiting: has not seen it"},
		{"deployment updating", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, availableReplicas: 2}", "waiting: 1 of 2 replicas updated"},
		{"deployment old ones", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 3}", "waiting: 1 old replicas"},
		{"deployment unavailable", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1, unavailableReplicas: 1, conditions: [{type: Available, status: \"False\"}]}", "waiting: 1 of 2 replicas available"},
		{"deployment done", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: \"True\"}, {type: Progressing, status: \"True\", reason: NewReplicaSetAvailable}]}", "ready"},
		{"deployment deadline", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, conditions: [{type: Progressing, status: \"False\", reason: ProgressDeadlineExceeded, message: has timed out progressing.}]}", "failed: timed out"},
		{"deployment deadline of an older generation", dep + "spec: {replicas: 2}\nstatus: {observedGeneration: 1, conditions: [{type: Progressing, status: \"False\", reason: ProgressDeadlineExceeded}]}", "waiting: generation 2, seen 1"},
		{"daemon set", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}", "waiting: 1 of 2 pods available"},
		{"daemon set done", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}", "ready"},
		{"daemon set without nodes", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 0}", "ready"},
		{"replica set", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {generation: 1}\nspec: {replicas: 2}\nstatus: {observedGeneration: 1, replicas: 0, conditions: [{type: ReplicaFailure, status: \"True\", message: quota}]}", "waiting: 0 of 2 replicas available: quota"},

		{"job new", jb, "waiting: 0 of 1 completions"},
		{"job running", jb + "spec: {completions: 3}\nstatus: {startTime: \"2030-01-01T00:00:00Z\", succeeded: 2, failed: 1, active: 1}", "waiting: 2 of 3 completions, 1 pods failed"},
		{"job that looks done", jb + "status: {succeeded: 1}", "waiting: 1 of 1"},
		{"job complete", jb + "status: {succeeded: 1, conditions: [{type: Complete, status: \"True\"}]}", "ready"},
		{"job failed", jb + "status: {failed: 7, conditions: [{type: Failed, status: \"True\", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}", "failed: backoff limit"},
		{"job suspended", jb + "spec: {suspend: true}", "waiting: suspended"},

		{"job of many completions", jb + "spec: {completions: 3, parallelism: 2, completionMode: Indexed}\nstatus: {succeeded: 3, completedIndexes: 0-2, conditions: [{type: SuccessCriteriaMet, status: \"True\"}, {type: Complete, status: \"True\"}]}", "ready"},
		{"indexed job", jb + "spec: {completions: 3, completionMode: Indexed}\nstatus: {succeeded: 1, completedIndexes: \"0\"}", "waiting: 1 of 3 completions"},
		{"work queue", jb + "spec: {parallelism: 2}\nstatus: {active: 2}", "waiting: 0 of 2 completions"},
		{"job deadline", jb + "status: {conditions: [{type: FailureTarget, status: \"True\", reason: DeadlineExceeded}, {type: Failed, status: \"True\", reason: DeadlineExceeded, message: Job was active longer than specified deadline}]}", "failed: longer than specified deadline"},
		{"job that is about to fail", jb + "status: {failed: 1, conditions: [{type: FailureTarget, status: \"True\", reason: BackoffLimitExceeded}]}", "waiting: 0 of 1 completions, 1 pods failed"},
		{"failed indexes", jb + "spec: {completions: 2, completionMode: Indexed}\nstatus: {succeeded: 1, failed: 1, failedIndexes: \"1\", conditions: [{type: Failed, status: \"True\", reason: FailedIndexes, message: Job has failed indexes}]}", "failed: failed indexes"},
		{"job resumed", jb + "spec: {suspend: false}\nstatus: {conditions: [{type: Suspended, status: \"False\"}]}", "waiting: 0 of 1"},
		{"cron job", "apiVersion: batch/v1\nkind: CronJob\nspec: {schedule: '* * * * *'}\nstatus: {}", "ready"},
		{"cron job with a run", "apiVersion: batch/v1\nkind: CronJob\nspec: {suspend: true}\nstatus: {active: [{name: x}]}", "ready"},
		{"daemon set on delete", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generation: 2}\nspec: {updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 0, numberAvailable: 2}", "ready"},
		{"replica set stale", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {generation: 2}\nspec: {replicas: 1}\nstatus: {observedGeneration: 1, availableReplicas: 1}", "waiting: generation 2, seen 1"},
		{"api service", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nstatus: {conditions: [{type: Available, status: \"False\", reason: MissingEndpoints}]}", "ready"},
		{"horizontal pod autoscaler", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nstatus: {currentReplicas: 0, desiredReplicas: 0, conditions: [{type: ScalingActive, status: \"False\"}]}", "ready"},
		{"ingress without address", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nstatus: {loadBalancer: {}}", "ready"},

		{"pod new", "apiVersion: v1\nkind: Pod", "waiting: not scheduled"},
		{"pod unschedulable", "apiVersion: v1\nkind: Pod\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: 0/3 nodes}]}", "waiting: 0/3 nodes"},
		{"pod image", "apiVersion: v1\nkind: Pod\nstatus: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff}}}]}", "waiting: container c: ImagePullBackOff"},
		{"pod not ready", "apiVersion: v1\nkind: Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: \"False\"}]}", "waiting: not ready"},
		{"pod ready", "apiVersion: v1\nkind: Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}", "ready"},
		{"pod succeeded", "apiVersion: v1\nkind: Pod\nstatus: {phase: Succeeded, conditions: [{type: Ready, status: \"False\"}]}", "ready"},
		{"pod failed", "apiVersion: v1\nkind: Pod\nstatus: {phase: Failed, reason: Evicted, message: low on memory}", "failed: low on memory"},

		{"pvc bound", pvc + "spec: {storageClassName: now}\nstatus: {phase: Bound}", "ready"},
		{"pvc pending", pvc + "spec: {storageClassName: now}\nstatus: {phase: Pending}", "waiting: not bound"},
		{"pvc late", pvc + "spec: {storageClassName: late}\nstatus: {phase: Pending}", "ready"},
		{"pvc no class", pvc + "spec: {storageClassName: nope}\nstatus: {phase: Pending}", "waiting: \"nope\""},
		{"pvc no default class", pvc + "status: {phase: Pending}", "waiting: no default storage class"},
		{"pvc by hand", pvc + "spec: {storageClassName: \"\"}\nstatus: {phase: Pending}", "waiting: make a volume"},
		{"pvc unreadable class", pvc + "spec: {storageClassName: broken}\nstatus: {phase: Pending}", "waiting: no answer"},
		{"pvc lost", pvc + "status: {phase: Lost}", "waiting: no volume"},

		{"service", "apiVersion: v1\nkind: Service\nspec: {clusterIP: None}", "ready"},
		{"load balancer", "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer, clusterIP: 10.0.0.1}\nstatus: {loadBalancer: {}}", "waiting: address"},
		{"load balancer done", "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}", "ready"},
		{"load balancer by hand", "apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer, externalIPs: [1.2.3.4]}", "ready"},
		{"namespace", "apiVersion: v1\nkind: Namespace\nstatus: {phase: Active}", "ready"},
		{"namespace new", "apiVersion: v1\nkind: Namespace", "waiting: not active"},

		{"crd new", crd, "waiting: Install in progress"},
		{"crd", crd + "status: {conditions: [{type: NamesAccepted, status: \"True\"}, {type: Established, status: \"True\"}]}", "ready"},
		{"crd names", crd + "status: {conditions: [{type: NamesAccepted, status: \"False\", message: is taken}]}", "failed: taken"},

		{"instance busy", inst + "spec: {planExecution: {planName: deploy}}", "waiting: plan deploy"},
		{"instance done", inst + "spec: {planExecution: {}}\nstatus: {planStatus: {deploy: {name: deploy, status: COMPLETE, lastUpdatedTimestamp: \"2030-01-01T00:00:00Z\"}, backup: {name: backup, status: NEVER_RUN}}}", "ready"},
		{"instance failed", inst + "status: {planStatus: {deploy: {name: deploy, status: COMPLETE, lastUpdatedTimestamp: \"2030-01-01T00:00:00Z\"}, update: {name: update, status: FATAL_ERROR, message: broken, lastUpdatedTimestamp: \"2030-01-02T00:00:00Z\"}}}", "failed: plan update of the Instance failed: broken"},
		{"instance mended", inst + "status: {planStatus: {deploy: {name: deploy, status: COMPLETE, lastUpdatedTimestamp: \"2030-01-03T00:00:00Z\"}, update: {name: update, status: FATAL_ERROR, lastUpdatedTimestamp: \"2030-01-02T00:00:00Z\"}}}", "ready"},

		{"custom without status", "apiVersion: x.io/v1\nkind: Thing", "ready"},
		{"custom ready", "apiVersion: x.io/v1\nkind: Thing\nstatus: {conditions: [{type: Ready, status: \"True\"}]}", "ready"},
		{"custom not ready", "apiVersion: x.io/v1\nkind: Thing\nstatus: {conditions: [{type: Ready, status: \"False\", message: issuing}]}", "waiting: issuing"},
		{"custom unknown", "apiVersion: x.io/v1\nkind: Thing\nstatus: {conditions: [{type: Ready, status: Unknown}]}", "waiting: not ready"},
		{"custom stalled", "apiVersion: x.io/v1\nkind: Thing\nstatus: {conditions: [{type: Stalled, status: \"True\", message: cannot}]}", "failed: cannot"},
		{"custom stale", "apiVersion: x.io/v1\nkind: Thing\nmetadata: {generation: 2}\nstatus: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}]}", "waiting: observed generation is 1"},
		{"custom of another shape", "apiVersion: x.io/v1\nkind: Thing\nstatus: {conditions: all good}", "ready"},
		{"pod disruption budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1}", "ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Check(parsed(t, c.obj), lookup)
			kind, text, _ := strings.Cut(c.want, ": ")
			if got.Ready != (kind == "ready") || got.Failed != (kind == "failed") || !strings.Contains(got.Message, text) || got.Ready != (got.Message == "") {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
}

// TestAgainstKstatus: for the kinds whose controllers write what kstatus reads, our verdict is that of kstatus; ours has the better
// message. What differs on purpose is in TestCheck and not here.
func TestAgainstKstatus(t *testing.T) {
	const available = "conditions: [{type: Available, status: \"True\"}, {type: Progressing, status: \"True\", reason: NewReplicaSetAvailable}]"
	const head = "metadata: {generation: 2}\nspec: {replicas: 2, progressDeadlineSeconds: 600"
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet"} {
		for _, state := range []string{
			"observedGeneration: 1", "observedGeneration: 2, replicas: 0", "observedGeneration: 2, replicas: 2",
			"observedGeneration: 2, replicas: 2, fullyLabeledReplicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1",
			"observedGeneration: 2, replicas: 2, fullyLabeledReplicas: 2, currentReplicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, currentRevision: a, updateRevision: a",
		} {
			obj := parsed(t, "apiVersion: apps/v1\nkind: "+kind+"\n"+head+"}\nstatus: {"+state+", "+available+"}")
			theirs, err := status.Compute(obj)
			if err != nil {
				t.Fatal(err)
			}
			if ours := Check(obj, nil); ours.Ready != (theirs.Status == status.CurrentStatus) || ours.Failed != (theirs.Status == status.FailedStatus) {
				t.Errorf("%s %s: ours %+v, kstatus %s: %s", kind, state, ours, theirs.Status, theirs.Message)
			}
		}
	}
}
