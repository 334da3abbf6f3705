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
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ArchiveName is the name of the archive of a package: NAME-APPVERSION_OPERATORVERSION.tgz, or NAME-OPERATORVERSION.tgz
// if the application has no version.
func ArchiveName(p *Package) string {
	o := &p.Operator
	if o.AppVersion == "" {
		return fmt.Sprintf("%s-%s.tgz", o.Name, o.OperatorVersion)
	}
	return fmt.Sprintf("%s-%s_%s.tgz", o.Name, o.AppVersion, o.OperatorVersion)
}

// Pack packs the folder of a package. The same files give the same bytes, whenever, wherever and by whom they are packed.
//
// All files are packed, also those that are no part of the package: child operators below it are found in the archive.
// Folders whose names begin with a dot are left out, and so are links, but for templates, of which the content is packed;
// and the archives named ArchiveName, so that a package can be packed into its own folder again and again.
//
// What was packed can be read: it stays within the limits of Open.
func Pack(location string) ([]byte, error) {
	p, err := Read(location)
	if err != nil {
		return nil, err
	}
	if _, ok := p.source.(folder); !ok {
		return nil, fmt.Errorf("%q is an archive already; give the folder of the operator", location)
	}
	root, err := os.OpenRoot(location)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out limitedBuffer
	zipper, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipper)
	// The walk is in the order of names.
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case hidden(path, entry):
			return fs.SkipDir
		case entry.IsDir() || path == ArchiveName(p) || !entry.Type().IsRegular() && (!wanted(path) || dotFile(path)):
			return nil
		}
		if err := add(archive, root, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err := errors.Join(err, archive.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("operator package %q cannot be packed: %w", location, err)
	}
	if _, err := newArchive(location, out.Bytes()).read(); err != nil {
		return nil, fmt.Errorf("operator package %q cannot be packed, as it could not be unpacked: %w", location, err)
	}
	return out.Bytes(), nil
}

// add writes one file into the archive, without what differs between machines and users.
func add(archive *tar.Writer, root *os.Root, path string) error {
	file, err := root.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	header := &tar.Header{Name: filepath.ToSlash(path), Typeflag: tar.TypeReg, Mode: 0o644, Size: info.Size(),
		Uname: "root", Gname: "root", ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// limitedBuffer keeps at most maxDownload bytes.
type limitedBuffer struct{ bytes.Buffer }

// Write appends p or fails.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxDownload {
		return 0, fmt.Errorf("the archive would be larger than %d MiB; remove what is no part of the operator", maxDownload>>20)
	}
	return b.Buffer.Write(p)
}
