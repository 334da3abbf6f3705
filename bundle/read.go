// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxSize is how many bytes the files of a package may have together, unpacked. The objects made of them have to fit
// into the API server, which takes less than 2 MiB.
const maxSize = 64 << 20

// templatesFolder is the beginning of the path of all templates, and the part of it that is not in their names.
const templatesFolder = "templates"

// errTooLarge is the error of a package beyond maxSize.
var errTooLarge = fmt.Errorf("it is larger than %d MiB; an operator package holds only text", maxSize>>20)

// files are the contents of the files that make up a package, by their path from its root, with slashes.
type files map[string][]byte

// Read reads the package at a path: a folder, or a file that is a gzip'd tar of one. Errors name the path, and the
// file in it.
func Read(location string) (*Package, error) {
	info, err := os.Stat(location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no operator package at %q: give the path of a folder with %s, or of a .tgz of one", location, OperatorFileName)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator package: %w", err)
	}
	if info.IsDir() {
		content, err := readFolder(location)
		if err != nil {
			return nil, fmt.Errorf("operator package %q: %w", location, err)
		}
		return parse(location, content)
	}
	file, err := os.Open(location)
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator package: %w", err)
	}
	defer file.Close()
	return ReadArchive(location, file)
}

// parse makes the package of its files.
func parse(location string, content files) (*Package, error) {
	p := &Package{Templates: map[string]string{}}
	for _, file := range []struct {
		name string
		into any
	}{{OperatorFileName, &p.Operator}, {ParamsFileName, &p.Params}} {
		data, ok := content[file.name]
		if !ok {
			return nil, fmt.Errorf("operator package %q: the file %s is missing at its root", location, file.name)
		}
		if err := yaml.Unmarshal(data, file.into); err != nil {
			return nil, fmt.Errorf("operator package %q: %s cannot be read: %w", location, file.name, err)
		}
	}
	for name, version := range map[string]*string{OperatorFileName: &p.Operator.APIVersion, ParamsFileName: &p.Params.APIVersion} {
		if *version == "" {
			*version = APIVersion
		}
		if *version != APIVersion {
			return nil, fmt.Errorf("operator package %q: %s: apiVersion %q is not supported; it has to be %s", location, name, *version, APIVersion)
		}
	}
	origins := map[string]string{}
	for file, text := range content {
		if !isTemplate(file) {
			continue
		}
		name := templateName(file)
		if other, taken := origins[name]; taken {
			return nil, fmt.Errorf("operator package %q: %s and %s are both the template %q; rename one", location, min(file, other), max(file, other), name)
		}
		origins[name] = file
		p.Templates[name] = string(text)
	}
	return p, nil
}

// wanted says whether a file belongs to a package; others are ignored.
func wanted(file string) bool {
	return file == OperatorFileName || file == ParamsFileName || isTemplate(file)
}

// isTemplate says whether a file is a template. The rule is KUDO's, whose pattern has no anchors, so that
// templates-old/a.yaml and templates/a.yaml.gotmpl are templates too; packages use the latter.
func isTemplate(file string) bool {
	folder, name := path.Split(file)
	return strings.HasPrefix(folder, templatesFolder) && strings.Contains(name, ".yaml")
}

// templateName is what follows the last "templates/", or the whole path if there is none.
func templateName(file string) string {
	if i := strings.LastIndex(file, templatesFolder+"/"); i >= 0 {
		return file[i+len(templatesFolder)+1:]
	}
	return file
}
