// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package history decides whether what clients were told and what observers saw fit together: it holds a log of operations
// with their answers, of the states of Instances and PlanExecutions, of outages, and of what the executor wrote, and complains
// about everything in it that must not happen.
//
// It starts nothing and asks nobody, so that every complaint can be provoked by a history made for it. It may import apis.
//
// All objects of KUDO live in one etcd, so their resource versions are one clock: the states of Instances and of runs that were
// seen by two watches can be put into one order.
package history
