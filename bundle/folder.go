// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// read reads the files of a package in a folder. Symbolic links to files are followed as long as they stay in the
// folder: a package from elsewhere must not be able to send the user's own files to the cluster.
func (f folder) read() (files, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// A wrong folder may be a large one, so it is not searched before it is known to hold a package. That a file is missing
	// is said where both are looked for.
	if _, err := root.Stat(OperatorFileName); err != nil {
		return files{}, nil
	}
	content, left, entries := files{}, maxText, 0
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden(path, entry) {
			return fs.SkipDir
		}
		if entries++; entries > maxEntries {
			return errEntries
		}
		before := left
		data, err := readFile(root, path, entry, &left)
		if err != nil && dotFile(path) {
			left = before
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if data != nil {
			content[path] = data
		}
		return nil
	})
	return content, err
}

// readFile reads a file if it belongs to the package, or returns nil.
func readFile(root *os.Root, path string, entry fs.DirEntry, left *int) ([]byte, error) {
	link := entry.Type()&fs.ModeSymlink != 0
	// A link among the templates may be to a folder of them.
	if entry.IsDir() || !wanted(path) && (!link || !strings.HasPrefix(path, templatesFolder)) {
		return nil, nil
	}
	info, err := root.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() && link {
		return nil, fmt.Errorf("it is a symbolic link to a folder, and these are not followed; put the folder itself there")
	}
	if !info.Mode().IsRegular() || !wanted(path) {
		return nil, nil
	}
	file, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readLimited(file, left)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// hidden says that a folder is one of tools, such as .git, and no part of the package.
func hidden(path string, entry fs.DirEntry) bool {
	return entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), ".")
}
