// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// templatesFolder is the beginning of the path of all templates, and the part of it that is not in their names.
const templatesFolder = "templates"

// Read reads the package at a path: a folder, or a file that is a gzip'd tar of one. Errors name the path, the file in it
// and the line.
func Read(location string) (*Package, error) { return Open(context.Background(), location) }

// Open reads the package at a path, as Read does, or at a URL that begins with http:// or https:// and leads to a gzip'd tar.
func Open(ctx context.Context, location string) (*Package, error) {
	from, err := open(ctx, location)
	if err != nil {
		return nil, err
	}
	return load(from)
}

// ReadArchive reads a package that is a gzip'd tar. The location serves errors only.
func ReadArchive(location string, r io.Reader) (*Package, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDownload+1))
	if err == nil && len(data) > maxDownload {
		err = fmt.Errorf("the archive has more than %d MiB", maxDownload>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", location, err)
	}
	return load(newArchive(location, data))
}

// Child reads the package that a KudoOperator task of this one names in spec.package, if it names a path or a URL. A
// path is relative to this package; that of a package in an archive stays in the archive. For other names, which are
// those of operators that are installed already, it returns nil.
func (p *Package) Child(ctx context.Context, name string) (*Package, error) {
	if isURL(name) {
		return Open(ctx, name)
	}
	if !isPath(name) {
		return nil, nil
	}
	from, err := p.source.at(name)
	if err != nil {
		return nil, err
	}
	return load(from)
}

// isPath tells the path of a package from the name of an operator. As in KUDO, a folder in the working directory is no
// path unless it is written as one.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".tgz") || name == "." || name == ".."
}

// load reads and parses a package.
func load(from source) (*Package, error) {
	read, err := from.read()
	if err == nil {
		var p *Package
		if p, err = parse(read); err == nil {
			p.source = from
			return p, nil
		}
	}
	return nil, fmt.Errorf("operator package %q: %w", from.String(), err)
}

// parse makes the package of its files.
func parse(read files) (*Package, error) {
	p := &Package{Templates: map[string]string{}, nodes: map[string]*yaml.Node{}, paths: map[string]string{}}
	var faults []*Fault
	for _, file := range []struct {
		name    string
		into    any
		version *string
	}{{OperatorFileName, &p.Operator, &p.Operator.APIVersion}, {ParamsFileName, &p.Params, &p.Params.APIVersion}} {
		data, ok := read[file.name]
		if !ok {
			return nil, fmt.Errorf("the file %s is missing at its root", file.name)
		}
		node, values, wrong := decode(file.name, data, file.into)
		p.nodes[file.name] = node
		p.values += values
		faults = append(faults, wrong...)
		if *file.version == "" {
			*file.version = APIVersion
		}
		if *file.version != APIVersion && wrong == nil {
			faults = append(faults, p.fault(file.name, fmt.Sprintf("apiVersion %q is not supported; it has to be %s", *file.version, APIVersion), "apiVersion"))
		}
		if wrong == nil && severalDocuments(data) {
			p.several = append(p.several, file.name)
		}
	}
	named := p.namedTemplates()
	for _, file := range slices.Sorted(maps.Keys(read)) {
		p.bytes += len(read[file])
		name := templateName(file)
		if !isTemplate(file) || dotFile(file) && !named[name] {
			continue
		}
		if fault := checkText(file, read[file]); fault != nil {
			if !named[name] {
				p.notText = append(p.notText, fault)
				continue
			}
			faults = append(faults, fault)
		}
		if other, taken := p.paths[name]; taken {
			faults = append(faults, &Fault{File: file, Message: fmt.Sprintf("%s and %s are both the template %q; rename one", other, file, name)})
		}
		p.paths[name] = file
		p.Templates[name] = string(read[file])
	}
	return p, join(faults)
}

// namedTemplates are the templates that operator.yaml names.
func (p *Package) namedTemplates() map[string]bool {
	named := map[string]bool{p.Operator.NamespaceManifest: true}
	for i := range p.Operator.Tasks {
		spec := &p.Operator.Tasks[i].Spec
		for _, name := range append([]string{spec.Pod, spec.ParameterFile}, spec.Resources...) {
			named[name] = true
		}
	}
	return named
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

// dotFile says whether a file is most likely one that a tool leaves beside a template, such as .a.yaml.swp of an editor, or
// ._a.yaml of an archive from macOS. What cannot be read of these is no fault of the package.
func dotFile(file string) bool { return strings.HasPrefix(path.Base(file), ".") }

// templateName is what follows the last "templates/", or the whole path if there is none.
func templateName(file string) string {
	if i := strings.LastIndex(file, templatesFolder+"/"); i >= 0 {
		return file[i+len(templatesFolder)+1:]
	}
	return file
}
