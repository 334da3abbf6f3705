// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// The limits on a package. What is made of it has to fit into one object of about 1.5 MiB, so real packages stay far
// below: the largest known file has 360 KB. Together they keep what reading a package takes below 200 MB, whatever is in it.
const (
	// maxDownload is how long an archive may be, packed.
	maxDownload = 16 << 20
	// maxUnpacked is what an archive may unpack to, with the files that are not read.
	maxUnpacked = 64 << 20
	// maxFile is how long one file that is read may be.
	maxFile = 3 << 19
	// maxText is how long all files that are read may be together.
	maxText = 4 << 20
	// maxKept is how long all files that an archive has for all packages in it may be together.
	maxKept = 16 << 20
	// maxEntries is how many files and folders a package may have.
	maxEntries = 10_000
	// maxValues is how many values operator.yaml and params.yaml may have, each; an alias counts for all it stands for.
	maxValues = 100_000
	// maxDepth is how deep these values may be nested.
	maxDepth = 100
)

// errUnpacked is the error of an archive beyond maxUnpacked.
var errUnpacked = fmt.Errorf("the archive unpacks to more than %d MiB; an operator package holds only text", maxUnpacked>>20)

// errTooLong is the error of a file beyond maxFile.
var errTooLong = errors.New("it is longer than 1.5 MiB; all templates together have to fit into one OperatorVersion of that size")

// errTooMuch is the error of files that are beyond maxText together.
var errTooMuch = fmt.Errorf("with it, the files of the package have more than %d MiB; all templates together have to fit into one OperatorVersion of 1.5 MiB", maxText>>20)

// errKept is the error of an archive beyond maxKept.
var errKept = fmt.Errorf("the files of the operator packages in the archive have more than %d MiB together; pack operators apart, and name them by URL", maxKept>>20)

// errEntries is the error of a package beyond maxEntries.
var errEntries = fmt.Errorf("the package has more than %d files and folders; an operator package holds operator.yaml, params.yaml and templates", maxEntries)

// readLimited reads all of a file and takes its size off left.
func readLimited(r io.Reader, left *int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, errTooLong
	}
	if *left -= len(data); *left < 0 {
		return nil, errTooMuch
	}
	return data, nil
}

// checkText refuses what is not text. JSON would silently replace bytes that are not UTF-8, and protobuf refuses them
// much later.
func checkText(file string, text []byte) *Fault {
	if utf8.Valid(text) {
		return nil
	}
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return &Fault{File: file, Line: 1 + bytes.Count(text[:at], []byte("\n")), Column: at - start + 1,
		Message: fmt.Sprintf("the byte 0x%02x is not UTF-8; save the file as UTF-8", text[at])}
}
