// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command models-schema prints the OpenAPI v2 document of the API types, without paths. The generator of apply
// configurations reads it to learn which lists are maps.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"kudo.dev/kudo/generated/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var names []string
	noRefs := func(name string) spec.Ref { return spec.Ref{} }
	for name := range openapi.GetOpenAPIDefinitions(noRefs) {
		names = append(names, name)
	}
	config := &common.Config{
		Info:           &spec.Info{InfoProps: spec.InfoProps{Title: "kudo.dev", Version: "v1beta1"}},
		GetDefinitions: openapi.GetOpenAPIDefinitions,
	}
	document, err := builder.BuildOpenAPIDefinitionsForResources(config, names...)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(document)
}
