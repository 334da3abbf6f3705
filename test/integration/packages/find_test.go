// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"encoding/json"
	"errors"
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
	if shared := os.Getenv("KUDO_SHARED"); len(roots) == 0 && shared != "" {
		roots = []string{filepath.Join(shared, "operators")}
	}
	var out []pack
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
			recorded, err := record(filepath.Join(root, "expected", name+".json"))
			out = append(out, pack{name: strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-"), dir: dir, recorded: recorded})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) == 0 {
		t.Skipf("no operator packages in %q: set KUDO_SHARED to the folder that holds operators/, or KUDO_PACKAGES to folders of packages", roots)
	}
	return out
}

func record(path string) (*recording, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &recording{}
	return r, json.Unmarshal(data, r)
}
