// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kuttl

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// moved are API versions that Kubernetes no longer serves and suites ask for. Nobody could answer, so the copy of a suite asks for
// the object in the version that took the other's place. Packages are never changed.
var moved = map[string]string{"apiextensions.k8s.io/v1beta1": "apiextensions.k8s.io/v1"}

var question = regexp.MustCompile(`^[0-9]+-(assert|errors)\.ya?ml$`)

// theirs are the suites of KUDO, by the clusters they were written for. They are not part of this repository.
var theirs = map[string][]string{
	"integration": {
		"cli-install", "dependencies-package-create", "first-operator-test", "install-existing-crds-in-operator",
		"instance-controller-param-change-custom-trigger", "instance-controller-param-change-fallback-to-deploy",
		"instance-controller-param-change-no-trigger", "instance-controller-upgrade",
		"instance-controller-upgrade-fallback-to-deploy", "invalid-crd-install", "operator-test", "operator-with-custom-crd",
		"operator-with-dependencies", "parameter-types", "parameter-types-operator", "parse-param-operator-in-operator",
		"rendering-error-plan-failed", "update-command", "upgrade-command",
	},
	"e2e": {
		"cli-install-uninstall", "dependencies-hash", "immutable-parameter", "immutable-parameter-with-default", "plan-trigger",
		"readiness", "upgrade",
	},
}

// shared is the folder with KUDO's suites, empty if there is none.
func shared() string {
	if dir := os.Getenv("KUDO_SHARED"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "kuttl")); err == nil {
			return filepath.Join(dir, "kuttl")
		}
	}
	return ""
}

// copySuites copies suites to where they may write files, and names them. Of two with one name the first counts: ours in testdata
// stand in for suites of KUDO that the shared folder does not have.
func copySuites(t *testing.T, to string, from ...string) []string {
	t.Helper()
	var names []string
	for _, dir := range from {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() || slices.Contains(names, e.Name()) {
				continue
			}
			names = append(names, e.Name())
			if err := os.CopyFS(filepath.Join(to, e.Name()), os.DirFS(filepath.Join(dir, e.Name()))); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !question.MatchString(d.Name()) {
			return err
		}
		return translate(t, to, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func translate(t *testing.T, root, path string) error {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(data)
	for old, successor := range moved {
		text = strings.ReplaceAll(text, "apiVersion: "+old+"\n", "apiVersion: "+successor+"\n")
	}
	if text == string(data) {
		return nil
	}
	t.Logf("%s asks for an API version that Kubernetes has retired, and is given its successor", strings.TrimPrefix(path, root+"/"))
	return os.WriteFile(path, []byte(text), 0o644)
}

// result is the end of one suite.
type result struct {
	passed bool
	took   string
	// said are the lines of the output that concern the suite.
	said []string
}

var (
	verdict = regexp.MustCompile(`^ *--- (PASS|FAIL): kuttl/harness/(\S+) \((\S+)\)$`)
	line    = regexp.MustCompile(`\| ([a-z0-9-]+)(/\S+)? \|`)
)

// results reads the output of kuttl.
func results(output string) map[string]*result {
	out := map[string]*result{}
	of := func(suite string) *result {
		if out[suite] == nil {
			out[suite] = &result{}
		}
		return out[suite]
	}
	var current string
	for text := range strings.Lines(output) {
		text = strings.TrimRight(text, "\n")
		if m := verdict.FindStringSubmatch(text); m != nil {
			current = m[2]
			of(current).passed, of(current).took = m[1] == "PASS", m[3]
		} else if m := line.FindStringSubmatch(text); m != nil {
			current = m[1]
		}
		if current != "" {
			of(current).said = append(of(current).said, text)
		}
	}
	return out
}

func (r *result) String() string {
	return fmt.Sprintf("%v in %s:\n%s", r.passed, r.took, strings.Join(r.said, "\n"))
}
