// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Real packages render with their defaults. They are not part of the repository; KUDO_SHARED says where they are.
func TestRealPackages(t *testing.T) {
	shared := os.Getenv("KUDO_SHARED")
	if shared == "" {
		t.Skip("no real operator packages: set KUDO_SHARED to the folder that holds operators/")
	}
	folders, _ := filepath.Glob(filepath.Join(shared, "operators", "*", "templates"))
	if len(folders) == 0 {
		t.Skip("no real operator packages; set KUDO_SHARED to the folder that holds operators/")
	}
	for _, folder := range folders {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(folder), "params.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Parameters []struct {
				Name, Type string
				Default    any
			}
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		v := Variables{Name: "sample", Namespace: "ns", OperatorName: "op", PlanName: "p", PhaseName: "p", StepName: "s",
			Params: map[string]any{}, Pipes: map[string]string{"indexHtml": "x"}}
		for _, p := range file.Parameters {
			v.Params[p.Name] = p.Default
			if p.Type != "array" && p.Type != "map" {
				v.Params[p.Name] = ""
				if p.Default != nil {
					v.Params[p.Name] = fmt.Sprint(p.Default)
				}
			}
		}
		templates, _ := filepath.Glob(filepath.Join(folder, "*.yaml"))
		for _, path := range templates {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(strings.TrimPrefix(path, shared), func(t *testing.T) {
				out, err := Template(filepath.Base(path), string(text), v)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(path, "pipe-pod.yaml") {
					_, err = PipePod(filepath.Base(path), out)
				} else {
					_, err = Objects(filepath.Base(path), out)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
