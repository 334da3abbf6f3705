// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"flag"
	"os"
	"testing"

	"kudo.dev/kudo/test/integration/runs/lab"
)

var room lab.Room

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for the cluster most of the time.
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
	os.Exit(room.Main(m))
}
