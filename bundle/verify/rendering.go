// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/render"
)

// purpose says what a template is for, and so what it has to give.
type purpose int

const (
	// objects are those of a task, or of nobody.
	objects purpose = iota
	// pod is that of a Pipe task.
	pod
	// childParameters are the parameter file of a KudoOperator task.
	childParameters
)

// rendering renders every template as a plan would, with the defaults of all parameters and the keys of all pipes, and
// reads what comes out.
//
// Parameters without a default have a value in every run, but here none is known; and those that are empty by default may
// have a value whenever the template is used, as that of a Toggle that is off. The template is right if it renders with one
// of three guesses: what is unknown is the empty text, which KUDO takes; it is a value of the parameter's type; or the empty
// texts are replaced, too.
func (c *checker) rendering() {
	guesses := make([]render.Variables, 0, 3)
	for i, values := range []map[string]string{nil, c.placeholders(false), c.placeholders(true)} {
		if i > 0 && len(values) == 0 {
			continue
		}
		v, err := c.variables(values)
		if err != nil {
			// The rule on defaults has found it; if not, it is said here.
			if c.result.Valid() {
				c.params(Error, at("parameters"), "%v", err)
			}
			return
		}
		guesses = append(guesses, v)
	}
	purposes := c.purposes()
	for _, name := range slices.Sorted(maps.Keys(c.p.Templates)) {
		for _, p := range purposes[name] {
			var err error
			for _, v := range guesses {
				if err = c.renders(name, p, v); err == nil {
					break
				}
			}
			if err != nil {
				c.notRendered(name, err)
			}
		}
	}
}

// purposes says what each template is for; it may be for several things.
func (c *checker) purposes() map[string][]purpose {
	found := map[string][]purpose{}
	for i := range c.p.Operator.Tasks {
		task, is := &c.p.Operator.Tasks[i], objects
		switch task.Kind {
		case v1beta1.PipeTaskKind:
			is = pod
		case v1beta1.KudoOperatorTaskKind:
			is = childParameters
		}
		taskTemplates(task, func(name string) {
			if !slices.Contains(found[name], is) {
				found[name] = append(found[name], is)
			}
		})
	}
	for name := range c.p.Templates {
		if found[name] == nil && name != c.p.Operator.NamespaceManifest {
			found[name] = []purpose{objects}
		}
	}
	return found
}

// variables are what templates see: each variable has its own name as value.
func (c *checker) variables(values map[string]string) (render.Variables, error) {
	v := render.Variables{OperatorName: "OperatorName", Name: "Name", Namespace: "Namespace", AppVersion: "AppVersion",
		OperatorVersion: "OperatorVersion", PlanName: "PlanName", PhaseName: "PhaseName", StepName: "StepName", Pipes: map[string]string{}}
	for _, task := range c.p.Operator.Tasks {
		for _, pipe := range task.Spec.Pipe {
			v.Pipes[pipe.Key] = "Pipes-" + pipe.Key
		}
	}
	var err error
	v.Params, err = render.Parameters(c.wire, values, nil)
	return v, err
}

// placeholders are values for the parameters that have no default, and, with empty, for those whose default is empty.
func (c *checker) placeholders(empty bool) map[string]string {
	values := map[string]string{}
	for _, p := range c.wire {
		switch {
		case p.Default != nil && (!empty || *p.Default != ""):
		case len(p.Enum) > 0:
			// Of values that may be empty another one is more likely to make an object.
			values[p.Name] = slices.MaxFunc(p.Enum, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
		case p.Type == v1beta1.IntegerValueType || p.Type == v1beta1.NumberValueType:
			values[p.Name] = "1"
		case p.Type == v1beta1.BooleanValueType:
			values[p.Name] = "true"
		default:
			values[p.Name] = p.Name
		}
	}
	return values
}

// renders says why a template does not give what it is for.
func (c *checker) renders(name string, is purpose, v render.Variables) error {
	if is == childParameters {
		// A child gets its parameters before any of its plans runs.
		v.PlanName, v.PhaseName, v.StepName, v.Pipes = "", "", "", nil
	}
	text, err := render.Template(name, c.p.Templates[name], v)
	if err != nil {
		return err
	}
	switch is {
	case pod:
		_, err = render.PipePod(name, text)
	case childParameters:
		var values map[string]any
		err = yaml.Unmarshal([]byte(text), &values)
	default:
		_, err = render.Objects(name, text)
	}
	return err
}

// documentLine matches where an error of reading rendered objects says that it is.
var documentLine = regexp.MustCompile(`^template ".*?", document \d+ \(line (\d+)\): `)

// notRendered records why a template does not render. Lines of what was rendered are not those of the template, so they are
// said in words.
func (c *checker) notRendered(name string, err error) {
	if place, ok := errors.AsType[*render.Error](err); ok {
		c.add(Error, bundle.Fault{File: c.p.TemplateFile(name), Line: place.Line, Column: place.Column, Message: place.Message})
		return
	}
	text := err.Error()
	if m := documentLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		c.template(Error, name, 0, "rendered with the defaults, the document that begins in line %d: %s", line, text[len(m[0]):])
		return
	}
	c.template(Error, name, 0, "rendered with the defaults: %s", text)
}
