// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/runs/lab"
)

// auditPolicy logs what the executor writes, except of KUDO's own resources.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  resources: [{group: kudo.dev}, {group: coordination.k8s.io}, {group: "", resources: [events]}]
- level: Metadata
  users: ["system:serviceaccount:kudo-system:kudo-executor"]
  verbs: [create, update, patch, delete]
- level: None
`

var auditLog string

var room = lab.Room{Options: lab.Options{Prepare: func(dir string, o *lab.Options) error {
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit.yaml")
	o.Cluster.APIServerArgs = []string{"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog, "--audit-log-maxsize=1000"}
	// An executor that is killed is replaced at once; a lease would only make each repetition seconds longer.
	o.KUDO.ExecutorArgs = []string{"--leader-elect=false"}
	return os.WriteFile(policy, []byte(auditPolicy), 0o600)
}}}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(room.Main(m))
}

// budget bounds the time one test repeats, so that all of them end within the time of go test.
const budget = 2 * time.Minute

// repeat kills again and again.
func repeat(t *testing.T, kill func(n int)) {
	t.Helper()
	times := 5
	if os.Getenv("KUDO_E2E") != "" {
		times = 50
	}
	begin := time.Now()
	for n := range times {
		if time.Since(begin) > budget {
			t.Logf("%d of %d repetitions in %v; that is enough", n, times, budget)
			return
		}
		if kill(n); t.Failed() {
			t.FailNow()
		}
	}
}

// random is what the moments of the kills are drawn from. KUDO_SEED repeats the draws of an earlier test.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("KUDO_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("KUDO_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
