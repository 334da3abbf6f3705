// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package resolve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

const (
	// maxDepth is how long a chain of children of children may be.
	maxDepth = 20
	// maxChildren is how many children a package may have, with theirs.
	maxChildren = 100
	// maxReads is how many packages are read for them; one that several tasks name is read for each.
	maxReads = 1000
	// maxValues is how many values the operator.yaml and params.yaml of what is read may have together. The largest known
	// operator has some thousands.
	maxValues = 100_000
	// maxBytes is how long all files of what is read may be together.
	maxBytes = 16 << 20
)

// Installed looks for operators that are in the cluster already.
type Installed interface {
	// Find returns the newest version of an operator, of those that have the versions that are not empty. It returns
	// nil if there is none.
	Find(ctx context.Context, operator, appVersion, operatorVersion string) (*v1beta1.OperatorVersion, error)
}

// Resolver says where children are looked for.
type Resolver struct {
	// Namespace is the namespace of the objects that are made.
	Namespace string
	// Installed is asked for children that are given by name. Without it they are left as they are.
	Installed Installed
	// Offline leaves children that are given by URL as they are.
	Offline bool
}

// Child is an operator that another one needs.
type Child struct {
	// Location is where the child was read from, empty for one that is installed already.
	Location string
	// Misspelt are the fields of its files that most likely are not meant so.
	Misspelt []bundle.Mistake
	// Operator is the Operator to create, nil for a child that is installed already.
	Operator *v1beta1.Operator
	// Version is the OperatorVersion, with its own children pinned.
	Version *v1beta1.OperatorVersion
}

// identity of a version of an operator. Two packages with the same one are the same.
type identity struct{ operator, appVersion, operatorVersion string }

// String returns what users know the version by, such as zookeeper-3.4.14-0.3.1.
func (i identity) String() string {
	return bundle.OperatorVersionName(i.operator, i.appVersion, i.operatorVersion)
}

// meets says whether the version is one that a task asks for.
func (i identity) meets(spec *v1beta1.TaskSpec) bool {
	return i.operator == spec.Package && (spec.AppVersion == "" || spec.AppVersion == i.appVersion) &&
		(spec.OperatorVersion == "" || spec.OperatorVersion == i.operatorVersion)
}

// Resolve returns the tasks of the package, with the children of KudoOperator tasks pinned to what was found: name,
// appVersion and operatorVersion. Children come with their own, each of them after those that it needs.
//
// As in KUDO, the versions that a task asks for count only for children that are given by name; those of others are what
// is found at their path.
//
// It fails if a child cannot be found or read, or if operators need each other in a circle. Errors name the task and its line.
func (r Resolver) Resolve(ctx context.Context, p *bundle.Package) (tasks []v1beta1.Task, children []Child, err error) {
	w := walk{Resolver: r, known: map[identity]bool{}}
	if tasks, err = w.pin(ctx, p); err != nil {
		return nil, nil, err
	}
	return tasks, w.children, nil
}

// walk is the state of one resolution.
type walk struct {
	Resolver
	// above are the operators whose children are being looked for, the outermost first.
	above []identity
	// known are those that were found.
	known    map[identity]bool
	children []Child
	// reads, values and bytes are what was read so far.
	reads, values, bytes int
}

// pin resolves the children of a package.
func (w *walk) pin(ctx context.Context, p *bundle.Package) ([]v1beta1.Task, error) {
	o := &p.Operator
	self := identity{o.Name, o.AppVersion, o.OperatorVersion}
	if err := w.enter(self); err != nil {
		return nil, err
	}
	defer w.leave()
	tasks := slices.Clone(o.Tasks)
	for i := range tasks {
		if tasks[i].Kind != v1beta1.KudoOperatorTaskKind || tasks[i].Spec.Package == "" {
			continue
		}
		found, err := w.child(ctx, p, &tasks[i].Spec)
		if err != nil {
			return nil, &bundle.Fault{File: bundle.OperatorFileName, Line: p.Line(bundle.OperatorFileName, "tasks", i, "spec", "package"),
				Message: fmt.Sprintf("tasks[%d] %q: spec.package %q: %v", i, tasks[i].Name, tasks[i].Spec.Package, err)}
		}
		if found != nil {
			tasks[i].Spec.Package, tasks[i].Spec.AppVersion, tasks[i].Spec.OperatorVersion = found.operator, found.appVersion, found.operatorVersion
		}
	}
	return tasks, nil
}

// child finds one child. It returns nil for one that is left as it is.
func (w *walk) child(ctx context.Context, parent *bundle.Package, spec *v1beta1.TaskSpec) (*identity, error) {
	if w.Offline && strings.Contains(spec.Package, "://") {
		return nil, nil
	}
	p, err := parent.Child(ctx, spec.Package)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return w.byName(ctx, spec)
	}
	if err := w.count(p); err != nil {
		return nil, err
	}
	found := identity{p.Operator.Name, p.Operator.AppVersion, p.Operator.OperatorVersion}
	if w.known[found] {
		return &found, nil
	}
	// The walk comes first: of packages that need each other the circle is what matters.
	tasks, err := w.pin(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", p.Location(), err)
	}
	operator, version, _, err := bundle.Resources(p, w.Namespace)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", p.Location(), err)
	}
	version.Spec.Tasks = tasks
	// The package itself, with the lines of its files, is not kept.
	return &found, w.add(found, Child{Location: p.Location(), Misspelt: p.Misspelt(), Operator: operator, Version: version})
}

// count refuses what is too much together, though each package is small enough by itself.
func (w *walk) count(p *bundle.Package) error {
	values, bytes := p.Size()
	w.reads, w.values, w.bytes = w.reads+1, w.values+values, w.bytes+bytes
	switch {
	case w.reads > maxReads:
		return fmt.Errorf("operator package %q: with it, more than %d packages are read for the children of one; name each child in fewer tasks", p.Location(), maxReads)
	case w.values > maxValues:
		return fmt.Errorf("operator package %q: with it, the children have more than %d values together in operator.yaml and params.yaml", p.Location(), maxValues)
	case w.bytes > maxBytes:
		return fmt.Errorf("operator package %q: with it, the children have more than %d MiB together", p.Location(), maxBytes>>20)
	}
	return nil
}

// byName finds a child that is installed already.
func (w *walk) byName(ctx context.Context, spec *v1beta1.TaskSpec) (*identity, error) {
	for _, parent := range w.above {
		if parent.meets(spec) {
			return nil, w.circle(parent)
		}
	}
	if w.Installed == nil {
		return nil, nil
	}
	version, err := w.Installed.Find(ctx, spec.Package, spec.AppVersion, spec.OperatorVersion)
	if err != nil {
		return nil, err
	}
	if version == nil {
		return nil, fmt.Errorf("failed to resolve package Operator: %q, OperatorVersion: %q, AppVersion %q: the namespace has no such operator; install it first with --skip-instance, or name it by path, such as ./%s, or by URL",
			spec.Package, anyVersion(spec.OperatorVersion), anyVersion(spec.AppVersion), spec.Package)
	}
	found := identity{version.Spec.Operator.Name, version.Spec.AppVersion, version.Spec.Version}
	if w.known[found] {
		return &found, nil
	}
	if err := w.enter(found); err != nil {
		return nil, err
	}
	defer w.leave()
	for i := range version.Spec.Tasks {
		if task := &version.Spec.Tasks[i]; task.Kind == v1beta1.KudoOperatorTaskKind && task.Spec.Package != "" {
			if _, err := w.byName(ctx, &task.Spec); err != nil {
				return nil, fmt.Errorf("operatorversion %s: task %q: %w", version.Name, task.Name, err)
			}
		}
	}
	return &found, w.add(found, Child{Version: version})
}

// add records a child.
func (w *walk) add(found identity, child Child) error {
	w.known[found] = true
	if w.children = append(w.children, child); len(w.children) > maxChildren {
		return fmt.Errorf("the operator needs more than %d others", maxChildren)
	}
	return nil
}

// enter begins with the children of an operator, unless they are being looked for already.
func (w *walk) enter(self identity) error {
	if slices.Contains(w.above, self) {
		return w.circle(self)
	}
	if len(w.above) >= maxDepth {
		return fmt.Errorf("children of children are nested deeper than %d", maxDepth)
	}
	w.above = append(w.above, self)
	return nil
}

// leave ends what enter began.
func (w *walk) leave() { w.above = w.above[:len(w.above)-1] }

// circle is the error of an operator that needs itself. It names all that take part.
func (w *walk) circle(again identity) error {
	var names []string
	for _, parent := range w.above[slices.Index(w.above, again):] {
		names = append(names, parent.String())
	}
	last := w.above[len(w.above)-1]
	return fmt.Errorf("cyclic package dependency found when adding package %s -> %s: %s -> %s; an operator cannot need itself",
		last, again, strings.Join(names, " -> "), again)
}

// anyVersion is how KUDO writes that no version was asked for.
func anyVersion(version string) string {
	if version == "" {
		return "any"
	}
	return version
}
