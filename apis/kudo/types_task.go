// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

// Kinds of tasks.
const (
	// ApplyTaskKind creates or updates the objects of its templates and waits until they are healthy.
	ApplyTaskKind = "Apply"
	// DeleteTaskKind deletes the objects of its templates and waits until they are gone.
	DeleteTaskKind = "Delete"
	// ToggleTaskKind applies or deletes the objects of its templates, as a boolean parameter says.
	ToggleTaskKind = "Toggle"
	// DummyTaskKind does nothing, or fails as told. It serves tests.
	DummyTaskKind = "Dummy"
	// PipeTaskKind runs a pod and stores files that it writes.
	PipeTaskKind = "Pipe"
	// KudoOperatorTaskKind installs another operator as a child Instance.
	KudoOperatorTaskKind = "KudoOperator"
)

// Task is one kind of action with its options.
type Task struct {
	// name by which steps refer to the task.
	Name string
	// kind of the task: Apply, Delete, Toggle, Dummy, Pipe or KudoOperator.
	Kind string
	// spec holds the options of the task; which of them apply depends on kind.
	Spec TaskSpec
}

// TaskSpec holds the options of all kinds of tasks.
type TaskSpec struct {
	// resources are names of templates (Apply, Delete, Toggle).
	Resources []string
	// parameter is the name of a boolean parameter (Toggle).
	Parameter string
	// wantErr makes the task fail (Dummy).
	WantErr bool
	// fatal makes the failure final (Dummy).
	Fatal bool
	// done makes the task complete (Dummy). A Dummy task that neither fails nor is done waits for ever.
	Done bool
	// pod is the name of the template of a pod (Pipe).
	Pod string
	// pipe lists the files to store (Pipe).
	Pipe []PipeSpec
	// package is the name of the child operator (KudoOperator).
	Package string
	// instanceName is the name of the child Instance; empty means the parent's name, a hyphen and the child operator's (KudoOperator).
	InstanceName string
	// appVersion of the child operator (KudoOperator).
	AppVersion string
	// operatorVersion of the child operator (KudoOperator).
	OperatorVersion string
	// parameterFile is the name of the template that gives the child's parameters (KudoOperator).
	ParameterFile string
}

// PipeSpec says which file of a pipe pod is stored, and as what.
type PipeSpec struct {
	// file is the path of a file to store as it is. Exactly one of file and envFile is set.
	File string
	// envFile is the path of a file of KEY=VALUE lines, each of which becomes an entry.
	EnvFile string
	// kind of the object that is made: Secret or ConfigMap.
	Kind string
	// key under which templates find the object's name in .Pipes.
	Key string
}
