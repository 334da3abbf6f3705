// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestTooLarge(t *testing.T) {
	other := errors.New("other")
	for _, tc := range []struct {
		err  error
		want bool
	}{{nil, false}, {other, false}, {rpctypes.ErrRequestTooLarge, true}, {rpctypes.ErrGRPCRequestTooLarge, true}, {errors.New(unsent + " (3 vs. 2)"), true}} {
		if got := apierrors.IsRequestEntityTooLargeError(tooLarge(tc.err)); got != tc.want {
			t.Errorf("%v: answered as too large: %v, want %v", tc.err, got, tc.want)
		}
	}
	if got := tooLarge(other); !errors.Is(got, other) {
		t.Errorf("another error became %v", got)
	}
}
