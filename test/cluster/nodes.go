// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// StorageClass is the default storage class in ModeNodes: KWOK provides its
// volumes.
const StorageClass = "kwok-volume"

// launchNodes starts KWOK, creates what it plays and waits until the nodes are
// Ready.
func (c *Cluster) launchNodes(ctx context.Context, client kubernetes.Interface) error {
	if c.state.EnableStageCRDs {
		if err := c.installStages(ctx); err != nil {
			return err
		}
	}
	if c.pid(kwok) == 0 {
		if err := c.start(c.kwok()); err != nil {
			return err
		}
	}
	if err := createStorageClass(ctx, client); err != nil {
		return err
	}
	for i := range c.state.NodeCount {
		if err := createNode(ctx, client, fmt.Sprintf("node%d", i+1)); err != nil {
			return err
		}
	}
	return c.untilNodesReady(ctx, client, etcd, kubeAPIServer, kwok)
}

func (c *Cluster) untilNodesReady(ctx context.Context, client kubernetes.Interface, needs ...string) error {
	return c.until(ctx, "the nodes to be Ready", func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(nodes.Items) < c.state.NodeCount {
			return fmt.Errorf("there are %d nodes", len(nodes.Items))
		}
		for i := range nodes.Items {
			if !nodeReady(&nodes.Items[i]) {
				return fmt.Errorf("node %s is not Ready", nodes.Items[i].Name)
			}
		}
		return nil
	}, needs...)
}

func createNode(ctx context.Context, client kubernetes.Interface, name string) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("1000"),
	}
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname:   name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: runtime.GOARCH,
		}},
		Status: corev1.NodeStatus{Allocatable: room, Capacity: room},
	}, metav1.CreateOptions{})
	return unlessExists(err)
}

func createStorageClass(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kwok.x-k8s.io/volume",
	}, metav1.CreateOptions{})
	return unlessExists(err)
}

func nodeReady(n *corev1.Node) bool {
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}

func unlessExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
