// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

const (
	stagesFile   = "stages.yaml"
	noStagesFile = "no-stages.yaml"
)

// writeStages puts KWOK's own stages and the caller's into one file. One of the
// caller's takes the place of one of KWOK's with the same name.
func (c *Cluster) writeStages(extra []string) error {
	files, err := filepath.Glob(filepath.Join(c.state.BinDir, "kwok-stages", "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no stages in %s/kwok-stages: fill the folder with hack/kube/build.sh", c.state.BinDir)
	}
	var order []string
	stages := map[string][]byte{}
	for _, file := range append(files, extra...) {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for doc := range bytes.SplitSeq(data, []byte("\n---")) {
			var stage struct {
				Metadata struct{ Name string }
			}
			if err := yaml.Unmarshal(doc, &stage); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			name := stage.Metadata.Name
			if name == "" { // nothing but comments
				continue
			}
			if _, ok := stages[name]; !ok {
				order = append(order, name)
			}
			stages[name] = doc
		}
	}
	var all bytes.Buffer
	for _, name := range order {
		fmt.Fprintf(&all, "---\n%s\n", bytes.TrimSpace(stages[name]))
	}
	if err := os.WriteFile(c.path(stagesFile), all.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(c.path(noStagesFile), nil, 0o644)
}

// kwok reads the stages once from a file, or follows the objects of the cluster;
// then the file must be there and be empty.
func (c *Cluster) kwok() component {
	args := []string{
		"--kubeconfig=" + c.KubeconfigPath(kwok),
		"--manage-all-nodes",
		"--node-lease-duration-seconds=40",
	}
	if c.state.EnableStageCRDs {
		return c.component(kwok, append(args, "--config="+c.path(noStagesFile), "--enable-crds=Stage")...)
	}
	return c.component(kwok, append(args, "--config="+c.path(stagesFile))...)
}

// installStages makes the stages objects of the cluster. A definition is served
// a moment after it is stored, so applying the objects is tried until it works.
func (c *Cluster) installStages(ctx context.Context) error {
	crd := filepath.Join(c.state.BinDir, "kwok-crds", "kwok.x-k8s.io_stages.yaml")
	if _, err := c.kubectl(ctx, Admin, nil, "apply", "--server-side", "-f", crd); err != nil {
		return fmt.Errorf("cluster: install the definition of KWOK's stages: %w", err)
	}
	return c.until(ctx, "KWOK's stages to be accepted", func(ctx context.Context) error {
		_, err := c.kubectl(ctx, Admin, nil, "apply", "--server-side", "-f", c.path(stagesFile))
		return err
	}, etcd, kubeAPIServer)
}
