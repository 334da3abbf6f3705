// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"kudo.dev/kudo/test/cluster"
)

// down ends and removes the cluster. It touches no folder that is not one's.
func (l *local) down() error {
	begin := time.Now()
	c, err := cluster.Open(l.dir, say)
	if errors.Is(err, fs.ErrNotExist) {
		// A start that was interrupted at once leaves an empty folder.
		if err := os.Remove(l.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s holds no cluster and is not empty: it is left as it is", l.dir)
		}
		fmt.Printf("Nothing runs in %s.\n", l.dir)
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.Remove(); err != nil {
		return err
	}
	fmt.Printf("The cluster in %s is gone (%s).\n", l.dir, since(begin))
	return nil
}
