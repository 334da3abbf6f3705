// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binDirVariable names the folder of the programs, for callers that built them
// elsewhere.
const binDirVariable = "KUDO_KUBE_BIN"

// binDir finds the control plane's programs, or builds them.
func binDir(ctx context.Context, dir string, log func(string, ...any)) (string, error) {
	if dir == "" {
		dir = os.Getenv(binDirVariable)
	}
	if dir == "" {
		return runBuild(ctx, log, "build.sh")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "kube-apiserver")); err != nil {
		return "", fmt.Errorf("cluster: no kube-apiserver in %s: build one with hack/kube/build.sh and name the folder it prints, or leave %s unset", dir, binDirVariable)
	}
	return dir, nil
}

// runBuild runs a script of hack/kube, which prints the folder with what it built
// on stdout and what it does on stderr.
func runBuild(ctx context.Context, log func(string, ...any), script string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, "hack", "kube", script))
	progress, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	var last string
	for lines := bufio.NewScanner(progress); lines.Scan(); {
		last = lines.Text()
		log("%s", last)
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("cluster: hack/kube/%s: %w: %s", script, err, last)
	}
	return strings.TrimSpace(out.String()), nil
}

// moduleRoot is the folder of the go.mod above the working directory, which for
// a test is its package's.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "hack", "kube", "build.sh")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("cluster: the working directory is not inside the repository: run there, or set " + binDirVariable)
		}
		dir = parent
	}
}
