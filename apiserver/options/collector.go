// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"os"
	"runtime/debug"
)

// collectorPercent is how much garbage may pile up before it is collected, in per cent of what is in use. What this server has in use
// is little, so that with the usual 100 the collector would run every few dozen requests and take a tenth of the server's time.
const collectorPercent = 300

// tuneCollector has the garbage collector run less often, unless whoever runs the server says how by GOGC or GOMEMLIMIT.
func tuneCollector() {
	for _, variable := range []string{"GOGC", "GOMEMLIMIT"} {
		if os.Getenv(variable) != "" {
			return
		}
	}
	debug.SetGCPercent(collectorPercent)
}
