// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// patience is how long a test waits for what should take a few seconds at most.
const patience = 20 * time.Second

// Users to whom TestDefaultRoles binds the roles of the installation, and those of the cluster they become part of.
const (
	viewer, editor, runner, chief = "viewer", "editor", "runner", "chief"
	viewAll, editAll, adminAll    = "view-all", "edit-all", "admin-all"
)

// auditPolicy has kudo-apiserver log every request for its group.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: kudo.dev}]
- level: None
`

var (
	// env is the cluster of all tests.
	env *harness.Env
	// auditLog is the audit log of kudo-apiserver, not that of kube-apiserver.
	auditLog string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kudo-permissions-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(auditPolicy), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	auditLog = filepath.Join(dir, "audit.log")
	var users []cluster.User
	for _, name := range []string{viewer, editor, runner, chief, viewAll, editAll, adminAll} {
		users = append(users, cluster.User{Name: name})
	}
	o := cluster.KUDOOptions{NoExecutor: true, ServerArgs: []string{
		"--audit-policy-file=" + filepath.Join(dir, "policy.yaml"), "--audit-log-path=" + auditLog, "--audit-log-maxsize=1000"}}
	return harness.Run(m, o, func(e *harness.Env) { env = e }, users...)
}
