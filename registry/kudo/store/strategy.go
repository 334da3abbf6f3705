// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"
)

// Strategy is what the strategies of all kinds of the group have in common.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// NewStrategy makes the common part for the types of a scheme.
func NewStrategy(scheme *runtime.Scheme) Strategy {
	return Strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator}
}

// NamespaceScoped is true for all kinds.
func (Strategy) NamespaceScoped() bool { return true }

// Canonicalize does nothing.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate is false: a PUT changes what exists.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate is true: clients may PUT without a resourceVersion.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// WarningsOnCreate are none.
func (Strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate are none.
func (Strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
