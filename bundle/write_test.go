// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// names lists the paths in an archive.
func names(t *testing.T, data []byte) (found []string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if err != nil {
			return found
		}
		if header.Uid != 0 || header.Gid != 0 || header.Mode != 0o644 || header.ModTime.Unix() != 0 {
			t.Errorf("%s: %+v", header.Name, header)
		}
		found = append(found, header.Name)
	}
}

func TestPack(t *testing.T) {
	content := minimal()
	for _, name := range []string{"templates/b.yaml", "templates/sub/a.yaml", "README.md", "child/operator.yaml", ".git/config", "templates/.hidden.yaml"} {
		content[name] = name
	}
	folder := write(t, content)
	first, err := Pack(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md", "child/operator.yaml", "operator.yaml", "params.yaml", "templates/.hidden.yaml", "templates/b.yaml", "templates/sub/a.yaml"}
	if diff := cmp.Diff(want, names(t, first)); diff != "" {
		t.Error(diff)
	}

	// Another folder, other times and permissions, an archive in it: the same bytes.
	other := write(t, content)
	old := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(other, "operator.yaml"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(other, "params.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "x-1.0.0.tgz"), first, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Pack(other)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same files gave %d and %d bytes, %v: %v", len(first), len(again), err, names(t, again))
	}
	p, err := ReadArchive("x.tgz", bytes.NewReader(first))
	if err != nil || p.Templates["sub/a.yaml"] != "templates/sub/a.yaml" {
		t.Errorf("got %+v, %v", p, err)
	}

	if err := os.WriteFile(filepath.Join(other, "README.md"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := Pack(other); err != nil || bytes.Equal(first, changed) {
		t.Errorf("other files gave the same bytes, %v", err)
	}
}

func TestPackErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.tgz")
	if err := os.WriteFile(file, pack(t, minimal()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(file); err == nil || !strings.Contains(err.Error(), "is an archive already") {
		t.Errorf("got %v", err)
	}
	content := minimal()
	content["image.bin"] = strings.Repeat("0", maxUnpacked+1)
	if _, err := Pack(write(t, content)); err == nil || !strings.Contains(err.Error(), "image.bin") || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestArchiveName(t *testing.T) {
	p := &Package{Operator: OperatorFile{Name: "kv", OperatorVersion: "0.1.0"}}
	if got := ArchiveName(p); got != "kv-0.1.0.tgz" {
		t.Error(got)
	}
	p.Operator.AppVersion = "7.2"
	if got := ArchiveName(p); got != "kv-7.2_0.1.0.tgz" {
		t.Error(got)
	}
}
