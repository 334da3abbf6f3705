// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"encoding/base64"
	"fmt"
	"path"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// MaxSize is how many bytes a Secret or a ConfigMap holds.
const MaxSize = 1 << 20

const (
	secretKind    = "Secret"
	configMapKind = "ConfigMap"
)

// File is the path that a pipe reads.
func File(p v1beta1.PipeSpec) string { return file(p) }

// Artifact makes the object that keeps a file: a file as it is under its own name, of an envFile each line under its key. Errors are
// final.
func Artifact(p v1beta1.PipeSpec, name string, content []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": p.Kind}}
	obj.SetName(name)
	if p.Kind == secretKind {
		obj.Object["type"] = "Opaque"
	}
	if len(content) > MaxSize {
		return nil, TooLarge(p, int64(len(content)))
	}
	if p.File != "" {
		field := "data"
		if p.Kind == configMapKind {
			field = "binaryData"
		}
		obj.Object[field] = map[string]any{path.Base(p.File): base64.StdEncoding.EncodeToString(content)}
		return obj, nil
	}
	entries, err := parseEnv(content)
	if err != nil {
		return nil, fault.Finalf(fault.ReasonPipe, "the envFile %s: %w", p.EnvFile, err)
	}
	data := map[string]any{}
	for key, value := range entries {
		switch {
		case p.Kind == secretKind:
			data[key] = base64.StdEncoding.EncodeToString([]byte(value))
		case utf8.ValidString(value):
			data[key] = value
		default:
			return nil, fault.Finalf(fault.ReasonPipe, "the envFile %s: the value of %s is not UTF-8 text, which a ConfigMap needs; store it in a Secret", p.EnvFile, key)
		}
	}
	obj.Object["data"] = data
	return obj, nil
}

// TooLarge is the error for a file of so many bytes.
func TooLarge(p v1beta1.PipeSpec, size int64) error {
	return fault.Finalf(fault.ReasonPipe, "the pipe file %s has %d bytes, and a %s holds %d (1 MiB); write less, or split it into several files", file(p), size, p.Kind, MaxSize)
}

// Check returns what is wrong with the entries of a Pipe task, nil if nothing.
func Check(spec *v1beta1.TaskSpec) error {
	if spec.Pod == "" {
		return fmt.Errorf("it names no pod: set spec.pod to the template of a Pod")
	}
	if len(spec.Pipe) == 0 {
		return fmt.Errorf("it names no files: set spec.pipe to a list of file or envFile, kind and key")
	}
	for i, p := range spec.Pipe {
		switch {
		case (p.File == "") == (p.EnvFile == ""):
			return fmt.Errorf("spec.pipe[%d] must have either file or envFile", i)
		case p.Kind != secretKind && p.Kind != configMapKind:
			return fmt.Errorf("spec.pipe[%d] has the kind %q; it must be Secret or ConfigMap", i, p.Kind)
		case p.Key == "":
			return fmt.Errorf("spec.pipe[%d] has no key, by which templates find the object in .Pipes", i)
		}
	}
	return nil
}
