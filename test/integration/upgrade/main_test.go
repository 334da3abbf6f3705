// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package upgrade

import (
	"flag"
	"os"
	"testing"

	"kudo.dev/kudo/test/integration/runs/lab"
)

var room lab.Room

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(room.Main(m))
}
