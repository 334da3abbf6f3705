// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package verify finds mistakes in operator packages before they reach a cluster.
//
// Its rules are those of KUDO 0.19's "package verify", with the same severities, and rules for what KUDO ignored or found
// out only when a plan ran. docs/packages.md lists them. Every finding names the file, and the line where one is known.
//
// Nothing is read but the package itself and the children that it names by path; no cluster and no network is needed.
//
// The package may import apis, bundle, bundle/resolve and render; it may be imported by cli.
package verify
