// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"flag"
	"os"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// env is the cluster of all tests.
var env *harness.Env

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for the servers most of the time.
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
	os.Exit(harness.Run(m, cluster.KUDOOptions{NoExecutor: true}, func(e *harness.Env) { env = e }))
}
