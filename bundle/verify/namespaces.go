// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"kudo.dev/kudo/render"
)

// namespaceKind matches what looks like a Namespace in a template. As in KUDO it is a search in the text, because a template
// is not YAML before it is rendered.
var namespaceKind = regexp.MustCompile(`kind:\s*Namespace`)

// namespaces checks that an operator brings no namespace but the one it may be installed into.
func namespaces(c *checker) {
	manifest := c.p.Operator.NamespaceManifest
	for _, name := range slices.Sorted(maps.Keys(c.p.Templates)) {
		found := namespaceKind.FindStringIndex(c.p.Templates[name])
		if name != manifest && found != nil {
			c.template(Error, name, 1+strings.Count(c.p.Templates[name][:found[0]], "\n"),
				"template %q contains \"kind: Namespace\", which is not allowed unless specified as namespaceManifest in operator.yaml", name)
		}
	}
	if manifest == "" {
		return
	}
	text, ok := c.p.Templates[manifest]
	if !ok {
		c.operator(Error, at("namespaceManifest"), "namespaceManifest %q: there is no such template; add the file templates/%s or correct the name", manifest, manifest)
		return
	}
	v, err := c.variables(c.placeholders(true))
	if err != nil {
		return
	}
	// No plan runs when the namespace is made.
	v.PlanName, v.PhaseName, v.StepName, v.Pipes = "", "", "", nil
	rendered, err := render.Template(manifest, text, v)
	if err != nil {
		c.notRendered(manifest, err)
		return
	}
	objects, err := render.Objects(manifest, rendered)
	switch {
	case err != nil:
		c.notRendered(manifest, err)
	case len(objects) != 1:
		c.template(Error, manifest, 0, "the namespaceManifest has to hold one Namespace, but it holds %d objects", len(objects))
	case objects[0].GetKind() != "Namespace":
		c.template(Error, manifest, 0, "the namespaceManifest has to hold a Namespace, but it holds a %s", objects[0].GetKind())
	}
}
