// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kudo.dev/kudo/test/cluster"
)

const plugin = "kubectl-kudo"

// run brings the cluster up, installs the operator unless its Instance is there,
// and shows how its plans stand. next is the plan it suggests to run then.
func (l *local) run(ctx context.Context, operator, instance, next string, parameters []string) error {
	begin := time.Now()
	if _, err := os.Stat(filepath.Join(l.binDir, plugin)); err != nil {
		return fmt.Errorf("no %s in %s: run make build, or name another folder with --bin-dir", plugin, l.binDir)
	}
	if _, err := os.Stat(filepath.Join(operator, "operator.yaml")); err != nil {
		return fmt.Errorf("no operator package in %s: name one with --operator", operator)
	}
	c, err := l.up(ctx)
	if err != nil {
		return err
	}
	found, err := c.KubectlAs(ctx, cluster.Admin, nil, "get", "instances.kudo.dev", instance, "--ignore-not-found", "-o", "name")
	if err != nil {
		return err
	}
	fmt.Println()
	if strings.TrimSpace(found) != "" {
		fmt.Printf("Instance %s is there already: nothing is installed\n", instance)
	} else {
		fmt.Printf("Installing %s as Instance %s\n", operator, instance)
		install := time.Now()
		args := []string{"install", absolute(operator), "--instance", instance, "--wait"}
		for _, p := range parameters {
			args = append(args, "--parameter", p)
		}
		if err := l.kubectlKUDO(ctx, c, args...); err != nil {
			return err
		}
		say("installed (%s)", since(install))
	}
	fmt.Println()
	if err := l.kubectlKUDO(ctx, c, "plan", "status", "--instance", instance); err != nil {
		return err
	}
	fmt.Printf("\nAll of it took %s. To go on:\n", since(begin))
	l.printEnvironment()
	fmt.Printf(`
kubectl create --raw /apis/kudo.dev/v1beta1/namespaces/default/instances/%[1]s/plans/%[2]s:trigger -f /dev/null
kubectl get instances,planexecutions
kubectl kudo plan status --instance %[1]s
`, instance, next)
	return nil
}

// kubectlKUDO runs the plugin as the administrator, on our own stdout and stderr.
func (l *local) kubectlKUDO(ctx context.Context, c *cluster.Cluster, args ...string) error {
	cmd := exec.CommandContext(ctx, absolute(filepath.Join(l.binDir, plugin)), args...)
	cmd.Env = c.ClientEnv(cluster.Admin)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", plugin, strings.Join(args, " "), err)
	}
	return nil
}
