// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// contents are the files of an archive that may belong to a package in it: to the one at its root, or to one in a folder.
type contents []member

// member is one of these files.
type member struct {
	// name is the path in the archive, without what is before its root.
	name string
	// link is what it points to, if it is a link.
	link   string
	isLink bool
	data   []byte
	// err says why there is no data.
	err error
}

// unpack unpacks an archive into memory, once for all packages in it. What the archive has of other files counts towards the
// limit, as it has to be unpacked too.
func unpack(data []byte) (contents, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is neither a folder nor a gzip'd tar (.tgz): %w", err)
	}
	stream := &limitedReader{r: unzipped, left: maxUnpacked}
	u := unpacking{archive: tar.NewReader(stream), left: maxKept}
	for {
		if err := u.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	// The checksum of the whole is at its end, behind what tar reads.
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return nil, fmt.Errorf("after %s: it cannot be unpacked: %w", u.current, err)
	}
	if u.absolute != "" && u.relative {
		return nil, fmt.Errorf("the path %q in it is absolute, while others are not; pack the folder itself, with paths below it", u.absolute)
	}
	return u.content, nil
}

// below returns the files of the package in a folder of the archive, or of the one at its root, which is empty.
func (c contents) below(root string) (files, error) {
	content, left := files{}, maxText
	for _, m := range c {
		name := m.name
		if root != "" {
			rest, inside := strings.CutPrefix(name, root+"/")
			if !inside {
				continue
			}
			name = rest
		}
		if dotFile(name) && (m.isLink || m.err != nil || content[name] != nil || len(m.data) > left) {
			continue
		}
		if m.isLink {
			if wanted(name) || strings.HasPrefix(name, templatesFolder) {
				return nil, fmt.Errorf("%s: it is a link to %q, and an archive has no files that it could point to; put the file itself there", name, m.link)
			}
			continue
		}
		if !wanted(name) {
			continue
		}
		if _, twice := content[name]; twice {
			return nil, fmt.Errorf("%s: the archive has this file twice; remove one", name)
		}
		if m.err == nil {
			if left -= len(m.data); left < 0 {
				m.err = errTooMuch
			}
		}
		if m.err != nil {
			return nil, fmt.Errorf("%s: %w", name, m.err)
		}
		content[name] = m.data
	}
	return content, nil
}

// unpacking is the state of unpacking an archive.
type unpacking struct {
	archive *tar.Reader
	content contents
	// left is how many bytes of files may still be kept.
	left int
	// entries counts those so far.
	entries int
	// current is the entry that was begun last, "its beginning" before the first.
	current string
	// absolute is an absolute path in the archive, relative says that there are others. Archives of absolute paths only
	// are read as if packed below /.
	absolute string
	relative bool
}

// next unpacks one file. At the end it returns io.EOF.
func (u *unpacking) next() error {
	header, err := u.archive.Next()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		if u.current == "" {
			return fmt.Errorf("it cannot be unpacked: %w", err)
		}
		// What fails is to skip the rest of the file before.
		return fmt.Errorf("%s: it cannot be unpacked: %w", u.current, err)
	}
	u.current = header.Name
	if u.entries++; u.entries > maxEntries {
		return errEntries
	}
	slashed := strings.ReplaceAll(header.Name, `\`, "/")
	if slices.Contains(strings.Split(slashed, "/"), "..") {
		return fmt.Errorf("the path %q in it leads out of the package; pack the folder itself, with paths below it", header.Name)
	}
	if strings.HasPrefix(slashed, "/") {
		u.absolute = header.Name
	} else {
		u.relative = true
	}
	// Archives made with "tar -C folder ." have ./operator.yaml, others have /operator.yaml.
	name := strings.TrimPrefix(path.Clean("/"+slashed), "/")
	return u.keep(name, header)
}

// keep adds the file to the content, if it may be one of a package.
func (u *unpacking) keep(name string, header *tar.Header) error {
	base := path.Base(name)
	described := base == OperatorFileName || base == ParamsFileName
	if !described && !strings.HasPrefix(name, templatesFolder) && !strings.Contains(name, "/"+templatesFolder) {
		return nil
	}
	m := member{name: name}
	switch {
	case header.Typeflag == tar.TypeSymlink || header.Typeflag == tar.TypeLink:
		m.isLink, m.link = true, header.Linkname
	case header.Typeflag != tar.TypeReg || !described && !strings.Contains(base, ".yaml"):
		return nil
	case header.Size > maxFile:
		m.err = errTooLong
	default:
		data, err := readLimited(u.archive, &u.left)
		if errors.Is(err, errTooMuch) {
			return errKept
		}
		if err != nil {
			return fmt.Errorf("%s: it cannot be unpacked: %w", name, err)
		}
		m.data = data
	}
	u.content = append(u.content, m)
	return nil
}

// limitedReader reads at most left bytes and then fails, where io.LimitReader would end as if all were read.
type limitedReader struct {
	r    io.Reader
	left int64
}

// Read reads from r, or fails with errUnpacked.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errUnpacked
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
