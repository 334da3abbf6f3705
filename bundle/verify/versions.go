// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"strings"

	"github.com/Masterminds/semver/v3"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"kudo.dev/kudo/bundle"
)

// maxTemplates is how many bytes all templates may have together. They are stored in one object with the rest, and etcd
// takes 1.5 MiB.
const maxTemplates = 3 << 19

// versions checks the versions and the name that is made of them.
func versions(c *checker) {
	o := &c.p.Operator
	for _, version := range []struct {
		key, value string
		required   bool
	}{{"operatorVersion", o.OperatorVersion, true}, {"kubernetesVersion", o.KubernetesVersion, true}, {"appVersion", o.AppVersion, false}, {"kudoVersion", o.KUDOVersion, false}} {
		_, err := semver.NewVersion(version.value)
		switch {
		case err == nil:
		case version.required:
			c.operator(Error, at(version.key), "%q is required and must be semver", version.key)
		case version.value != "":
			c.operator(Error, at(version.key), "%q must be semver, but it is %q", version.key, version.value)
		}
	}
	if o.Name == "" {
		c.operator(Error, nil, "\"name\" is required")
		return
	}
	name := bundle.OperatorVersionName(o.Name, o.AppVersion, o.OperatorVersion)
	if faults := utilvalidation.IsDNS1123Subdomain(name); len(faults) > 0 {
		c.operator(Error, at("name"), "the operator would be installed as OperatorVersion %q, which is no name of a Kubernetes object: %s", name, strings.Join(faults, "; "))
	}
}

// size checks that the package fits into an OperatorVersion.
func size(c *checker) {
	total, largest := 0, ""
	for name, text := range c.p.Templates {
		total += len(text)
		if l := len(c.p.Templates[largest]); len(text) > l || len(text) == l && name < largest {
			largest = name
		}
	}
	if total > maxTemplates {
		c.template(Error, largest, 0, "all templates together have %d bytes, of which this one has the most, but an OperatorVersion holds less than 1.5 MiB", total)
	}
}
