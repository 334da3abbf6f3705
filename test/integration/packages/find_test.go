// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kudo.dev/kudo/bundle"
)

// pack is one package of the field.
type pack struct {
	// name is the folder, as a name that a namespace can begin with.
	name, dir string
	// recorded is what KUDO 0.19 made of it, nil if nobody recorded that.
	recorded *recording
}

// recording is one installation by KUDO 0.19.
type recording struct {
	// Objects were alive after the plan deploy, as they were applied.
	Objects []map[string]any
	// Deploy is how the plan ended, Steps how each step did.
	Deploy string
	Steps  []string
	// Install has what the installation said, "ok" for a package without errors.
	Install []string
	// Params were given to the installation, as name=value.
	Params []string
}

var notInNames = regexp.MustCompile("[^a-z0-9]+")

// find lists the packages, or skips the test.
func find(t *testing.T) []pack {
	t.Helper()
	roots := filepath.SplitList(os.Getenv("KUDO_PACKAGES"))
	if len(roots) == 0 {
		shared := os.Getenv("KUDO_SHARED")
		if shared == "" {
			t.Skip("no operator packages: set KUDO_SHARED to the folder that holds operators/, or KUDO_PACKAGES to folders of packages")
		}
		roots = []string{filepath.Join(shared, "operators")}
	}
	var out []pack
	for _, root := range roots {
		packs, err := below(root)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, packs...)
	}
	if len(out) == 0 {
		t.Skipf("no operator packages in %s: set KUDO_SHARED to the folder that holds operators/, or KUDO_PACKAGES to folders of packages", strings.Join(roots, ", "))
	}
	return out
}

// below lists the packages below a folder. If it has recordings, each package has to have one: under another name it would be
// compared with nothing.
func below(root string) (out []pack, err error) {
	recordings := filepath.Join(root, "expected")
	info, err := os.Stat(recordings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	compared := err == nil && info.IsDir()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() != bundle.OperatorFileName {
			return err
		}
		dir := filepath.Dir(path)
		name, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		if name == "." {
			name = filepath.Base(root)
		}
		found := pack{name: strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-"), dir: dir}
		if compared {
			found.recorded, err = record(filepath.Join(recordings, name+".json"))
		}
		out = append(out, found)
		return err
	})
	return out, err
}

// record reads a recording.
func record(path string) (*recording, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the package has nothing to be compared with, though others in the folder have: %w", err)
	}
	r := &recording{}
	return r, json.Unmarshal(data, r)
}

// Recordings are found by the names of packages, and one under another name is not passed over.
func TestRecordingsAreFound(t *testing.T) {
	t.Parallel()
	put := func(root, name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	put(root, "a/operator.yaml", "")
	put(root, "b/c/operator.yaml", "")
	if packs, err := below(root); err != nil || len(packs) != 2 || packs[0].recorded != nil {
		t.Errorf("without recordings: %v, %v", packs, err)
	}
	put(root, "expected/a.json", `{"Deploy": "COMPLETE"}`)
	put(root, "expected/c.json", `{}`)
	if _, err := below(root); err == nil || !strings.Contains(err.Error(), filepath.Join(root, "expected", "b", "c.json")) {
		t.Errorf("a recording under another name: %v", err)
	}
	put(root, "expected/b/c.json", `{"Deploy": "FATAL_ERROR"}`)
	packs, err := below(root)
	if err != nil || len(packs) != 2 || packs[0].recorded.Deploy != "COMPLETE" || packs[1].recorded.Deploy != "FATAL_ERROR" {
		t.Errorf("with recordings: %v, %v", packs, err)
	}
	if packs, err := below(filepath.Join(root, "nowhere")); err != nil || packs != nil {
		t.Errorf("without packages: %v, %v", packs, err)
	}
}
