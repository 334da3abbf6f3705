// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

// turns lets one run of an Instance be worked on at a time. The server may end a run and give its Instance to another one while we
// are in the middle of the first; what the first has under way must not come after what the second does. Instances and runs are named
// by namespace/name. The zero value is ready to use.
type turns struct {
	mu        sync.Mutex
	instances map[string]*turn
}

// turn is the run that has an Instance, and those that asked for it meanwhile.
type turn struct {
	run     string
	waiting sets.Set[string]
}

// take gives the Instance to the run, or, if another one has it, remembers that the run waits and returns false at once.
func (t *turns) take(instance, run string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held := t.instances[instance]; held != nil && held.run != run {
		held.waiting.Insert(run)
		return false
	}
	if t.instances == nil {
		t.instances = map[string]*turn{}
	}
	if t.instances[instance] == nil {
		t.instances[instance] = &turn{run: run, waiting: sets.New[string]()}
	}
	return true
}

// end frees the Instance and returns the runs that waited for it, in the order of their names. They have to take it anew.
func (t *turns) end(instance string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := t.instances[instance]
	if held == nil {
		return nil
	}
	delete(t.instances, instance)
	return slices.Sorted(slices.Values(held.waiting.UnsortedList()))
}
