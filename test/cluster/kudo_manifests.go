// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/artifacts"
)

// applyManifests installs what artifacts/install holds, with the server's Service
// changed to lead to a process on loopback.
func (k *KUDO) applyManifests(ctx context.Context) error {
	manifests, err := k.manifests()
	if err != nil {
		return fmt.Errorf("cluster: install manifests: %w", err)
	}
	// Conflicts are forced, because a site's change to what is installed is not
	// what a test cluster is for.
	_, err = k.c.kubectl(ctx, Admin, bytes.NewReader(manifests),
		"apply", "--server-side", "--force-conflicts", "--field-manager=kudo-install", "-f", "-")
	if err != nil {
		return fmt.Errorf("cluster: install manifests: %w", err)
	}
	return nil
}

func (k *KUDO) manifests() ([]byte, error) {
	var list struct{ Resources []string }
	data, err := artifacts.Install.ReadFile("install/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, name := range list.Resources {
		data, err := artifacts.Install.ReadFile(path.Join("install", name))
		if err != nil {
			return nil, err
		}
		for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
			adapted, err := k.adapt(doc)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintf(&all, "---\n%s", adapted)
		}
	}
	return all.Bytes(), nil
}

// adapt leads the aggregator to the process: a Service of type ExternalName needs
// no endpoints, which may not be on loopback, and is called at the port the
// APIService names. The name the certificate is checked for stays that of the
// Service, so the server's certificate is no different from anywhere else.
func (k *KUDO) adapt(doc []byte) ([]byte, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(doc, &object.Object); err != nil {
		return nil, err
	}
	var err error
	switch object.GetKind() {
	case "Service":
		object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
	case "APIService":
		err = unstructured.SetNestedField(object.Object, int64(k.state.ServerPort), "spec", "service", "port")
	}
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(object.Object)
}
