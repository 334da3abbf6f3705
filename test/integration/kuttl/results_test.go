// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kuttl

import (
	"strings"
	"testing"
)

// TestResults: a suite that failed, one that passed and one that never ended are told apart.
func TestResults(t *testing.T) {
	ends := results(`=== RUN   kuttl
    harness.go:405: run tests
=== RUN   kuttl/harness/one
    logger.go:42: 14:59:01 | one | Creating namespace "kuttl-test-a"
    logger.go:42: 14:59:01 | three/0-install | starting test step 0-install
    logger.go:42: 14:59:02 | two/1-update | test step failed 1-update
    case.go:396: resource Instance:kuttl-test-b/x: .status: value mismatch
--- FAIL: kuttl (9.01s)
    --- FAIL: kuttl/harness (0.00s)
        --- PASS: kuttl/harness/one (3.21s)
        --- FAIL: kuttl/harness/two (5.02s)
FAIL
`)
	if one := ends["one"]; !one.passed || one.took != "3.21s" {
		t.Errorf("one: %s", one)
	}
	if two := ends["two"]; two.passed || !strings.Contains(two.String(), "value mismatch") || strings.Contains(two.String(), "three/0-install") {
		t.Errorf("two: %s", two)
	}
	if three := ends["three"]; three.took != "" {
		t.Errorf("three: %s", three)
	}
}
