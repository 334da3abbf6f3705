// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/apis/kudo/validation"
)

// types are those that a parameter may have.
var types = []v1beta1.ParameterType{"", v1beta1.StringValueType, v1beta1.IntegerValueType, v1beta1.NumberValueType,
	v1beta1.BooleanValueType, v1beta1.ArrayValueType, v1beta1.MapValueType}

// parameterNames finds names that are missing, there twice, or hard to give on a command line.
func parameterNames(c *checker) {
	lines := map[string]int{}
	for i, p := range c.p.Params.Parameters {
		path := at("parameters", i, "name")
		if p.Name == "" {
			c.params(Error, path, "parameters[%d] has no name", i)
			continue
		}
		folded := strings.ToLower(p.Name)
		if first, twice := lines[folded]; twice {
			c.params(Error, path, "parameter %q has a duplicate%s", p.Name, inLine(first))
		} else {
			lines[folded] = c.p.Line("params.yaml", path...)
		}
		for _, character := range []string{",", ";"} {
			if strings.Contains(p.Name, character) {
				c.params(Error, path, "parameter %q contains invalid character '%s'", p.Name, character)
			}
		}
	}
}

// inLine says where something is, if it is known.
func inLine(line int) string {
	if line == 0 {
		return ""
	}
	return " in line " + strconv.Itoa(line)
}

// triggers finds triggers of plans that do not exist.
func triggers(c *checker) {
	for i, p := range c.p.Params.Parameters {
		if _, ok := c.p.Operator.Plans[p.Trigger]; p.Trigger != "" && !ok {
			c.params(Error, at("parameters", i, "trigger"), "plan %q used in parameter %q is not defined; correct the name, or add the plan to operator.yaml", p.Trigger, p.Name)
		}
	}
}

// parameterValues checks types, defaults and enums. An empty default counts as none, as an empty value of an Instance
// does.
func parameterValues(c *checker) {
	for i := range c.wire {
		wire, source := &c.wire[i], &c.p.Params.Parameters[i]
		path := at("parameters", i)
		if !slices.Contains(types, wire.Type) {
			c.params(Error, below(path, "type"), "parameter %q: there is no type %q; there are string, integer, number, boolean, array and map", wire.Name, wire.Type)
			continue
		}
		hasDefault := wire.Default != nil
		if *wire.Immutable && !hasDefault && !*wire.Required {
			c.params(Error, path, "parameter %q is immutable but is not marked as required or has a default value; without a value it could never get one", wire.Name)
		}
		if source.Advanced != nil && *source.Advanced && *wire.Required && !hasDefault {
			c.params(Error, path, "parameter %q is marked as advanced, but also as required and has no default; make it optional or give it a default", wire.Name)
		}
		c.enum(i)
		if hasDefault && *wire.Default != "" {
			definition := kudo.Parameter{Type: kudo.ParameterType(wire.Type), Enum: kudo.EnumValues(wire.Enum)}
			for _, err := range validation.ValidateParameterValue(&definition, *wire.Default, field.NewPath("default")) {
				c.params(Error, below(path, "default"), "parameter %q: %v", wire.Name, err)
			}
		}
		if source.Default != nil && *wire.Required && wire.Default == nil {
			c.params(Warning, below(path, "default"), "parameter %q: its default is empty, which counts as none; write \"\" for an empty text, or remove the line", wire.Name)
		}
	}
}

// enum checks the values that a parameter may have.
func (c *checker) enum(i int) {
	wire := &c.wire[i]
	if wire.Enum == nil {
		return
	}
	path := at("parameters", i, "enum")
	if len(wire.Enum) == 0 {
		c.params(Error, path, "parameter %q is an enum but has no allowed values", wire.Name)
	}
	definition := kudo.Parameter{Type: kudo.ParameterType(wire.Type)}
	for n, value := range wire.Enum {
		for _, err := range validation.ValidateParameterValue(&definition, value, field.NewPath("enum").Index(n)) {
			c.params(Error, below(path, n), "parameter %q has an invalid enum value: %v", wire.Name, err)
		}
	}
}

// parameterGroups checks groups and who belongs to them.
func parameterGroups(c *checker) {
	groups := map[string]bool{}
	for i, group := range c.p.Params.Groups {
		path := at("groups", i, "name")
		if strings.Contains(group.Name, "/") {
			c.params(Error, path, "group %q contains invalid character '/'", group.Name)
		}
		if groups[group.Name] {
			c.params(Error, path, "group %q is duplicated", group.Name)
		}
		groups[group.Name] = true
	}
	for i, p := range c.p.Params.Parameters {
		path := at("parameters", i, "group")
		if strings.Contains(p.Group, "/") {
			c.params(Error, path, "parameter %q has a group with invalid character '/'", p.Name)
		}
		if p.Group != "" && !groups[p.Group] {
			c.params(Error, path, "parameter %q has a group that is not defined in the group section: add %q to groups", p.Name, p.Group)
		}
	}
}
