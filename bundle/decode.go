// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// yamlLine matches the place in an error of the YAML parsers.
var yamlLine = regexp.MustCompile(`(?s)^.*?line (\d+): (.*)$`)

// decode reads operator.yaml or params.yaml into a struct, and returns the nodes from which lines are known, and how many
// values there are. The nodes are nil if the parser that keeps lines, which is the stricter one, cannot read what the other
// can.
func decode(file string, text []byte, into any) (*yamlv3.Node, int, []*Fault) {
	if fault := checkText(file, text); fault != nil {
		return nil, 0, []*Fault{fault}
	}
	values := roughly(text)
	if values > maxValues {
		return nil, 0, []*Fault{{File: file, Message: fmt.Sprintf("it has more than %d values; an operator package describes one operator", maxValues)}}
	}
	node := &yamlv3.Node{}
	if err := yamlv3.Unmarshal(text, node); err != nil {
		node = nil
	}
	if root := content(node); root != nil {
		left := maxValues
		if fault := expand(root, &left, 0); fault != nil {
			fault.File = file
			return nil, 0, []*Fault{fault}
		}
		values = maxValues - left
	}
	err := yaml.Unmarshal(text, into)
	if err == nil {
		return node, values, nil
	}
	var faults []*Fault
	if root := content(node); root != nil {
		check := fieldCheck{file: file}
		check.value(root, reflect.TypeOf(into).Elem(), "")
		for _, mistake := range check.mistakes {
			if mistake.Kind == WrongType {
				faults = append(faults, &mistake.Fault)
			}
		}
	}
	if len(faults) == 0 {
		faults = []*Fault{syntax(file, err)}
	}
	return nil, 0, faults
}

// syntax makes a fault of an error of the YAML parser.
func syntax(file string, err error) *Fault {
	message := err.Error()
	for _, noise := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "yaml: "} {
		message = strings.Replace(message, noise, "", 1)
	}
	fault := &Fault{File: file, Message: "it cannot be read: " + message}
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		fault.Line, _ = strconv.Atoi(m[1])
		fault.Message = "it is not valid YAML: " + strings.ReplaceAll(strings.TrimSpace(m[2]), "\n ", "")
	}
	return fault
}

// roughly counts what may separate values, which is never less than the values. The parsers need about 300 bytes for
// each, so that a small file of nothing but commas would fill the memory.
func roughly(text []byte) int {
	n := 0
	for _, separator := range []string{",", "[", "{", "- ", "-\n", ":\n", ": "} {
		n += bytes.Count(text, []byte(separator))
	}
	return n
}

// expand counts the values below a node, those that aliases repeat too, and refuses too many and too deep ones.
func expand(node *yamlv3.Node, left *int, depth int) *Fault {
	if *left--; *left < 0 {
		return &Fault{Line: node.Line, Message: fmt.Sprintf("with what its aliases repeat, it has more than %d values; write out what is needed", maxValues)}
	}
	if depth > maxDepth {
		return &Fault{Line: node.Line, Message: fmt.Sprintf("values are nested deeper than %d", maxDepth)}
	}
	if node.Kind == yamlv3.AliasNode {
		if node.Alias == nil {
			return nil
		}
		return expand(node.Alias, left, depth+1)
	}
	for _, child := range node.Content {
		if fault := expand(child, left, depth+1); fault != nil {
			return fault
		}
	}
	return nil
}

// severalDocuments says whether there is more in a file than its first document.
func severalDocuments(text []byte) bool {
	if !bytes.Contains(text, []byte("\n---")) {
		return false
	}
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	var node yamlv3.Node
	for range 2 {
		node = yamlv3.Node{}
		if err := decoder.Decode(&node); err != nil {
			return false
		}
	}
	return true
}
