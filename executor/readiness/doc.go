// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package readiness keeps the condition Ready of the Instances on which no plan runs: it watches the objects of their inventories and
// writes the condition when what they come to has changed. While a plan runs, and after one has failed, the server alone writes it.
//
// It may be imported by the executor; it imports the executor's packages apply, health and watch and the clients.
package readiness
