// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package render turns the templates and parameters of an OperatorVersion into Kubernetes objects.
//
// It is pure: no cluster, no clock and no files of its own, so that the same input gives the same objects in the
// executor, in the server and in the command line. The only exceptions are the template functions of KUDO's list
// that are random or look outside by nature (now, uuidv4, randAlpha, genCA, getHostByName and their like); packages
// in the field use them, so they stay.
//
// Parameters computes the values and Template renders one text with them; Varying tells besides whether such a function was
// called, so that the executor can keep the result for the rest of a step. Objects, PipePod and ParameterFile read what the text
// holds.
//
// Templates are written by tenants. Whatever they contain, the answer is an error and never a panic, and what they
// may cost in memory and time is limited.
//
// The package may import apis, apimachinery, Sprig and YAML; it may be imported by registry, executor and
// bundle/verify.
package render
