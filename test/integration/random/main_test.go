// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// clients is how many work at the same time.
const clients = 8

func clientName(n int) string { return fmt.Sprintf("client-%d", n) }

// auditPolicy logs what the executor applies, with the annotations that name the run and the step.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  users: ["system:serviceaccount:kudo-system:kudo-executor"]
  verbs: [create, update, patch]
  resources: [{group: "", resources: [configmaps]}]
- level: None
`

var auditLog string

var room = lab.Room{Options: lab.Options{Prepare: func(dir string, o *lab.Options) error {
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit.yaml")
	o.Cluster.Mode = cluster.ModeControllers // the garbage collector belongs to the deletion of an Instance
	o.Cluster.APIServerArgs = []string{"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog, "--audit-log-maxsize=4000"}
	for n := range clients {
		// What they may do is not what is tested.
		o.Cluster.Users = append(o.Cluster.Users, cluster.User{Name: clientName(n), Groups: []string{"system:masters"}})
	}
	// An executor that is killed is replaced at once; a lease would only make each restart seconds longer.
	o.KUDO.ExecutorArgs = []string{"--leader-elect=false"}
	return os.WriteFile(policy, []byte(auditPolicy), 0o600)
}}}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(room.Main(m))
}
