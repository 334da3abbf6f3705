// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Objects reads the Kubernetes objects of a rendered template, in the order in which they stand there. The name is
// that of the template and serves errors, which say it with the number and the line of the document.
//
// Documents without content are skipped. A v1 List, and a list of one kind such as ConfigMapList, is replaced by its items. Everything else has to have apiVersion,
// kind and metadata.name; metadata.generateName is refused, because a plan that runs twice must find its object again.
func Objects(name, text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, doc := range documents(text) {
		where := fmt.Sprintf("template %q, document %d (line %d)", name, doc.number, doc.line)
		content, err := decode(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if content == nil {
			continue
		}
		object, ok := content.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: it is %s, not a Kubernetes object with apiVersion, kind and metadata", where, kindOf(content))
		}
		objects, err = appendObjects(objects, object, where)
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// decode reads YAML as Kubernetes does: by way of JSON, integers kept as such. A document of null is nil.
func decode(doc document) (any, error) {
	data, err := yaml.YAMLToJSON([]byte(doc.text))
	if err != nil {
		message := unknownAnchor.ReplaceAllLiteralString(err.Error(), "unknown anchor; a value that begins with * must be quoted")
		return nil, fmt.Errorf("it is not valid YAML: %s", shiftLines(message, doc.line-1))
	}
	var content any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("it is not valid YAML: %w", err)
	}
	return content, nil
}

// appendObjects appends the object, or the items of a List, after checking that each can be applied.
func appendObjects(objects []*unstructured.Unstructured, object map[string]any, where string) ([]*unstructured.Unstructured, error) {
	if itemKind, ok := listOf(object); ok {
		items, ok := object["items"].([]any)
		if !ok && object["items"] != nil {
			return nil, fmt.Errorf("%s: items of the %v is %s, not a list of objects", where, object["kind"], kindOf(object["items"]))
		}
		for i, item := range items {
			place := fmt.Sprintf("%s, items[%d]", where, i)
			child, ok := item.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: it is %s, not a Kubernetes object", place, kindOf(item))
			}
			if itemKind != "" && child["kind"] == nil && child["apiVersion"] == nil {
				child["kind"], child["apiVersion"] = itemKind, object["apiVersion"] // as the API server gives typed lists out
			}
			var err error
			if objects, err = appendObjects(objects, child, place); err != nil {
				return nil, err
			}
		}
		return objects, nil
	}
	if err := identified(object); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return append(objects, &unstructured.Unstructured{Object: object}), nil
}

// listOf tells whether the object is a list, and of which kind, which for a v1 List is left to its items. A kind such as ConfigMapList
// is a list if it has items and no name of its own: there are kinds of objects whose name ends so, too.
func listOf(object map[string]any) (itemKind string, ok bool) {
	kind, _ := object["kind"].(string)
	if kind == "List" && object["apiVersion"] == "v1" {
		return "", true
	}
	itemKind, ok = strings.CutSuffix(kind, "List")
	_, items := object["items"].([]any)
	metadata, _ := object["metadata"].(map[string]any)
	return itemKind, ok && itemKind != "" && items && metadata["name"] == nil && metadata["generateName"] == nil
}

// identified checks that the object says what it is and how it is called.
func identified(object map[string]any) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if err := requireText(object[field], field); err != nil {
			return err
		}
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok && object["metadata"] != nil {
		return fmt.Errorf("metadata is %s, not a mapping", kindOf(object["metadata"]))
	}
	kind := object["kind"]
	if metadata["name"] == nil && metadata["generateName"] != nil {
		return fmt.Errorf("%v has metadata.generateName; give it metadata.name instead, for example from {{ .Name }}, so that later runs find the same object", kind)
	}
	if err := requireText(metadata["name"], "metadata.name"); err != nil {
		return fmt.Errorf("%v: %w", kind, err)
	}
	if namespace := metadata["namespace"]; namespace != nil {
		if _, ok := namespace.(string); !ok {
			return fmt.Errorf("%v: metadata.namespace is %s; write it in quotes", kind, kindOf(namespace))
		}
	}
	return nil
}

// requireText checks that a required field is a text that is not empty.
func requireText(value any, field string) error {
	switch v := value.(type) {
	case string:
		if v != "" {
			return nil
		}
		return fmt.Errorf("%s is empty; every Kubernetes object needs apiVersion, kind and metadata.name", field)
	case nil:
		return fmt.Errorf("%s is missing; every Kubernetes object needs apiVersion, kind and metadata.name", field)
	default:
		return fmt.Errorf("%s is %s; write it in quotes", field, kindOf(value))
	}
}

// kindOf names the kind of a value for people.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "empty"
	case string:
		return "text"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	default:
		return fmt.Sprintf("the number %v", v)
	}
}

// unknownAnchor matches an error of the YAML parser that cites a value. Values may be secrets, and errors end up where
// more people may read than there.
var unknownAnchor = regexp.MustCompile(`(?s)unknown anchor '.*' referenced`)

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// shiftLines adds an offset to the lines that an error of the YAML parser names: it counts within the document, but
// people look at the whole text.
func shiftLines(message string, offset int) string {
	return yamlLine.ReplaceAllStringFunc(message, func(match string) string {
		return "line " + strconv.Itoa(number(yamlLine.FindStringSubmatch(match)[1])+offset)
	})
}
