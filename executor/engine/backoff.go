// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import "time"

// The delay before a step is tried again doubles from backoffFirst with each try, up to backoffMost.
const (
	backoffFirst = time.Second
	backoffMost  = 60 * time.Second
)

// Backoff is the delay after a number of failed tries: between three quarters and all of 1 s, 2 s, 4 s … 60 s, where
// spread in [0,1) says. The spread keeps many steps that failed for one reason from coming back at one instant.
func Backoff(attempts int32, spread float64) time.Duration {
	d := backoffFirst
	for i := int32(1); i < attempts && d < backoffMost; i++ {
		d *= 2
	}
	d = min(d, backoffMost)
	return d - time.Duration(spread*float64(d)/4)
}
