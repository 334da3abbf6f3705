// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package inventory says what is on record of the objects of an Instance while a run is carried out. It is pure: it reads what the API
// server stored and nothing else.
//
// It may be imported by the executor; it imports the types of the API.
package inventory
