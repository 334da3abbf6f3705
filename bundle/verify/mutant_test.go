// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"kudo.dev/kudo/render"
)

// base is a package without a fault.
type base struct {
	location string
	files    map[string]string
}

func (b base) clone() map[string]string { return maps.Clone(b.files) }

func readBase(t *testing.T, folder string) base {
	t.Helper()
	b := base{location: folder, files: map[string]string{}}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, path))
		b.files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mutant is a package that gets a fault.
type mutant struct {
	*rand.Rand
	t     *testing.T
	files map[string]string
	// entries are further entries of an archive. With them, or with raw, the mutant is an archive.
	entries []entry
	// raw changes the bytes of the archive.
	raw func([]byte) []byte
	// links are symbolic links in a folder.
	links map[string]string
	// sparse are files of zeros of a size, which take no space.
	sparse map[string]int64
	// folder is where it is written to.
	folder string
	// want is what the refusal has to contain.
	want []string
	// run are the variables of a run that shows the fault.
	run *render.Variables
}

// entry is one of an archive that is not as it should be. Size is that of a file of zeros.
type entry struct {
	name, link string
	kind       byte
	size       int64
}

func (m *mutant) expect(want ...string) bool {
	m.want = append(m.want, want...)
	return true
}

// differs says that the mutant is not the package that it was made of.
func (m *mutant) differs(from base) bool {
	return !maps.Equal(m.files, from.files) || len(m.entries) > 0 || m.raw != nil || len(m.links) > 0 || len(m.sparse) > 0
}

// pick returns one of the files for which ok is true, "" if there is none.
func (m *mutant) pick(ok func(name, text string) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if ok(name, m.files[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[m.IntN(len(names))]
}

// template picks a template that a task applies, with an object that stands there without conditions.
func (m *mutant) template() string {
	return m.pick(func(name, text string) bool {
		return strings.HasPrefix(name, "templates/") && strings.Contains(m.files["operator.yaml"], strings.TrimPrefix(name, "templates/"))
	})
}

// insert puts a line into a file at a random place at which ok is true, and returns its number, 0 if there is no such place.
// What is before and after the place is given.
func (m *mutant) insert(file, line string, ok func(before, after string) bool) int {
	lines := strings.Split(m.files[file], "\n")
	for _, at := range m.Perm(len(lines)) {
		if at > 0 && (ok == nil || ok(lines[at-1], lines[at])) {
			m.files[file] = strings.Join(slices.Insert(slices.Clone(lines), at, line), "\n")
			return at + 1
		}
	}
	return 0
}

// document parses a file of the package.
func (m *mutant) document(file string) *yaml.Node {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(m.files[file]), &node); err != nil {
		m.t.Fatal(err)
	}
	if len(node.Content) == 0 {
		node = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	return &node
}

// store writes a changed document back.
func (m *mutant) store(file string, document *yaml.Node) {
	data, err := yaml.Marshal(document)
	if err != nil {
		m.t.Fatal(err)
	}
	m.files[file] = string(data)
}

// key is a key of a mapping with its value, and the path of the value: keys, and ints for entries of lists.
type key struct {
	path       []any
	node, with *yaml.Node
}

// keys lists all keys of a document that are those of the format, and not names or values that authors choose.
func keys(node *yaml.Node, path ...any) (found []key) {
	switch node.Kind {
	case yaml.DocumentNode:
		return keys(node.Content[0])
	case yaml.SequenceNode:
		for i, child := range node.Content {
			found = append(found, keys(child, append(slices.Clone(path), i)...)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			name, with := node.Content[i], node.Content[i+1]
			at := append(slices.Clone(path), name.Value)
			if len(path) == 0 || path[len(path)-1] != "plans" {
				found = append(found, key{at, name, with})
			}
			if name.Value != "default" && name.Value != "enum" {
				found = append(found, keys(with, at...)...)
			}
		}
	}
	return found
}

// lineAt is the line of the key or entry at a path.
func (m *mutant) lineAt(file string, path []any) int {
	node := m.document(file).Content[0]
	line := 0
	for _, step := range path {
		switch step := step.(type) {
		case int:
			node = node.Content[step]
			line = node.Line
		case string:
			i := slices.IndexFunc(node.Content, func(child *yaml.Node) bool { return child.Value == step })
			line, node = node.Content[i].Line, node.Content[i+1]
		}
	}
	return line
}

// pickKey picks a key of a file, nil if none is right.
func (m *mutant) pickKey(document *yaml.Node, ok func(key) bool) *key {
	var right []key
	for _, k := range keys(document) {
		if ok(k) {
			right = append(right, k)
		}
	}
	if len(right) == 0 {
		return nil
	}
	return &right[m.IntN(len(right))]
}

// edit replaces text in one line of a file.
func (m *mutant) edit(file string, line int, from, to string) {
	lines := strings.Split(m.files[file], "\n")
	if !strings.Contains(lines[line-1], from) {
		m.t.Fatalf("%s:%d: %q has no %q", file, line, lines[line-1], from)
	}
	lines[line-1] = strings.Replace(lines[line-1], from, to, 1)
	m.files[file] = strings.Join(lines, "\n")
}

// appendTo adds entries to a list at the top of operator.yaml or params.yaml, or fields to plans.
func (m *mutant) appendTo(file, top, text string) {
	document := m.document(file)
	root := document.Content[0]
	var added yaml.Node
	if err := yaml.Unmarshal([]byte(text), &added); err != nil {
		m.t.Fatal(err)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == top {
			list := root.Content[i+1]
			list.Style = 0
			list.Content = append(list.Content, added.Content[0].Content...)
			data, err := yaml.Marshal(document)
			if err != nil {
				m.t.Fatal(err)
			}
			m.files[file] = string(data)
			return
		}
	}
	m.files[file] += fmt.Sprintf("\n%s:\n%s\n", top, text)
}

// lineOf is the number of the last line with the text.
func (m *mutant) lineOf(file, text string) int {
	at := strings.LastIndex(m.files[file], text)
	if at < 0 {
		m.t.Fatalf("%s has no %q", file, text)
	}
	return 1 + strings.Count(m.files[file][:at], "\n")
}

// write writes the mutant as a folder or an archive and returns the path.
func (m *mutant) write() string {
	if err := os.MkdirAll(m.folder, 0o755); err != nil {
		m.t.Fatal(err)
	}
	if len(m.entries) > 0 || m.raw != nil {
		path := filepath.Join(m.folder, "mutant.tgz")
		data := m.archive()
		if m.raw != nil {
			data = m.raw(data)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			m.t.Fatal(err)
		}
		return path
	}
	for name, text := range m.files {
		path := filepath.Join(m.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	for name, size := range m.sparse {
		path := filepath.Join(m.folder, filepath.FromSlash(name))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			m.t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			m.t.Fatal(err)
		}
	}
	for name, target := range m.links {
		if err := os.Symlink(target, filepath.Join(m.folder, filepath.FromSlash(name))); err != nil {
			m.t.Fatal(err)
		}
	}
	return m.folder
}

// archive packs the files and the entries.
func (m *mutant) archive() []byte {
	var out bytes.Buffer
	zipper, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		m.t.Fatal(err)
	}
	archive := tar.NewWriter(zipper)
	add := func(header tar.Header, content io.Reader) {
		if err := archive.WriteHeader(&header); err != nil {
			m.t.Fatal(err)
		}
		if _, err := io.Copy(archive, content); err != nil {
			m.t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		add(tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(m.files[name]))}, strings.NewReader(m.files[name]))
	}
	for _, e := range m.entries {
		add(tar.Header{Name: e.name, Linkname: e.link, Mode: 0o644, Typeflag: e.kind, Size: e.size}, io.LimitReader(zeros{}, e.size))
	}
	if err := archive.Close(); err != nil {
		m.t.Fatal(err)
	}
	if err := zipper.Close(); err != nil {
		m.t.Fatal(err)
	}
	return out.Bytes()
}

// zeros is an endless file of zeros.
type zeros struct{}

// Read fills p with zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
