// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package etcd

import (
	"os"
	"path/filepath"
)

const (
	socketPattern = "socket-"
	// maxSocketDir is how long the path of the folder may be, in bytes: the address of a unix socket has 107 in all.
	maxSocketDir = 80
)

// newSocketDir makes a folder for the socket of this process, and removes those that killed processes left behind: the caller has
// the data folder for itself. A data folder whose path is too long for a socket gets it in the folder for temporary files.
func newSocketDir(dataDir string) (string, error) {
	absolute, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	left, err := filepath.Glob(filepath.Join(absolute, socketPattern+"*"))
	if err != nil {
		return "", err
	}
	for _, folder := range left {
		if err := os.RemoveAll(folder); err != nil {
			return "", err
		}
	}
	if len(absolute) > maxSocketDir {
		return os.MkdirTemp("", "kudo-etcd-")
	}
	return os.MkdirTemp(absolute, socketPattern)
}
