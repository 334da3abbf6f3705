// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/resolve"
)

// installed finds operators in the namespace of a cluster.
type installed struct{ *cluster }

// Find returns the newest OperatorVersion that matches. The newest is that of the newest application, as in KUDO, and of
// several with one appVersion that of the newest operator.
func (i installed) Find(ctx context.Context, operator, appVersion, operatorVersion string) (*v1beta1.OperatorVersion, error) {
	list, err := i.kudo.KudoV1beta1().OperatorVersions(i.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var newest *v1beta1.OperatorVersion
	for n := range list.Items {
		version := &list.Items[n]
		if version.Spec.Operator.Name != operator || appVersion != "" && version.Spec.AppVersion != appVersion ||
			operatorVersion != "" && version.Spec.Version != operatorVersion {
			continue
		}
		if newest == nil || cmp.Or(compareVersions(version.Spec.AppVersion, newest.Spec.AppVersion), compareVersions(version.Spec.Version, newest.Spec.Version)) > 0 {
			newest = version
		}
	}
	return newest, nil
}

// compareVersions says which version is newer. What is not a semantic version is older than what is one.
func compareVersions(a, b string) int {
	first, errFirst := semver.NewVersion(a)
	second, errSecond := semver.NewVersion(b)
	switch {
	case errFirst == nil && errSecond == nil:
		return first.Compare(second)
	case errFirst == nil:
		return 1
	case errSecond == nil:
		return -1
	default:
		return cmp.Compare(a, b)
	}
}

// warnOfMistakes says which fields of a package are most likely misspelt. They have no effect, and the package is installed
// all the same, as KUDO does it.
func (env *environment) warnOfMistakes(p *bundle.Package) {
	for _, mistake := range p.Misspelt() {
		_, _ = fmt.Fprintf(env.ErrOut, "Warning: %s\n", mistake.Error())
	}
}

// warnOfMistakes does so for the children of a package. It names them, because all have the same files.
func (p *parts) warnOfMistakes(env *environment) {
	for _, child := range p.children {
		for _, mistake := range child.Misspelt {
			_, _ = fmt.Fprintf(env.ErrOut, "Warning: operator package %q: %s\n", child.Location, mistake.Error())
		}
	}
}

// parts are the objects that are made of a package.
type parts struct {
	operator *v1beta1.Operator
	version  *v1beta1.OperatorVersion
	instance *v1beta1.Instance
	// children are the operators that the package needs, each after those that it needs itself.
	children []resolve.Child
}

// resources makes objects of a package and of the children that it needs. The cluster is asked for those that the package
// gives by name.
func (c *cluster) resources(ctx context.Context, location string, p *bundle.Package) (*parts, error) {
	operator, version, instance, err := bundle.Resources(p, c.namespace)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", location, err)
	}
	tasks, children, err := resolve.Resolver{Namespace: c.namespace, Installed: installed{c}}.Resolve(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", location, err)
	}
	version.Spec.Tasks = tasks
	return &parts{operator: operator, version: version, instance: instance, children: children}, nil
}

// checkKubernetes refuses operators, the children too, that need a newer Kubernetes than the cluster has. Only the package
// itself has to say what it needs: KUDO does not look at its children.
func (p *parts) checkKubernetes(server string) error {
	for _, child := range p.children {
		if child.Operator == nil {
			continue
		}
		if _, err := semver.NewVersion(child.Operator.Spec.KubernetesVersion); err != nil {
			continue
		}
		if err := checkKubernetesVersion(child.Operator.Spec.KubernetesVersion, server); err != nil {
			return fmt.Errorf("child operator %s: %w", child.Operator.Name, err)
		}
	}
	return checkKubernetesVersion(p.operator.Spec.KubernetesVersion, server)
}

// create creates the Operator, then those of the children with their OperatorVersions, and last the OperatorVersion, so
// that it is not there before what its plans need. What exists is not changed: Instances may use it. After a failure the
// same command goes on where it stopped.
func (p *parts) create(ctx context.Context, env *environment, c *cluster) error {
	if err := createOperator(ctx, env, c, p.operator); err != nil {
		return err
	}
	for _, child := range slices.DeleteFunc(slices.Clone(p.children), func(child resolve.Child) bool { return child.Operator == nil }) {
		if err := createOperator(ctx, env, c, child.Operator); err != nil {
			return err
		}
		if err := createVersion(ctx, env, c, child.Version); err != nil {
			return err
		}
	}
	return createVersion(ctx, env, c, p.version)
}
