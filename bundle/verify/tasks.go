// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/resolve"
)

// pipeKey is what the key of a pipe may be.
var pipeKey = regexp.MustCompile(`^[a-zA-Z0-9_\-]+$`)

// options says which fields of spec each kind of task reads.
var options = map[string][]string{
	v1beta1.ApplyTaskKind:        {"resources"},
	v1beta1.DeleteTaskKind:       {"resources"},
	v1beta1.ToggleTaskKind:       {"resources", "parameter"},
	v1beta1.DummyTaskKind:        {"done", "wantErr", "fatal"},
	v1beta1.PipeTaskKind:         {"pod", "pipe"},
	v1beta1.KudoOperatorTaskKind: {"package", "instanceName", "appVersion", "operatorVersion", "parameterFile"},
}

// tasks checks that every task could be carried out.
func (c *checker) tasks() {
	for _, fault := range c.p.TaskFaults() {
		c.add(Error, *fault)
	}
	lines := map[string]int{}
	for i := range c.p.Operator.Tasks {
		task, path := &c.p.Operator.Tasks[i], at("tasks", i)
		if task.Name == "" {
			c.operator(Error, path, "tasks[%d] has no name, so no step can refer to it", i)
		} else if first, twice := lines[task.Name]; twice {
			c.operator(Error, path, "task %q is defined twice, first%s", task.Name, inLine(first))
		} else {
			lines[task.Name] = c.p.Line(bundle.OperatorFileName, path...)
		}
		if known, ok := options[task.Kind]; ok {
			c.foreign(task, path, known)
		}
		switch task.Kind {
		case v1beta1.ApplyTaskKind, v1beta1.DeleteTaskKind, v1beta1.ToggleTaskKind:
			if len(task.Spec.Resources) == 0 {
				c.operator(Error, below(path, "spec"), "task %q: spec.resources is empty; a task of kind %s needs at least one template", task.Name, task.Kind)
			}
			if task.Kind == v1beta1.ToggleTaskKind {
				c.toggle(task, below(path, "spec", "parameter"))
			}
		case v1beta1.PipeTaskKind:
			c.pipes(task, below(path, "spec", "pipe"))
		case v1beta1.KudoOperatorTaskKind:
			if task.Spec.Package == "" {
				c.operator(Error, below(path, "spec"), "task %q: spec.package is missing; a task of kind KudoOperator needs the path, URL or name of the child operator", task.Name)
			}
		}
	}
}

// foreign finds options of another kind of task.
func (c *checker) foreign(task *v1beta1.Task, path []any, known []string) {
	s := &task.Spec
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"resources", len(s.Resources) > 0}, {"parameter", s.Parameter != ""}, {"done", s.Done}, {"wantErr", s.WantErr}, {"fatal", s.Fatal},
		{"pod", s.Pod != ""}, {"pipe", len(s.Pipe) > 0}, {"package", s.Package != ""}, {"instanceName", s.InstanceName != ""},
		{"appVersion", s.AppVersion != ""}, {"operatorVersion", s.OperatorVersion != ""}, {"parameterFile", s.ParameterFile != ""},
	} {
		if option.set && !slices.Contains(known, option.name) {
			c.operator(Warning, below(path, "spec", option.name), "task %q: a task of kind %s does not use spec.%s", task.Name, task.Kind, option.name)
		}
	}
}

// toggle checks the parameter of a Toggle: it has to exist and to hold a boolean.
func (c *checker) toggle(task *v1beta1.Task, path []any) {
	if task.Spec.Parameter == "" {
		return
	}
	i := slices.IndexFunc(c.wire, func(p v1beta1.Parameter) bool { return p.Name == task.Spec.Parameter })
	if i < 0 {
		c.operator(Error, path, "parameter %q in ToggleTask %q is not defined; add it to params.yaml or correct the name", task.Spec.Parameter, task.Name)
		return
	}
	p := &c.wire[i]
	switch p.Type {
	case v1beta1.BooleanValueType:
		return
	case v1beta1.ArrayValueType, v1beta1.MapValueType:
		c.operator(Error, path, "parameter %q in ToggleTask %q is of type %s, but has to be boolean", p.Name, task.Name, p.Type)
		return
	}
	if p.Default != nil {
		if _, err := strconv.ParseBool(*p.Default); err != nil {
			c.operator(Error, path, "parameter %q in ToggleTask %q has the default %q, which is neither true nor false", p.Name, task.Name, *p.Default)
			return
		}
	}
	if p.Type != "" {
		c.operator(Warning, path, "parameter %q in ToggleTask %q is of type %s; make it boolean, so that other values are refused", p.Name, task.Name, p.Type)
	}
}

// pipes checks what a Pipe stores.
func (c *checker) pipes(task *v1beta1.Task, path []any) {
	for i, pipe := range task.Spec.Pipe {
		where := fmt.Sprintf("task %q: spec.pipe[%d]", task.Name, i)
		if (pipe.File == "") == (pipe.EnvFile == "") {
			c.operator(Error, below(path, i), "%s: it needs exactly one of file and envFile", where)
		}
		if pipe.Kind != "Secret" && pipe.Kind != "ConfigMap" {
			c.operator(Error, below(path, i, "kind"), "%s: kind is %q, but has to be Secret or ConfigMap", where, pipe.Kind)
		}
		if !pipeKey.MatchString(pipe.Key) {
			c.operator(Error, below(path, i, "key"), "%s: key is %q, but has to be of letters, digits, - and _", where, pipe.Key)
		}
	}
}

// children finds children that cannot be read, and operators that need each other.
func children(ctx context.Context, c *checker) {
	_, _, err := resolve.Resolver{Offline: true}.Resolve(ctx, c.p)
	var fault *bundle.Fault
	switch {
	case errors.As(err, &fault):
		c.add(Error, *fault)
	case err != nil:
		c.operator(Error, at("tasks"), "%v", err)
	}
}
