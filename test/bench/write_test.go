// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/cluster"
)

const namespace = "default"

// started is a cluster with KUDO, without executor: what is measured is the answer to a request, not what follows.
func started(b *testing.B) (kubernetes.Interface, clientset.Interface) {
	b.Helper()
	c, err := cluster.Start(b.Context(), cluster.Options{Dir: filepath.Join(b.TempDir(), "cluster"), Mode: cluster.ModeControllers, Log: b.Logf})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	})
	if _, err := cluster.InstallKUDO(b.Context(), c, cluster.KUDOOptions{NoExecutor: true}); err != nil {
		b.Fatal(err)
	}
	config, err := c.RESTConfig(cluster.Admin)
	if err != nil {
		b.Fatal(err)
	}
	config.QPS = -1 // the client does not throttle
	config.WarningHandler = rest.NoWarnings{}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	kudo, err := clientset.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return kube, kudo
}

// BenchmarkWrite is the time to the answer of a write through kube-apiserver: of a ConfigMap, of an Instance, which is given to its
// first run, and of a trigger.
func BenchmarkWrite(b *testing.B) {
	kube, kudo := started(b)
	version := &v1beta1.OperatorVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-1.0.0"},
		Spec: v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{
			"deploy": {Phases: []v1beta1.Phase{{Name: "main", Steps: []v1beta1.Step{{Name: "one"}}}}}, "backup": {}}},
	}
	if _, err := kudo.KudoV1beta1().OperatorVersions(namespace).Create(b.Context(), version, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	var serial atomic.Int64 // names are not used twice, however often a variant is measured
	name := func(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }
	newInstance := func(b *testing.B, name string) {
		b.Helper()
		_, err := kudo.KudoV1beta1().Instances(namespace).Create(b.Context(), &v1beta1.Instance{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: version.Name}},
		}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("ConfigMap", func(b *testing.B) {
		for b.Loop() {
			_, err := kube.CoreV1().ConfigMaps(namespace).Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name("map")}}, metav1.CreateOptions{})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Instance", func(b *testing.B) {
		for b.Loop() {
			newInstance(b, name("instance"))
		}
	})
	b.Run("Trigger", func(b *testing.B) {
		// One Instance takes one run at a time: each iteration ends the run of the one before, off the clock.
		instance := name("trigger")
		newInstance(b, instance)
		end := func() {
			runs, err := kudo.KudoV1beta1().PlanExecutions(namespace).List(b.Context(), metav1.ListOptions{
				FieldSelector: v1beta1.InstanceNameField + "=" + instance + "," + v1beta1.StatusField + "=" + string(v1beta1.ExecutionPending)})
			if err != nil {
				b.Fatal(err)
			}
			for _, run := range runs.Items {
				run.Status.Status = v1beta1.ExecutionComplete
				if _, err := kudo.KudoV1beta1().PlanExecutions(namespace).UpdateStatus(b.Context(), &run, metav1.UpdateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		for b.Loop() {
			b.StopTimer()
			end()
			b.StartTimer()
			if _, err := kudo.KudoV1beta1().Instances(namespace).CreatePlan(b.Context(), instance, &v1beta1.PlanTrigger{PlanName: "backup"}, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
