// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"math/rand/v2"
	"time"
)

// killer kills the server, the executor or both at random moments, and starts them again.
type killer struct {
	stage            *stage
	r                *rand.Rand
	server, executor int
}

// Times between kills, and of being dead.
const (
	calmLeast = time.Second
	calmMost  = 6 * time.Second
	deadMost  = 800 * time.Millisecond
)

func (k *killer) between(least, most time.Duration) time.Duration {
	return least + time.Duration(k.r.Int64N(int64(most-least)))
}

// run kills until done is closed. All processes run when it returns.
func (k *killer) run(ctx context.Context, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case <-time.After(k.between(calmLeast, calmMost)): // the random moment is what is tested
		}
		var err error
		switch n := k.r.IntN(100); {
		case n < 45:
			err = k.killServer(ctx, false)
		case n < 80:
			err = k.killExecutor(ctx)
		default:
			err = k.killServer(ctx, true)
		}
		if err != nil {
			return err
		}
	}
}

func (k *killer) killExecutor(ctx context.Context) error {
	k.executor++
	if err := k.stage.lab.KUDO.KillExecutor(); err != nil {
		return err
	}
	k.pause()
	return k.stage.lab.KUDO.StartExecutor(ctx)
}

// killServer kills the server, and with both the executor, before or after it.
func (k *killer) killServer(ctx context.Context, both bool) error {
	k.server++
	kudo := k.stage.lab.KUDO
	executorFirst := k.r.IntN(2) == 0
	if both && executorFirst {
		k.executor++
		if err := kudo.KillExecutor(); err != nil {
			return err
		}
	}
	since := time.Now()
	k.stage.closed()
	if err := kudo.KillServer(); err != nil {
		return err
	}
	k.pause()
	if both && !executorFirst {
		k.executor++
		if err := kudo.KillExecutor(); err != nil {
			return err
		}
	}
	if err := kudo.StartServer(ctx); err != nil {
		return err
	}
	k.stage.opened(since)
	if !both {
		return nil
	}
	return kudo.StartExecutor(ctx)
}

// pause lets the others notice.
func (k *killer) pause() { time.Sleep(k.between(0, deadMost)) }
