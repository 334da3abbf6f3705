// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

// patience is how long a test waits for what should take a second at most.
const patience = 20 * time.Second

// wantCode is nil if an answer has the code.
func wantCode(r harness.Response, code int) error {
	if r.Code != code {
		return fmt.Errorf("got %d, want %d: %s", r.Code, code, r.Text())
	}
	return nil
}

// wantText is nil if both are equal.
func wantText(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

// text is a cell of a table as kubectl writes it.
func text(cell any) string {
	if cell == nil {
		return ""
	}
	return fmt.Sprint(cell)
}
