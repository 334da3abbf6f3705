// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package rendered

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// maxText is more than any template is rendered to. A Secret that somebody else made may expand to anything.
const maxText = 8 << 20

func compress(text string) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func expand(data []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	n, err := io.Copy(&out, io.LimitReader(r, maxText+1))
	if err == nil && n > maxText {
		err = errors.New("it is too long")
	}
	return out.String(), err
}
