// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package fuzzer fills hub objects with random values that survive a round trip, for tests.
package fuzzer

import (
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"kudo.dev/kudo/apis/kudo"
)

// Funcs fill what cannot be just any value: defaulting changes strategies that are absent, and absent and empty lists are the same.
func Funcs(runtimeserializer.CodecFactory) []any {
	return []any{
		func(o *kudo.Ordering, c randfill.Continue) {
			*o = kudo.Serial
			if c.Bool() {
				*o = kudo.Parallel
			}
		},
		func(p *kudo.Parameter, c randfill.Continue) {
			c.FillNoCustom(p)
			// Absent and empty differ here, and both must survive.
			switch c.Intn(3) {
			case 0:
				p.Enum = nil
			case 1:
				p.Enum = kudo.EnumValues{}
			}
		},
	}
}
