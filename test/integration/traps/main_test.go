// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"os"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// patience is how long a test waits for what should take a few seconds at most.
const patience = 40 * time.Second

// env is the cluster of all tests.
var env *harness.Env

// There is no executor: where runs must end, a test reports it. An executor would need up to a minute to come back to a server that
// was killed several times.
func TestMain(m *testing.M) {
	os.Exit(harness.Run(m, cluster.KUDOOptions{NoExecutor: true}, func(e *harness.Env) { env = e }))
}
