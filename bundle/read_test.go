// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// minimal are the files of the smallest package.
func minimal() map[string]string {
	return map[string]string{"operator.yaml": "name: x\noperatorVersion: 1.0.0\n", "params.yaml": ""}
}

// pack makes an archive of files.
func pack(t *testing.T, content map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipper := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipper)
	for name, text := range content {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipper.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// write makes a folder of files.
func write(t *testing.T, content map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range content {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestReadFindsTemplates(t *testing.T) {
	content := minimal()
	for _, name := range []string{"templates/a.yaml", "templates/sub/b.yaml", "templates-old/c.yaml", "templates/d.yaml.gotmpl",
		"templates/e.yml", "docs/f.yaml", "child/operator.yaml", "child/templates/g.yaml", "README.md"} {
		content[name] = name
	}
	want := map[string]string{"a.yaml": "templates/a.yaml", "sub/b.yaml": "templates/sub/b.yaml",
		"templates-old/c.yaml": "templates-old/c.yaml", "d.yaml.gotmpl": "templates/d.yaml.gotmpl"}

	fromFolder, err := Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, fromFolder.Templates); diff != "" {
		t.Error(diff)
	}
	file := filepath.Join(t.TempDir(), "x.tgz")
	if err := os.WriteFile(file, pack(t, content), 0o600); err != nil {
		t.Fatal(err)
	}
	fromArchive, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromFolder, fromArchive, cmpopts.IgnoreUnexported(Package{})); diff != "" {
		t.Errorf("folder and archive differ: %s", diff)
	}
}

func TestReadArchivePaths(t *testing.T) {
	for _, prefix := range []string{"", "./", "/"} {
		content := map[string]string{prefix + "templates/": ""}
		for name, text := range minimal() {
			content[prefix+name] = text
		}
		content[prefix+"templates/a.yaml"] = "a"
		p, err := ReadArchive("x.tgz", bytes.NewReader(pack(t, content)))
		if err != nil || p.Templates["a.yaml"] != "a" {
			t.Errorf("prefix %q: got %v, %v", prefix, p, err)
		}
	}
}

// What tools leave among the templates is no part of the package, unless a task names it, and no reason to refuse it.
func TestReadIgnoresFilesOfTools(t *testing.T) {
	content := minimal()
	content["operator.yaml"] += "tasks: [{name: t, kind: Apply, spec: {resources: [.named.yaml, a.yaml]}}]\n"
	for name, text := range map[string]string{"a.yaml": "a", ".named.yaml": "named", ".a.yaml.swp": "b0VIM\xff", "._a.yaml": "\x00\x05\x16\x07\xff",
		".long.yaml.swp": strings.Repeat("x", maxFile+1), "sub/.b.yaml": "b", "old.yaml": "caf\xe9"} {
		content["templates/"+name] = text
	}
	folder := write(t, content)
	// The lock of Emacs is a link to nowhere.
	if err := os.Symlink("me@host.1:2", filepath.Join(folder, "templates", ".#a.yaml")); err != nil {
		t.Skip("no symbolic links here")
	}
	fromFolder, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(folder)
	if err != nil {
		t.Fatal(err)
	}
	fromArchive, err := ReadArchive("x.tgz", bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Package{fromFolder, fromArchive} {
		if diff := cmp.Diff(map[string]string{"a.yaml": "a", ".named.yaml": "named"}, p.Templates); diff != "" {
			t.Error(diff)
		}
		if faults := p.NotText(); len(faults) != 1 || faults[0].File != "templates/old.yaml" {
			t.Errorf("got %v", faults)
		}
	}
	content["operator.yaml"] = strings.ReplaceAll(content["operator.yaml"], ".named.yaml", ".a.yaml.swp")
	if _, err := Read(write(t, content)); err == nil || !strings.Contains(err.Error(), "templates/.a.yaml.swp:1:6: the byte 0xff is not UTF-8") {
		t.Errorf("got %v", err)
	}
}

func TestReadIsLenient(t *testing.T) {
	content := minimal()
	content["operator.yaml"] = "Name: x\noperatorversion: 1.0\nappVersion: 2.50\nkubernetesVersion: 1.10\nkudoVersion: yes\nfuture: {a: b}\n"
	p, err := Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	want := OperatorFile{APIVersion: APIVersion, Name: "x", OperatorVersion: "1", AppVersion: "2.5", KubernetesVersion: "1.1", KUDOVersion: "true"}
	if diff := cmp.Diff(want, p.Operator); diff != "" {
		t.Error(diff)
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct {
		name, file, text, want string
	}{
		{"no operator.yaml", "operator.yaml", "-", "the file operator.yaml is missing"},
		{"no params.yaml", "params.yaml", "-", "the file params.yaml is missing"},
		{"no YAML", "operator.yaml", "a: [", "operator.yaml:1: it is not valid YAML: "},
		{"wrong type", "operator.yaml", "tasks: {}", "operator.yaml:1:8: tasks is a mapping, but has to be a list"},
		{"version of operator.yaml", "operator.yaml", "apiVersion: kudo.dev/v2", `operator.yaml:1: apiVersion "kudo.dev/v2" is not supported; it has to be kudo.dev/v1beta1`},
		{"version of params.yaml", "params.yaml", "apiVersion: v1", `params.yaml:1: apiVersion "v1" is not supported`},
		{"two templates of one name", "templates/x/templates/a.yaml", "a", `templates/a.yaml and templates/x/templates/a.yaml are both the template "a.yaml"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := minimal()
			content["templates/a.yaml"] = "a"
			content[test.file] = test.text
			if test.text == "-" {
				delete(content, test.file)
			}
			folder := write(t, content)
			_, err := Read(folder)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), folder) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := Read("nowhere"); err == nil || !strings.Contains(err.Error(), `there is no operator package at "nowhere"`) {
		t.Errorf("got %v", err)
	}
}

func TestReadArchiveErrors(t *testing.T) {
	escape := minimal()
	escape["templates/../../etc/a.yaml"] = "x"
	large := minimal()
	large["image.bin"] = strings.Repeat("0", maxUnpacked+1)
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"not an archive", []byte("hello"), `operator package "x.tgz": it is neither a folder nor a gzip'd tar`},
		{"path out of the package", pack(t, escape), `the path "templates/../../etc/a.yaml" in it leads out of the package`},
		{"too large", pack(t, large), `image.bin: it cannot be unpacked: the archive unpacks to more than 64 MiB`},
		{"cut off", pack(t, minimal())[:60], "it cannot be unpacked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadArchive("x.tgz", bytes.NewReader(test.data))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// sparse makes an archive of one template that is size zeros. archive/tar reads holes but does not write them, so that
// the records get their names later. A file of format 1.0 begins with a block that lists its pieces, here none.
func sparse(t *testing.T, size int) []byte {
	t.Helper()
	var plain, out bytes.Buffer
	archive := tar.NewWriter(&plain)
	header := &tar.Header{Name: "templates/GNUSparseFile.0/a.yaml", Mode: 0o644, Size: 512, Typeflag: tar.TypeReg, PAXRecords: map[string]string{
		"xxx.sparse.major": "1", "xxx.sparse.minor": "0", "xxx.sparse.name": "templates/a.yaml", "xxx.sparse.realsize": strconv.Itoa(size)}}
	if err := archive.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(append([]byte("0\n"), make([]byte, 510)...)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	zipper := gzip.NewWriter(&out)
	if _, err := zipper.Write(bytes.ReplaceAll(plain.Bytes(), []byte("xxx.sparse."), []byte("GNU.sparse."))); err != nil {
		t.Fatal(err)
	}
	if err := zipper.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadArchiveSparse(t *testing.T) {
	content, err := newArchive("x.tgz", sparse(t, 1000)).read()
	if err != nil || len(content["templates/a.yaml"]) != 1000 {
		t.Errorf("got %d bytes, %v", len(content["templates/a.yaml"]), err)
	}
	bomb := sparse(t, 300<<20)
	if _, err := newArchive("x.tgz", bomb).read(); !errors.Is(err, errTooLong) {
		t.Errorf("%d bytes were unpacked to %d MiB: %v", len(bomb), 300, err)
	}
}

// However many packages an archive holds, it is unpacked once, and a fault in one of them is none of the others.
func TestReadArchiveOnce(t *testing.T) {
	content := minimal()
	for _, child := range []string{"a", "b"} {
		for name, text := range minimal() {
			content[child+"/"+name] = text
		}
		content[child+"/templates/"+child+".yaml"] = child
	}
	content["b/templates/long.yaml"] = strings.Repeat("#", maxFile+1)
	data := pack(t, content)
	p, err := load(newArchive("x.tgz", data))
	if err != nil {
		t.Fatal(err)
	}
	// Nobody can unpack it again.
	clear(data)
	a, err := p.Child(t.Context(), "./a")
	if err != nil || a.Templates["a.yaml"] != "a" || len(p.Templates) != 0 {
		t.Errorf("got %v, %v", a, err)
	}
	if _, err := p.Child(t.Context(), "./b"); err == nil || !strings.Contains(err.Error(), `operator package "x.tgz!b": templates/long.yaml: it is longer than`) {
		t.Errorf("got %v", err)
	}
}

func TestReadFolderLinks(t *testing.T) {
	folder := write(t, minimal())
	for link, target := range map[string]string{"templates/inside.yaml": "../operator.yaml", "templates/outside.yaml": "/etc/hostname"} {
		path := filepath.Join(folder, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "templates/outside.yaml") {
		t.Errorf("a link out of the folder was followed: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "templates", "outside.yaml")); err != nil {
		t.Fatal(err)
	}
	p, err := Read(folder)
	if err != nil || !strings.Contains(p.Templates["inside.yaml"], "name: x") {
		t.Errorf("got %v, %v", p, err)
	}
}
