// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readFolder reads the files of a package in a folder. Symbolic links are followed as long as they stay in the
// folder: a package from elsewhere must not be able to send the user's own files to the cluster.
func readFolder(location string) (files, error) {
	root, err := os.OpenRoot(location)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	content, left := files{}, int64(maxSize)
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !wanted(path) {
			return nil
		}
		info, err := root.Stat(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		file, err := root.Open(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer file.Close()
		data, err := readLimited(file, &left)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		content[path] = data
		return nil
	})
	return content, err
}

// readLimited reads all of r and takes its size off left.
func readLimited(r io.Reader, left *int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, *left+1))
	if err != nil {
		return nil, err
	}
	if *left -= int64(len(data)); *left < 0 {
		return nil, errTooLarge
	}
	return data, nil
}
