// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package triggers has, for every request that may start a plan and every state of an Instance, the answer: which plan starts, or
// how the request is refused and in which words. Each file has the tables of one group of requests; states_test.go has the states,
// answers_test.go what is looked at after each request. Every request is sent as a dry run first.
//
// There is no executor: the tests report for it, so that an Instance stays in the state in which a test needs it.
package triggers
