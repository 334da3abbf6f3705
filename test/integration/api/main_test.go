// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"os"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// env is the cluster of all tests.
var env *harness.Env

func TestMain(m *testing.M) {
	os.Exit(harness.Run(m, cluster.KUDOOptions{}, func(e *harness.Env) { env = e }))
}
