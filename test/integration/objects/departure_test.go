// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: GROUP/v1
kind: Thing
metadata: {name: thing}
`

// TestClusterScopedGoWithTheInstance: what the Instance cannot own is deleted after its cleanup, but a definition stays, with all the
// objects that others may have of it. The definition and an object of it come from one template.
func TestClusterScopedGoWithTheInstance(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	group := ns + ".test.kudo.dev"
	t.Cleanup(func() { _, _ = l.Cluster.Kubectl("delete", "crd", "things."+group, "--wait=false") })
	l.Deployed(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all"), "cleanup": lab.Serial("bye")},
		Tasks: []v1beta1.Task{lab.Apply("all", "things", "roles"), lab.Apply("bye", "bye")},
		Templates: map[string]string{"things": strings.ReplaceAll(definition, "GROUP", group), "roles": clusterRole(ns+"-one") + "---\n" + clusterRole(ns+"-two"),
			"bye": lab.ConfigMap("bye", "x")},
	})
	i := l.Unlocked(t, ns, "sample")
	if !strings.Contains(fmt.Sprint(i.Finalizers), v1beta1.InventoryFinalizer) {
		t.Fatalf("finalizers %v, inventory %v", i.Finalizers, i.Status.Inventory)
	}
	// A role that another Instance has, too, is not this one's to delete.
	other := l.Namespace(t)
	l.Deployed(t, other, lab.Operator{Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all")}, Tasks: []v1beta1.Task{lab.Apply("all", "roles")},
		Templates: map[string]string{"roles": clusterRole(ns + "-two")}})
	event(t, l, other, "PackageWarning", "was applied by another Instance")

	if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, l, lab.Instances, ns, "sample")
	if _, err := l.Dynamic.Resource(clusterRoles).Get(t.Context(), ns+"-one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the role is there when the Instance is gone: %v", err)
	}
	there(t, l, clusterRoles, "", ns+"-two")
	there(t, l, definitions, "", "things."+group)
	event(t, l, ns, "ObjectKept", "CustomResourceDefinition things."+group+" is kept")

	t.Log("a namespace with an Instance is deleted")
	if err := l.Kube.CoreV1().Namespaces().Delete(t.Context(), other, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, l, lab.Instances, other, "sample")
	if _, err := l.Dynamic.Resource(clusterRoles).Get(t.Context(), ns+"-two", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the role is there when the Instance is gone: %v", err)
	}
}

// TestDeletionDuringARun: an Instance without a cleanup goes at once, and what its run had applied goes with it. One whose objects cannot be
// deleted can be let go by hand.
func TestDeletionDuringARun(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("all", "hold")},
		Tasks:     []v1beta1.Task{lab.Apply("all", "roles"), lab.Hold("hold")},
		Templates: map[string]string{"roles": strings.Replace(clusterRole(ns+"-held"), "}\n", ", finalizers: [test.kudo.dev/hold]}\n", 1)},
	}, nil)
	l.Run(t, pe, "to hold", func(pe *v1beta1.PlanExecution) bool {
		return lab.Step(t, pe, "hold").Status == v1beta1.ExecutionInProgress
	})
	if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Object(t, clusterRoles, "", ns+"-held", "to be on its way out", func(o *unstructured.Unstructured) bool { return o != nil && o.GetDeletionTimestamp() != nil })
	if _, err := l.Cluster.Kubectl("patch", "instance", "sample", "-n", ns, "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`); err != nil {
		t.Fatal(err)
	}
	gone(t, l, lab.Instances, ns, "sample")
	if _, err := l.Cluster.Kubectl("patch", "clusterrole", ns+"-held", "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`); err != nil {
		t.Fatal(err)
	}
}

// TestRetiredDefinitions: the definitions of a package of 2020, written for a version of the API that took schemas which v1 does not take,
// are in force, in a List, too, and can be deleted as they were written.
func TestRetiredDefinitions(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("KUDO_SHARED")
	if shared == "" {
		t.Skip("no real operator packages: set KUDO_SHARED to the folder that holds operators/")
	}
	file := filepath.Join(shared, "operators", "spark", "templates", "spark-operator-crds.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("no package in %s: set KUDO_SHARED to the folder that holds operators", file)
	}
	l := room.Enter(t)
	ns := l.Namespace(t)
	loose := "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apiextensions.k8s.io/v1beta1\n  kind: CustomResourceDefinition\n  metadata: {name: loose." + ns + ".test.kudo.dev}\n" +
		"  spec: {group: " + ns + ".test.kudo.dev, version: v1, names: {kind: Loose, plural: loose}, validation: {openAPIV3Schema: {properties: {metadata: {properties: {name: {maxLength: 9}}}, " +
		"spec: {properties: {port: {anyOf: [{type: string}, {type: integer}]}, any: {description: d}, list: {type: array}, open: {type: object, additionalProperties: true}, one: {oneOf: [{required: [a]}, {type: object}]}}}}}}}\n"
	l.Deployed(t, ns, lab.Operator{
		Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("all"), "remove": lab.Serial("rm")},
		Tasks:      []v1beta1.Task{lab.Apply("all", "spark", "loose"), lab.Delete("rm", "spark", "loose")},
		Templates:  map[string]string{"spark": string(text), "loose": loose},
		Parameters: []v1beta1.Parameter{lab.Parameter("installCrds", "true")},
	})
	there(t, l, definitions, "", "sparkapplications.sparkoperator.k8s.io")
	there(t, l, definitions, "", "loose."+ns+".test.kudo.dev")
	l.Ended(t, l.Trigger(t, ns, "remove"), v1beta1.ExecutionComplete)
	gone(t, l, definitions, "", "sparkapplications.sparkoperator.k8s.io")
	if i := l.Unlocked(t, ns, "sample"); len(i.Status.Inventory) > 0 || len(i.Finalizers) > 0 {
		t.Errorf("finalizers %v, inventory %v", i.Finalizers, i.Status.Inventory)
	}
}

// TestOrphans: who deletes an Instance and asks for what it owns to stay keeps its cluster-scoped objects, too.
func TestOrphans(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all")}, Tasks: []v1beta1.Task{lab.Apply("all", "all")},
		Templates: map[string]string{"all": clusterRole(ns+"-orphan") + "---\n" + lab.ConfigMap("orphan", "x")}})
	t.Cleanup(func() { _, _ = l.Cluster.Kubectl("delete", "clusterrole", ns+"-orphan") })
	if out, err := l.Cluster.Kubectl("delete", "instance", "sample", "-n", ns, "--cascade=orphan", "--timeout=60s"); err != nil {
		t.Fatal(out, err)
	}
	gone(t, l, lab.Instances, ns, "sample")
	there(t, l, clusterRoles, "", ns+"-orphan")
	there(t, l, lab.ConfigMaps, ns, "orphan")
}
