// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package packages takes operator packages as they were published through the life of an Instance: read, installed,
// compared with what KUDO 0.19 made of them, a parameter changed, every further plan run, uninstalled.
//
// KUDO_PACKAGES names folders of packages, separated as PATH is; any package below them is taken. Without it these are the
// packages of $KUDO_SHARED/operators, which recordings of KUDO 0.19 belong to. Nothing here knows what a package is called, except
// the tables in known_test.go.
package packages
