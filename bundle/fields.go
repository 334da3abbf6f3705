// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MistakeKind says what is wrong with a key or value of operator.yaml or params.yaml.
type MistakeKind int

const (
	// WrongType is a value that cannot be read, such as text where a list is expected.
	WrongType MistakeKind = iota
	// Misspelt is a key that the format does not know, and that differs by a letter or two from one it knows.
	Misspelt
	// UnknownKey is a key that the format does not know. It is far from all others, or close to one that only people read.
	UnknownKey
	// OtherCase is a key in other letter case than the format has it. It is read all the same.
	OtherCase
	// DuplicateKey is a key that a mapping has twice. The last one is read.
	DuplicateKey
)

// Mistake is what reading a file does not complain of, because KUDO did not.
type Mistake struct {
	Fault
	// Kind of the mistake.
	Kind MistakeKind
}

// Mistakes compares the keys and values of operator.yaml and params.yaml with those of the format, in the order of the
// files. Reading ignores keys that it does not know; this is where they are found.
func (p *Package) Mistakes() []Mistake {
	var mistakes []Mistake
	for _, file := range []struct {
		name string
		of   any
	}{{OperatorFileName, p.Operator}, {ParamsFileName, p.Params}} {
		if root := content(p.nodes[file.name]); root != nil {
			check := fieldCheck{file: file.name}
			check.value(root, reflect.TypeOf(file.of), "")
			mistakes = append(mistakes, check.mistakes...)
		}
	}
	return mistakes
}

// Misspelt returns those of the Mistakes that most likely are not meant so, and have no effect.
func (p *Package) Misspelt() []Mistake {
	var misspelt []Mistake
	for _, mistake := range p.Mistakes() {
		if mistake.Kind == Misspelt {
			misspelt = append(misspelt, mistake)
		}
	}
	return misspelt
}

// fieldCheck compares YAML with a Go type.
type fieldCheck struct {
	file     string
	mistakes []Mistake
}

func (c *fieldCheck) add(kind MistakeKind, node *yaml.Node, format string, args ...any) {
	c.mistakes = append(c.mistakes, Mistake{Kind: kind, Fault: Fault{File: c.file, Line: node.Line, Column: node.Column, Message: fmt.Sprintf(format, args...)}})
}

var rawType = reflect.TypeFor[json.RawMessage]()

// value compares a value with a type; the path names it. What is null is as if it were absent.
func (c *fieldCheck) value(node *yaml.Node, t reflect.Type, path string) {
	node = resolved(node)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tag := node.ShortTag()
	if tag == "!!null" {
		return
	}
	if t == rawType {
		if tag == "!!float" && strings.ContainsAny(strings.ToLower(node.Value), "in") {
			c.add(WrongType, node, "%s is %s, which is no number that can be stored; quote it if it is text", name(path), node.Value)
		}
		return
	}
	wrong := func(want string) {
		c.add(WrongType, node, "%s is %s, but has to be %s", name(path), describe(node), want)
	}
	switch t.Kind() {
	case reflect.Struct:
		if node.Kind != yaml.MappingNode {
			wrong("a mapping")
			return
		}
		c.fields(node, t, path)
	case reflect.Map:
		if node.Kind != yaml.MappingNode {
			wrong("a mapping")
			return
		}
		c.keys(node, path, strings.Clone, func(_, value *yaml.Node, at string) { c.value(value, t.Elem(), at) })
	case reflect.Slice:
		if node.Kind != yaml.SequenceNode {
			wrong("a list")
			return
		}
		for i, item := range node.Content {
			c.value(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.String:
		if node.Kind != yaml.ScalarNode {
			wrong("text")
		}
	case reflect.Bool:
		if node.Kind != yaml.ScalarNode || node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 || !slices.Contains(booleans, strings.ToLower(node.Value)) {
			wrong("true or false, without quotes")
		}
	case reflect.Int:
		if _, err := strconv.ParseInt(node.Value, 0, 64); node.Kind != yaml.ScalarNode || tag != "!!int" || err != nil {
			wrong("a whole number, without quotes")
		}
	}
}

// booleans are what YAML 1.1 takes for one.
var booleans = []string{"y", "yes", "true", "on", "n", "no", "false", "off"}

// fields compares a mapping with the fields of a struct.
func (c *fieldCheck) fields(node *yaml.Node, t reflect.Type, path string) {
	types := map[string]reflect.Type{}
	var known []string
	for field := range t.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		types[key] = field.Type
		known = append(known, key)
	}
	// Fields match without regard to case.
	c.keys(node, path, strings.ToLower, func(key, value *yaml.Node, at string) {
		if of, ok := types[key.Value]; ok {
			c.value(value, of, at)
			return
		}
		for _, exact := range known {
			if strings.EqualFold(exact, key.Value) {
				c.add(OtherCase, key, "%s: write %q as %q", name(path), key.Value, exact)
				c.value(value, types[exact], at)
				return
			}
		}
		if similar, sure := nearest(key.Value, known); similar != "" {
			kind := Misspelt
			if !sure || withoutEffect[similar] {
				kind = UnknownKey
			}
			c.add(kind, key, "%s: there is no field %q; did you mean %q?", name(path), key.Value, similar)
			return
		}
		c.add(UnknownKey, key, "%s: there is no field %q, so it has no effect; there are %s", name(path), key.Value, strings.Join(known, ", "))
	})
}

// keys calls each for the entries of a mapping, and for those that are merged into it with <<. Keys of which same returns
// the same are one key.
func (c *fieldCheck) keys(node *yaml.Node, path string, same func(string) string, each func(key, value *yaml.Node, path string)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merged := []*yaml.Node{resolved(value)}
			if merged[0].Kind == yaml.SequenceNode {
				merged = merged[0].Content
			}
			for _, from := range merged {
				if from = resolved(from); from.Kind == yaml.MappingNode {
					c.keys(from, path, same, each)
				}
			}
			continue
		}
		if key.Kind != yaml.ScalarNode {
			c.add(WrongType, key, "%s: a key is %s, but has to be text", name(path), describe(key))
			continue
		}
		folded := same(key.Value)
		if line, twice := seen[folded]; twice {
			c.add(DuplicateKey, key, "%s: the key %q is there twice, first in line %d; the first one has no effect", name(path), key.Value, line)
		}
		seen[folded] = key.Line
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		each(key, value, at)
	}
}

// withoutEffect are the fields that only people read. Packages in the field have them misspelt, and work.
var withoutEffect = map[string]bool{"description": true, "displayName": true, "hint": true, "url": true, "email": true, "kudoVersion": true}

// name is how messages name a path.
func name(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// describe says what a value is.
func describe(node *yaml.Node) string {
	switch node = resolved(node); {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case len(node.Value) > 40:
		return fmt.Sprintf("%.40q…", node.Value)
	case node.ShortTag() == "!!str":
		return fmt.Sprintf("the text %q", node.Value)
	default:
		return node.Value
	}
}
