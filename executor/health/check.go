// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"cmp"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Result says how an object stands.
type Result struct {
	// Ready means that a plan waits for nothing more of the object.
	Ready bool
	// Failed means that waiting is of no use: the object has ended badly.
	Failed bool
	// Message says what is waited for ("2 of 3 replicas ready"), or why it failed. Empty if the object is ready.
	Message string
}

// Lookup finds objects that the health of another one depends on. A nil Lookup finds nothing.
type Lookup interface {
	// StorageClass returns the class of that name, or the default class if the name is empty; nil if there is none.
	StorageClass(name string) (*unstructured.Unstructured, error)
}

type rule func(obj *unstructured.Unstructured, lookup Lookup) Result

// rules of kinds for which a plan asks something else than kstatus, or for which its message says too little.
var rules = map[schema.GroupKind]rule{
	{Group: "", Kind: "Pod"}:                                                        pod,
	{Group: "", Kind: "Service"}:                                                    service,
	{Group: "", Kind: "PersistentVolumeClaim"}:                                      claim,
	{Group: "", Kind: "Namespace"}:                                                  namespace,
	deployments:                                                                     deployment,
	{Group: "apps", Kind: "StatefulSet"}:                                            statefulSet,
	{Group: "apps", Kind: "DaemonSet"}:                                              daemonSet,
	{Group: "apps", Kind: "ReplicaSet"}:                                             replicas,
	{Group: "", Kind: "ReplicationController"}:                                      replicas,
	{Group: "batch", Kind: "Job"}:                                                   job,
	{Group: "kudo.dev", Kind: "Instance"}:                                           instance,
	{Group: "policy", Kind: "PodDisruptionBudget"}:                                  always,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:                         always,
	{Group: "networking.k8s.io", Kind: "Ingress"}:                                   always,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: always,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   always,
}

// Check says how an object stands, as the cluster returned it. An object that is being deleted, or whose status is older
// than its spec, is never ready.
func Check(obj *unstructured.Unstructured, lookup Lookup) Result {
	if obj.GetDeletionTimestamp() != nil {
		return waiting("it is being deleted")
	}
	if r, known := rules[obj.GroupVersionKind().GroupKind()]; known {
		if seen, ok := observed(obj); ok && seen < obj.GetGeneration() {
			return waiting("its controller has not seen the last change (generation %d, seen %d)", obj.GetGeneration(), seen)
		}
		return r(obj, lookup)
	}
	res, err := status.Compute(obj)
	if err != nil {
		// A status that does not have the usual shape says nothing about health; KUDO did not wait for such objects.
		return ready()
	}
	switch res.Status {
	case status.CurrentStatus:
		return ready()
	case status.FailedStatus:
		return failed("%s", cmp.Or(res.Message, "its controller reports that it is stalled"))
	default:
		return waiting("%s", cmp.Or(res.Message, "it is not ready"))
	}
}

func always(*unstructured.Unstructured, Lookup) Result { return ready() }

func ready() Result { return Result{Ready: true} }

func waiting(format string, args ...any) Result { return Result{Message: fmt.Sprintf(format, args...)} }

func failed(format string, args ...any) Result {
	return Result{Failed: true, Message: fmt.Sprintf(format, args...)}
}
