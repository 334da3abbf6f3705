// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kuttl

import (
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/test/integration/runs/lab"
)

const (
	// startup is how long a pod takes to be ready, in milliseconds. The suites were written for nodes that pull images: they look
	// for plans that are in progress, and at once a simulated pod would be ready.
	startup = 3000
	// missing is the image that a suite uses because it does not exist: pods with it are never ready.
	missing = "thisisnonexistingimage"
)

// likeRealNodes changes how the simulated nodes treat pods.
func likeRealNodes(dir string, o *lab.Options) error {
	bin := o.Cluster.BinDir
	if bin == "" {
		bin = os.Getenv("KUDO_KUBE_BIN")
	}
	data, err := os.ReadFile(filepath.Join(bin, "kwok-stages", "pod-ready.yaml"))
	if err != nil {
		return err
	}
	stage := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &stage.Object); err != nil {
		return err
	}
	if err := unstructured.SetNestedMap(stage.Object, map[string]any{"durationMilliseconds": int64(startup)}, "spec", "delay"); err != nil {
		return err
	}
	expressions, _, err := unstructured.NestedSlice(stage.Object, "spec", "selector", "matchExpressions")
	if err != nil {
		return err
	}
	expressions = append(expressions, map[string]any{"key": ".spec.containers.[].image", "operator": "NotIn", "values": []any{missing}})
	if err := unstructured.SetNestedSlice(stage.Object, expressions, "spec", "selector", "matchExpressions"); err != nil {
		return err
	}
	if data, err = yaml.Marshal(stage.Object); err != nil {
		return err
	}
	file := filepath.Join(dir, "pod-ready.yaml")
	o.Cluster.ExtraStages = append(o.Cluster.ExtraStages, file)
	return os.WriteFile(file, data, 0o644)
}
