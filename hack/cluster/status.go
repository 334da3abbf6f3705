// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"kudo.dev/kudo/test/cluster"
)

// status prints what runs; its error says what is wrong.
func (l *local) status(ctx context.Context) error {
	c, err := cluster.Open(l.dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("Nothing runs in %s.\n", l.dir)
		return nil
	}
	if err != nil {
		return err
	}
	printProcesses(c.Processes())
	health := c.Healthy(ctx)
	k, err := cluster.OpenKUDO(c)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		say("KUDO is not installed")
	case err != nil:
		return err
	default:
		printProcesses(k.Processes())
		if health == nil {
			health = k.Healthy(ctx)
		}
	}
	if health != nil {
		return fmt.Errorf("%w; start what is missing with: make up", health)
	}
	fmt.Printf("The cluster in %s is healthy.\n", l.dir)
	return nil
}

func printProcesses(all []cluster.Process) {
	for _, p := range all {
		pid := "not running"
		if p.PID != 0 {
			pid = fmt.Sprintf("pid %d", p.PID)
		}
		say("%-24s %-12s %s", p.Name, pid, p.Log)
	}
}
