// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/test/integration/runs/lab"
)

// skipped are packages that need what is not there yet.
var skipped = map[string]string{
	"cowsay": "the pod of its Pipe task has to write a file, and there are no real containers here",
}

// plans are further plans of packages, run after the installation.
var plans = map[string][]string{
	"mysql":     {"backup", "restore", "backup"},
	"zookeeper": {"validation"},
}

// expectation is one recorded installation by KUDO 0.19.
type expectation struct {
	Objects []map[string]any
	Deploy  string
	Params  []string
	Steps   []string
}

// TestPackages installs published packages unchanged and compares what is in the cluster afterwards with what KUDO made
// of them. KUDO_SHARED names the folder that holds the packages and the recordings.
func TestPackages(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("KUDO_SHARED")
	if shared == "" {
		shared = filepath.Join(filepath.Dir(lab.Root(t)), "shared")
	}
	files, _ := filepath.Glob(filepath.Join(shared, "operators", "expected", "*.json"))
	if len(files) == 0 {
		t.Skipf("no recordings in %s: set KUDO_SHARED to the folder that holds operators/expected", filepath.Join(shared, "operators"))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			if why := skipped[name]; why != "" {
				t.Skip(why)
			}
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want expectation
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			l := room.Enter(t)
			// The recorded objects carry the name of their namespace.
			ns := name + "-example"
			if _, err := l.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, p := range want.Params {
				args = append(args, "-p", p)
			}
			installPackage(t, l, ns, filepath.Join(shared, "operators", name), args...)
			compareSteps(t, l, ns, want)
			compareObjects(t, l, ns, want)
			for _, plan := range plans[name] {
				runPlan(t, l, ns, plan)
			}
		})
	}
}

func compareSteps(t *testing.T, l *lab.Lab, ns string, want expectation) {
	t.Helper()
	i := l.Unlocked(t, ns, "sample")
	var got []string
	for _, p := range i.Status.PlanStatus["deploy"].Phases {
		for _, s := range p.Steps {
			got = append(got, p.Name+"/"+s.Name+"="+string(s.Status))
		}
	}
	if strings.Join(got, " ") != strings.Join(want.Steps, " ") {
		t.Errorf("steps %q, want %q", got, want.Steps)
	}
}
