// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// source is where a package comes from: a folder, or a folder in an archive.
type source interface {
	// String is the place as errors name it.
	String() string
	// read returns the files of the package.
	read() (files, error)
	// at finds the source that a path in operator.yaml names.
	at(name string) (source, error)
}

// files are the contents of the files that make up a package, by their path from its root, with slashes.
type files map[string][]byte

// open finds out what a location is: a URL, a folder or an archive. Nothing but a URL is read yet.
func open(ctx context.Context, location string) (source, error) {
	if isURL(location) {
		return fetch(ctx, location)
	}
	info, err := os.Stat(location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no operator package at %q: give the path of a folder with %s, the path of a .tgz of one, or its URL", location, OperatorFileName)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator package: %w", err)
	}
	if info.IsDir() {
		return folder(location), nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is neither a folder nor a file", location)
	}
	if info.Size() > maxDownload {
		return nil, fmt.Errorf("operator package %q: the file has %d bytes, but an archive may have %d MiB", location, info.Size(), maxDownload>>20)
	}
	data, err := os.ReadFile(location)
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator package: %w", err)
	}
	return newArchive(location, data), nil
}

// folder is a package in a folder.
type folder string

// String returns the path.
func (f folder) String() string { return string(f) }

// at finds a package relative to this one. It may lie beside it: a parent and its children are often neighbours.
func (f folder) at(name string) (source, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(f), filepath.FromSlash(name))
	}
	return open(context.Background(), name)
}

// archive is a package in a gzip'd tar.
type archive struct {
	// location is the path or URL of the archive.
	location string
	// root is the folder in the archive, empty for the archive itself.
	root string
	// unpacked are the files in it. All packages in the archive share them.
	unpacked func() (contents, error)
}

// newArchive is the package at the root of an archive. It is unpacked when it is read.
func newArchive(location string, data []byte) *archive {
	return &archive{location: location, unpacked: sync.OnceValues(func() (contents, error) { return unpack(data) })}
}

// String returns the location, and the folder in it.
func (a *archive) String() string {
	if a.root == "" {
		return a.location
	}
	return a.location + "!" + a.root
}

// at finds a package in the same archive. Nothing outside is looked at: who wrote the archive did not know this machine.
func (a *archive) at(name string) (source, error) {
	inside := path.Join(a.root, filepath.ToSlash(name))
	if path.IsAbs(name) || inside == ".." || strings.HasPrefix(inside, "../") {
		return nil, fmt.Errorf("%q leads out of the archive %s; put the operator into a folder below its parent before packing, or name it by URL", name, a.location)
	}
	if strings.HasSuffix(inside, ".tgz") {
		return nil, fmt.Errorf("%q is an archive within the archive %s; put its folder there instead", name, a.location)
	}
	if inside == "." {
		inside = ""
	}
	return &archive{location: a.location, root: inside, unpacked: a.unpacked}, nil
}

// read returns the files of the package.
func (a *archive) read() (files, error) {
	all, err := a.unpacked()
	if err != nil {
		return nil, err
	}
	return all.below(a.root)
}
