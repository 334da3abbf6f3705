// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kubectl runs kubectl as the administrator and returns its stdout. The error
// carries its stderr. To give up earlier or to be another user, see KubectlAs.
func (c *Cluster) Kubectl(args ...string) (string, error) {
	return c.kubectl(context.Background(), Admin, nil, args...)
}

// KubectlAs runs kubectl as a user, with stdin if it is not nil, and returns its
// stdout. The error carries its stderr.
func (c *Cluster) KubectlAs(ctx context.Context, user string, stdin io.Reader, args ...string) (string, error) {
	return c.kubectl(ctx, user, stdin, args...)
}

func (c *Cluster) kubectl(ctx context.Context, user string, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.state.BinDir, "kubectl"), args...)
	cmd.Env = c.ClientEnv(user)
	cmd.Stdin = stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// ClientEnv is the environment in which kubectl and its plugins act as the user
// on this cluster, find each other, and neither read nor write ~/.kube.
func (c *Cluster) ClientEnv(user string) []string {
	return append(c.environment(),
		"KUBECONFIG="+c.KubeconfigPath(user),
		"KUBECACHEDIR="+c.path("kubectl-cache"),
		"KUBERC=off",
	)
}
