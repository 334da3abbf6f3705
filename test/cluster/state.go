// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state is what another process must know to take a cluster over: the command
// lines follow from it.
type state struct {
	Mode            Mode     `json:"mode"`
	NodeCount       int      `json:"nodeCount"`
	BinDir          string   `json:"binDir"`
	Detach          bool     `json:"detach"`
	EnableStageCRDs bool     `json:"enableStageCRDs,omitempty"`
	Durable         bool     `json:"durable,omitempty"`
	APIServerArgs   []string `json:"apiServerArgs,omitempty"`
	EtcdPort        int      `json:"etcdPort"`
	EtcdPeerPort    int      `json:"etcdPeerPort"`
	APIServerPort   int      `json:"apiServerPort"`
	// In ModeContainers only: what tells the networks of nodes from each other,
	// and the folders with the programs and the images of the node.
	Subnet       int    `json:"subnet,omitempty"`
	NodePrograms string `json:"nodePrograms,omitempty"`
	NodeImages   string `json:"nodeImages,omitempty"`
}

func (c *Cluster) path(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

// writeJSON replaces a file at once, so that no reader sees half of it.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readJSON answers fs.ErrNotExist where there is no such file.
func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// claim makes dir the folder of a new cluster. It refuses a folder with anything
// in it, because whoever removes the cluster removes the folder.
func claim(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return os.MkdirAll(dir, 0o755)
	case err != nil:
		return err
	}
	for _, e := range entries {
		if e.Name() == stateFile {
			return fmt.Errorf("cluster: %s already holds a cluster: Open it, or Stop it and remove the folder", dir)
		}
	}
	return fmt.Errorf("cluster: %s is not empty and holds no cluster: choose another folder", dir)
}
