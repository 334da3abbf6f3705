// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import "slices"

// structural makes a schema that v1beta1 took one that v1 takes: every value has a type or may be anything, and what is alternative or
// combined says nothing about types. Where the old schema said nothing, the new one allows everything; it never allows less.
func structural(node map[string]any) {
	junctors(node)
	delete(node, "uniqueItems") // v1 knows false only
	if p, ok := node["properties"].(map[string]any); ok {
		for _, child := range p {
			if m, ok := child.(map[string]any); ok {
				structural(m)
			}
		}
		defaultTo(node, "object")
	}
	switch items := node["items"].(type) {
	case map[string]any:
		structural(items)
		defaultTo(node, "array")
	case []any: // one schema for each place, which v1 does not know
		node["items"] = map[string]any{anything: true}
		defaultTo(node, "array")
	}
	switch more := node["additionalProperties"].(type) {
	case map[string]any:
		structural(more)
		defaultTo(node, "object")
	case bool:
		delete(node, "additionalProperties")
		if more {
			node[anything] = true
		}
		defaultTo(node, "object")
	}
	if _, both := node["properties"].(map[string]any); both && node["additionalProperties"] != nil {
		delete(node, "additionalProperties")
		node[anything] = true
	}
	switch {
	case node["type"] == "array" && node["items"] == nil:
		node["items"] = map[string]any{anything: true}
	case node["type"] == nil && node[intOrString] != true:
		node[anything] = true
	}
}

const (
	anything    = "x-kubernetes-preserve-unknown-fields"
	intOrString = "x-kubernetes-int-or-string"
)

func defaultTo(node map[string]any, kind string) {
	if node["type"] == nil && node[intOrString] != true {
		node["type"] = kind
	}
}

// junctors takes out of alternatives what says what a value is, rather than which values are valid. An integer or a string, which was
// written as alternative types, has a mark in v1.
func junctors(node map[string]any) {
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := node[name].([]any)
		if len(list) == 0 {
			continue
		}
		var types []any
		for _, item := range list {
			m, _ := item.(map[string]any)
			if len(m) == 1 && (m["type"] == "integer" || m["type"] == "string") {
				types = append(types, m["type"])
			}
			withoutTypes(m)
		}
		if len(types) == 2 && len(list) == 2 && types[0] != types[1] {
			delete(node, "type")
			delete(node, name)
			node[intOrString] = true
			continue
		}
		if !slices.ContainsFunc(list, func(v any) bool { m, ok := v.(map[string]any); return ok && len(m) > 0 }) {
			delete(node, name)
		}
	}
	if m, ok := node["not"].(map[string]any); ok {
		withoutTypes(m)
		if len(m) == 0 {
			delete(node, "not")
		}
	}
}

func withoutTypes(node map[string]any) {
	for _, field := range []string{"type", "additionalProperties", "description", "title", "default", "nullable", "example", anything, intOrString} {
		delete(node, field)
	}
	for key, child := range node {
		switch c := child.(type) {
		case map[string]any:
			if key != "properties" {
				withoutTypes(c)
				continue
			}
			for _, property := range c { // its keys are names of fields, which may be "type", too
				if m, ok := property.(map[string]any); ok {
					withoutTypes(m)
				}
			}
		case []any:
			for _, item := range c {
				if m, ok := item.(map[string]any); ok {
					withoutTypes(m)
				}
			}
		}
	}
}
