// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// inArchive is a fault that an entry of an archive makes. The refusal names the entry.
func inArchive(name string, want string, entries ...entry) mutation {
	return mutation{name, func(m *mutant) bool {
		e := entries[m.IntN(len(entries))]
		m.entries = append(m.entries, e)
		return m.expect(want, path.Base(strings.ReplaceAll(e.name, `\`, "/")))
	}}
}

var archiveMutations = []mutation{
	inArchive("zip bomb", "unpacks to more than",
		entry{name: "image.bin", kind: tar.TypeReg, size: 200 << 20}, entry{name: "docs/a.yaml", kind: tar.TypeReg, size: 120 << 20}),
	inArchive("template of 50 MB in an archive", "longer than", entry{name: "templates/mutant.yaml", kind: tar.TypeReg, size: 50 << 20}),
	inArchive("path that leads out", "leads out of the package",
		entry{name: "../mutant.yaml", kind: tar.TypeReg}, entry{name: "templates/../../mutant.yaml", kind: tar.TypeReg},
		entry{name: `templates\..\..\mutant.yaml`, kind: tar.TypeReg}, entry{name: "..", kind: tar.TypeDir}),
	inArchive("absolute path", "is absolute", entry{name: "/etc/cron.d/mutant", kind: tar.TypeReg}, entry{name: "/templates/mutant.yaml", kind: tar.TypeReg}),
	inArchive("link in an archive", "it is a link",
		entry{name: "templates/mutant.yaml", kind: tar.TypeSymlink, link: "/etc/passwd"}, entry{name: "templates/mutant.yaml", kind: tar.TypeLink, link: "operator.yaml"},
		entry{name: "templates/mutant", kind: tar.TypeSymlink, link: "/etc"}),
	inArchive("file that is there twice", "has this file twice", entry{name: "operator.yaml", kind: tar.TypeReg}, entry{name: "./params.yaml", kind: tar.TypeReg, size: 10}),
	{"too many files", func(m *mutant) bool {
		for i := range 10_001 {
			m.entries = append(m.entries, entry{name: fmt.Sprintf("docs/%d", i), kind: tar.TypeReg})
		}
		return m.expect("more than 10000 files", m.folder)
	}},
	{"archive that was cut off", func(m *mutant) bool {
		m.raw = func(data []byte) []byte { return data[:1+m.IntN(len(data)-1)] }
		return m.expect("mutant.tgz")
	}},
	{"archive that was damaged", func(m *mutant) bool {
		m.raw = func(data []byte) []byte {
			// The header of gzip has bytes that mean nothing, and so do some bits between its blocks.
			for {
				damaged := slices.Clone(data)
				damaged[10+m.IntN(len(data)-10)] ^= byte(1 + m.IntN(255))
				unzipped, err := gzip.NewReader(bytes.NewReader(damaged))
				if err == nil {
					_, err = io.Copy(io.Discard, unzipped)
				}
				if err != nil {
					return damaged
				}
			}
		}
		return m.expect("mutant.tgz")
	}},
	{"no archive", func(m *mutant) bool {
		text := []string{"", "hello", "PK\x03\x04", "\x1f\x8b", m.files["operator.yaml"]}[m.IntN(5)]
		m.raw = func([]byte) []byte { return []byte(text) }
		return m.expect("mutant.tgz", "gzip'd tar")
	}},
	{"file that is missing", func(m *mutant) bool {
		name := yamlFiles[m.IntN(2)]
		delete(m.files, name)
		return m.expect("the file " + name + " is missing")
	}},
	{"template of 50 MB in a folder", func(m *mutant) bool {
		m.sparse = map[string]int64{"templates/mutant.yaml": 50 << 20}
		return m.expect("templates/mutant.yaml: it is longer than")
	}},
	{"link out of a folder", func(m *mutant) bool {
		m.links = map[string]string{"templates/mutant.yaml": []string{"/etc/hostname", "../../../../../etc/hostname", "nowhere.yaml", "mutant.yaml"}[m.IntN(4)]}
		return m.expect("templates/mutant.yaml: ")
	}},
	{"templates that do not fit together", func(m *mutant) bool {
		for i := range 3 {
			m.files[fmt.Sprintf("templates/mutant%d.yaml", i)] = strings.Repeat("# 345678\n", 1<<20/9)
		}
		return m.expect("templates/mutant0.yaml: ", "all templates together")
	}},
	{"files that are too much together", func(m *mutant) bool {
		for i := range 5 {
			m.files[fmt.Sprintf("templates/mutant%d.yaml", i)] = strings.Repeat("# 345678\n", 1<<20/9)
		}
		return m.expect("templates/mutant", "the files of the package have more than")
	}},
	{"children that are too much together", func(m *mutant) bool {
		values, text := "mutant: ["+strings.Repeat("1,", 95_000)+"]\n", strings.Repeat("# 345678\n", 1<<20/9)
		inArchive, inTemplates := m.IntN(2) == 0, m.IntN(2) == 0
		var tasks strings.Builder
		for i := range 25 {
			fmt.Fprintf(&tasks, "- {name: mutant%d, kind: KudoOperator, spec: {package: ./mutant%d}}\n", i, i)
			folder := fmt.Sprintf("mutant%d/", i)
			m.files[folder+"operator.yaml"] = fmt.Sprintf("name: mutant%d\noperatorVersion: 1.0.0\n", i)
			m.files[folder+"params.yaml"] = ""
			if inTemplates {
				m.files[folder+"templates/a.yaml"] = text
			} else {
				m.files[folder+"operator.yaml"] += values
				m.files[folder+"params.yaml"] = values
			}
		}
		m.appendTo("operator.yaml", "tasks", tasks.String())
		if inArchive {
			m.raw = func(data []byte) []byte { return data }
		}
		return m.expect("together", m.folder)
	}},
}
