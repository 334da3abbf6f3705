// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// at is a storage whose newest resourceVersion is its number; 0 means that it cannot be asked.
type at struct {
	storage.Interface
	newest uint64
}

var errUnreachable = errors.New("etcd cannot be reached")

func (at) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (a at) GetCurrentResourceVersion(context.Context) (uint64, error) {
	if a.newest == 0 {
		return 0, errUnreachable
	}
	return a.newest, nil
}

func (at) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

func TestWatchFromTheFutureIsExpired(t *testing.T) {
	for _, c := range []struct {
		newest  uint64
		version string
		expired bool
	}{
		{29, "30", true},
		{29, "18446744073709551615", true},
		{29, "29", false},
		{29, "1", false},
		{29, "0", false},
		{29, "", false},
		{0, "0", false},
	} {
		w, err := restored{at{newest: c.newest}}.Watch(t.Context(), "/x", storage.ListOptions{ResourceVersion: c.version})
		switch {
		case c.expired && (!apierrors.IsResourceExpired(err) || !strings.Contains(err.Error(), "list anew")):
			t.Errorf("%q of %d: %v, want that it expired", c.version, c.newest, err)
		case !c.expired && (err != nil || w == nil):
			t.Errorf("%q of %d: %v", c.version, c.newest, err)
		}
	}
	if _, err := (restored{at{}}).Watch(t.Context(), "/x", storage.ListOptions{ResourceVersion: "1"}); !errors.Is(err, errUnreachable) {
		t.Errorf("nobody knows the newest version: %v", err)
	}
}
