// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/runs/lab"
)

// fromVariable names another commit to begin with than the one before HEAD; then the tree may have changes.
const fromVariable = "KUDO_UPGRADE_FROM"

// previous builds the programs of the commit before HEAD on the main line, into a folder of the test. It skips the test where
// there is no such commit, or where HEAD is not what is tested.
func previous(t *testing.T) string {
	t.Helper()
	root := lab.Root(t)
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if top, err := git("rev-parse", "--show-toplevel"); err != nil {
		t.Skipf("%s is not a git checkout, so there is no previous commit to upgrade from: %s", root, top)
	} else if !same(top, root) {
		t.Skipf("%s lies in the git checkout %s, which is of something else", root, top)
	}
	from := os.Getenv(fromVariable)
	if from == "" {
		from = "HEAD~1"
		if changes, err := git("status", "--porcelain"); err != nil || changes != "" {
			t.Skipf("the tree has changes, so HEAD~1 is not the commit before what is tested; commit them or set %s:\n%s", fromVariable, changes)
		}
	}
	commit, err := git("rev-parse", "--verify", "--end-of-options", from+"^{commit}")
	if err != nil {
		if from != "HEAD~1" {
			t.Fatalf("%s=%s: %s", fromVariable, from, commit)
		}
		t.Skipf("HEAD~1 does not exist: this is the first commit or a shallow clone; git fetch --deepen=1 gets it: %s", commit)
	}
	if _, err := git("cat-file", "-e", commit+":cmd/kudo-apiserver"); err != nil {
		t.Skipf("commit %s has no kudo-apiserver", commit)
	}
	begin := time.Now()
	dir := t.TempDir()
	archive, sources, bin := filepath.Join(dir, "sources.tar"), filepath.Join(dir, "sources"), filepath.Join(dir, "bin")
	if out, err := git("archive", "--format=tar", "--output="+archive, commit); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(sources, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", sources).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// With the flags of make build, so that what did not change since comes from the build cache.
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", bin+"/", "./cmd/kudo-apiserver", "./cmd/kudo-executor")
	build.Dir = sources
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("commit %s does not compile: %v\n%s", commit, err, out)
	}
	t.Logf("built the programs of commit %s in %v", commit[:12], time.Since(begin).Round(100*time.Millisecond))
	return bin
}

// same tells whether two paths are one folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
