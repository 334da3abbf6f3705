// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// Below the range the kernel takes the ports of outgoing connections from
	// (32768 and up on Linux), else one of those may sit on a port between our
	// look and the process's listen.
	firstPort, lastPort = 20000, 30000
	// reservation is longer than any process takes from its start to listening.
	reservation = 2 * time.Minute
)

// reservePort finds a loopback port nobody listens on. Several test programs
// may look at the same time, so what was found is noted in a file for as long as
// the process that is to listen may need.
func reservePort() (int, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("kudo-cluster-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if taken(filepath.Join(dir, strconv.Itoa(port))) {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d on 127.0.0.1", firstPort, lastPort)
}

// taken says whether somebody reserved the port before us; if not, we just did.
func taken(file string) bool {
	if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > reservation {
		_ = os.Remove(file) // somebody else may be faster, then creating fails
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Is(err, fs.ErrExist) || !errors.Is(err, fs.ErrNotExist)
	}
	_ = f.Close()
	return false
}
