// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// ReadArchive reads a package that is a gzip'd tar. The location serves errors only.
func ReadArchive(location string, r io.Reader) (*Package, error) {
	content, err := readArchive(r)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", location, err)
	}
	return parse(location, content)
}

// readArchive unpacks the files of a package into memory. What the archive has of other files counts towards the
// limit, as it has to be unpacked too. Links are skipped: there is no file system they could point into.
func readArchive(r io.Reader) (files, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("it is neither a folder nor a gzip'd tar (.tgz): %w", err)
	}
	limited := &limitedReader{r: unzipped, left: maxSize}
	// The holes of a sparse file are not in the stream, so that the files have a limit too.
	archive, content, left := tar.NewReader(limited), files{}, int64(maxSize)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it cannot be unpacked: %w", err)
		}
		if slices.Contains(strings.Split(strings.ReplaceAll(header.Name, `\`, "/"), "/"), "..") {
			return nil, fmt.Errorf("the path %q in it leads out of the package; pack the folder itself, with paths below it", header.Name)
		}
		// Archives made with "tar -C folder ." have ./operator.yaml, others have /operator.yaml.
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		if header.Typeflag != tar.TypeReg || !wanted(name) {
			continue
		}
		data, err := readLimited(archive, &left)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be unpacked: %w", name, err)
		}
		content[name] = data
	}
}

// limitedReader reads at most left bytes and then fails, where io.LimitReader would end as if all were read.
type limitedReader struct {
	r    io.Reader
	left int64
}

// Read reads from r, or fails with errTooLarge.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
