// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Line says in which line of operator.yaml or params.yaml something stands. The path leads there from the root of the
// file: names of keys, and ints that count entries of lists from 0. Where it does not lead on, the line is that of the last
// key or entry found. 0 stands for unknown.
func (p *Package) Line(file string, path ...any) int {
	node := content(p.nodes[file])
	if node == nil {
		return 0
	}
	line := node.Line
	for _, step := range path {
		next, at := child(node, step)
		if next == nil {
			break
		}
		node, line = next, at
	}
	return line
}

// fault makes a Fault of what stands at a path of operator.yaml or params.yaml.
func (p *Package) fault(file, message string, path ...any) *Fault {
	return &Fault{File: file, Line: p.Line(file, path...), Message: message}
}

// child returns the entry of a mapping or list and the line where it begins.
func child(node *yaml.Node, step any) (*yaml.Node, int) {
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step >= 0 && step < len(node.Content) {
			entry := node.Content[step]
			return resolved(entry), entry.Line
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, 0
		}
		// Of a key that is there twice the last wins.
		for i := len(node.Content) - 2; i >= 0; i -= 2 {
			if strings.EqualFold(node.Content[i].Value, step) {
				return resolved(node.Content[i+1]), node.Content[i].Line
			}
		}
	}
	return nil, 0
}

// content is the node of what a document holds, nil if it is empty.
func content(document *yaml.Node) *yaml.Node {
	if document == nil || document.Kind != yaml.DocumentNode || len(document.Content) == 0 {
		return nil
	}
	return resolved(document.Content[0])
}

// resolved is what an alias stands for, and every other node itself.
func resolved(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	return node
}
