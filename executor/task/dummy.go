// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
)

// dummyTask does what its options say. As in KUDO, fatal alone does nothing.
type dummyTask struct{ spec v1beta1.TaskSpec }

func (d dummyTask) Run(context.Context, Env) Report {
	switch {
	case d.spec.WantErr && d.spec.Fatal:
		return stopped(fault.Finalf(fault.ReasonDummy, "dummy error, because the task has wantErr and fatal"))
	case d.spec.WantErr:
		return stopped(fault.Retryf("dummy error, because the task has wantErr"))
	case d.spec.Done:
		return done()
	}
	return Report{Outcome: engine.Waiting, Message: "a Dummy task that is not done waits until the run is ended"}
}
