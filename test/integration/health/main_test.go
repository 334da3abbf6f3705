// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"os"
	"testing"

	"kudo.dev/kudo/test/integration/runs/lab"
)

var room lab.Room

func TestMain(m *testing.M) { os.Exit(room.Main(m)) }
