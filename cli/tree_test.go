// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestStatusTree(t *testing.T) {
	done := step("settings", v1beta1.ExecutionComplete, "")
	done.StartTime, done.CompletionTime = at("10:00:01"), at("10:00:13")
	access := step("access", v1beta1.ExecutionComplete, "")
	retried := step("nodes", v1beta1.ErrorStatus, "conflict on\nStatefulSet kv")
	retried.Attempts, retried.NextAttemptTime = 3, at("10:01:30")
	waiting := step("nodes", v1beta1.ExecutionInProgress, "")
	waiting.Objects = []v1beta1.ObjectExecutionStatus{
		{Kind: "Service", Name: "kv", Ready: true},
		{Kind: "StatefulSet", Name: "kv", Message: "1 of 3 replicas are ready"},
		{Kind: "Job", Name: "init"},
	}
	failed := testRun("u", v1beta1.ExecutionFatalError, done, access, step("nodes", v1beta1.ExecutionFatalError, "template \"a.yaml\", line 3: no"))
	failed.Status.CompletionTime = at("10:02:00")

	withStatus := testInstance()
	withStatus.Status.PlanStatus = map[string]v1beta1.PlanStatus{
		"backup": {Name: "backup", Status: v1beta1.ExecutionNeverRun},
		"deploy": {Name: "deploy", Status: v1beta1.ExecutionComplete, Message: "fine", LastUpdatedTimestamp: at("09:00:00"),
			Phases: []v1beta1.PhaseStatus{{Name: "base", Status: v1beta1.ExecutionComplete, Steps: []v1beta1.StepStatus{{Name: "settings", Status: v1beta1.ExecutionComplete}}}}},
	}
	removed := testRun("u", v1beta1.ExecutionInProgress, done, access, waiting)
	removed.Spec.PlanName = "gone"

	for _, test := range []struct {
		name     string
		instance *v1beta1.Instance
		version  *v1beta1.OperatorVersion
		run      *v1beta1.PlanExecution
		want     string
	}{
		{"waiting", testInstance(), testVersion(), testRun("u", v1beta1.ExecutionInProgress, done, access, waiting), `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "deploy")
    ├── Plan backup (serial strategy) [NOT ACTIVE]
    │   └── Phase backup (serial strategy) [NOT ACTIVE]
    │       └── Step copy [NOT ACTIVE]
    └── Plan deploy (serial strategy) [IN_PROGRESS], last updated 2026-11-20 10:00:13
        ├── Phase base (parallel strategy) [COMPLETE]
        │   ├── Step settings [COMPLETE], took 12s
        │   └── Step access [COMPLETE]
        └── Phase nodes (serial strategy) [IN_PROGRESS]
            └── Step nodes [IN_PROGRESS] (waits for StatefulSet kv: 1 of 3 replicas are ready, Job init)
`},
		{"retrying", testInstance(), nil, testRun("u", v1beta1.ExecutionInProgress, done, access, retried), `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "deploy")
    └── Plan deploy (serial strategy) [IN_PROGRESS], last updated 2026-11-20 10:00:13
        ├── Phase base (parallel strategy) [COMPLETE]
        │   ├── Step settings [COMPLETE], took 12s
        │   └── Step access [COMPLETE]
        └── Phase nodes (serial strategy) [IN_PROGRESS]
            └── Step nodes [ERROR] (conflict on StatefulSet kv, attempt 3, next at 10:01:30)
`},
		{"failed", testInstance(), nil, failed, `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "deploy")
    └── Plan deploy (serial strategy) [FATAL_ERROR], last updated 2026-11-20 10:02:00
        ├── Phase base (parallel strategy) [COMPLETE]
        │   ├── Step settings [COMPLETE], took 12s
        │   └── Step access [COMPLETE]
        └── Phase nodes (serial strategy) [FATAL_ERROR]
            └── Step nodes [FATAL_ERROR] (template "a.yaml", line 3: no)
`},
		{"not taken up yet", testInstance(), testVersion(), &v1beta1.PlanExecution{Spec: v1beta1.PlanExecutionSpec{InstanceName: "kv", PlanName: "backup"}}, `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "backup")
    ├── Plan backup (serial strategy) [PENDING]
    │   └── Phase backup (serial strategy) [PENDING]
    │       └── Step copy [PENDING]
    └── Plan deploy (serial strategy) [NOT ACTIVE]
        ├── Phase base (parallel strategy) [NOT ACTIVE]
        │   ├── Step settings [NOT ACTIVE]
        │   └── Step access [NOT ACTIVE]
        └── Phase nodes (serial strategy) [NOT ACTIVE]
            └── Step nodes [NOT ACTIVE]
`},
		{"only the status of the Instance", withStatus, nil, nil, `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "deploy")
    └── Plan deploy (serial strategy) [COMPLETE] (fine), last updated 2026-11-20 09:00:00
        └── Phase base (serial strategy) [COMPLETE]
            └── Step settings [COMPLETE]
`},
		{"a plan that the version does not have any more", testInstance(), &v1beta1.OperatorVersion{}, removed, `
Plan(s) for "kv" in namespace "default":
.
└── kv (Operator-Version: "kv-7.2-0.1.0" Active-Plan: "gone")
    └── Plan gone (serial strategy) [IN_PROGRESS], last updated 2026-11-20 10:00:13
        ├── Phase base (parallel strategy) [COMPLETE]
        │   ├── Step settings [COMPLETE], took 12s
        │   └── Step access [COMPLETE]
        └── Phase nodes (serial strategy) [IN_PROGRESS]
            └── Step nodes [IN_PROGRESS] (waits for StatefulSet kv: 1 of 3 replicas are ready, Job init)
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			newDisplay(&out).show(statusTree(test.instance, test.version, test.run))
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDisplayPrintsChangedLines(t *testing.T) {
	var out bytes.Buffer
	d := newDisplay(&out)
	a, b := step("settings", v1beta1.ExecutionComplete, ""), step("access", v1beta1.ExecutionComplete, "")
	d.show(statusTree(testInstance(), nil, testRun("u", v1beta1.ExecutionInProgress, a, b, step("nodes", v1beta1.ExecutionPending, ""))))
	out.Reset()
	d.show(statusTree(testInstance(), nil, testRun("u", v1beta1.ExecutionInProgress, a, b, step("nodes", v1beta1.ExecutionInProgress, "waits"))))
	d.show(statusTree(testInstance(), nil, testRun("u", v1beta1.ExecutionInProgress, a, b, step("nodes", v1beta1.ExecutionInProgress, "waits"))))
	want := "deploy.nodes: Phase nodes (serial strategy) [IN_PROGRESS]\ndeploy.nodes.nodes: Step nodes [IN_PROGRESS] (waits)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDisplayRedrawsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	height := 10
	d := newDisplay(&out)
	d.terminal, d.colour, d.size = true, true, func() (int, int) { return 24, height }
	tree := []line{{path: "a", before: "."}, {path: "b", indent: "└── ", before: "Step s ", status: "IN_PROGRESS", after: " (a long message)"}}
	d.show(tree)
	tree[1].status, tree[1].after = "COMPLETE", ""
	d.show(tree)
	want := ".\n└── Step s [\x1b[33mIN_PROGRESS\x1b[0m]…\n" + "\x1b[2A\x1b[J" + ".\n└── Step s [\x1b[32mCOMPLETE\x1b[0m]\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}

	// What does not fit on the terminal is printed like a log.
	height = 2
	out.Reset()
	d.show(tree)
	if strings.Contains(out.String(), "\x1b[J") {
		t.Errorf("it drew over lines that are out of reach: %q", out.String())
	}
}

func TestColours(t *testing.T) {
	for status, want := range map[string]string{"COMPLETE": green, "FATAL_ERROR": red, "IN_PROGRESS": yellow, "ERROR": yellow, "PENDING": grey, notActive: grey} {
		if got := colourOf(status); got != want {
			t.Errorf("%s: got %q", status, got)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if d := newDisplay(&bytes.Buffer{}); d.colour || d.terminal {
		t.Error("a buffer is no terminal")
	}
}
