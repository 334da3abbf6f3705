// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package certificates

import (
	"bytes"
	"testing"
	"time"
)

var (
	start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	hosts = []string{"kudo-apiserver.kudo-system.svc", "localhost", "127.0.0.1"}
)

func mustRenew(t *testing.T, m *material, now time.Time) *material {
	t.Helper()
	next, err := renew(m, hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// trusted tells whether a client that knows the bundle accepts the certificate.
func trusted(t *testing.T, bundle, cert []byte, now time.Time) bool {
	t.Helper()
	authorities, leaf, err := (&material{cert: cert, bundle: bundle}).parse()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		if !signedByAny(leaf, authorities, host, now) {
			return false
		}
	}
	return true
}

func TestRenew(t *testing.T) {
	first := mustRenew(t, nil, start)
	if !trusted(t, first.bundle, first.cert, start) {
		t.Fatal("the first certificate is not trusted")
	}
	for _, tc := range []struct {
		name         string
		at           time.Duration
		leaf, bundle bool // whether they change
	}{
		{"nothing is due", 24 * time.Hour, false, false},
		{"just before the leaf is due", leafLifetime - leafRenewal - time.Hour, false, false},
		{"the leaf is due", leafLifetime - leafRenewal + time.Hour, true, false},
		{"the leaf has ended: start anew", leafLifetime + time.Hour, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := start.Add(tc.at)
			next := mustRenew(t, first, now)
			if got := !bytes.Equal(next.cert, first.cert); got != tc.leaf {
				t.Errorf("leaf changed: %v, want %v", got, tc.leaf)
			}
			if got := !bytes.Equal(next.bundle, first.bundle); got != tc.bundle {
				t.Errorf("bundle changed: %v, want %v", got, tc.bundle)
			}
			if !trusted(t, next.bundle, next.cert, now) {
				t.Error("the certificate is not trusted")
			}
		})
	}
}

// TestRotationNeverBreaksTrust lives through eleven years, checking as the server does but only weekly. A client learns of each
// bundle one check late, and must always trust what the server serves.
func TestRotationNeverBreaksTrust(t *testing.T) {
	current := mustRenew(t, nil, start)
	known := current.bundle
	leaves, authorities := 0, 0
	for now := start; now.Before(start.Add(11 * 365 * 24 * time.Hour)); now = now.Add(7 * 24 * time.Hour) {
		next := mustRenew(t, current, now)
		if !trusted(t, known, next.cert, now) {
			t.Fatalf("%s: a client that knows the previous bundle does not trust the certificate", now)
		}
		if !bytes.Equal(next.cert, current.cert) {
			leaves++
		}
		if !bytes.Equal(next.bundle, current.bundle) {
			authorities++
		}
		known, current = next.bundle, next
	}
	if leaves < 40 || authorities != 1 {
		t.Errorf("%d leaves and %d new authorities in eleven years", leaves, authorities)
	}
}

func TestRenewReplacesWhatIsUnusable(t *testing.T) {
	good := mustRenew(t, nil, start)
	other := mustRenew(t, nil, start)
	for name, m := range map[string]*material{
		"empty":             {},
		"no PEM":            {cert: []byte("x"), bundle: []byte("y"), key: good.key, authorityKey: good.authorityKey},
		"foreign authority": {cert: good.cert, key: good.key, bundle: other.bundle, authorityKey: other.authorityKey},
	} {
		t.Run(name, func(t *testing.T) {
			next := mustRenew(t, m, start)
			if next == m || !trusted(t, next.bundle, next.cert, start) {
				t.Error("it was not replaced by a trusted certificate")
			}
		})
	}
}
