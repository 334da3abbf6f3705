// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/rendered"
	"kudo.dev/kudo/render"
)

// text renders a template. All passes of a step of a run get the same text, also after a restart.
func (e Env) text(ctx context.Context, name string, v render.Variables) (string, error) {
	template, ok := e.Templates[name]
	if !ok {
		return "", fault.Finalf(fault.ReasonRendering, "there is no template %q; the OperatorVersion has %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(e.Templates)), ", "), "none"))
	}
	return rendered.Text(ctx, e.Client, e.Identity, name, func() (string, bool, error) { return render.Varying(name, template, v) })
}
