// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

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
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// kind of the task: Apply, Delete, Toggle, Dummy, Pipe or KudoOperator.
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,opt,name=kind"`
	// spec holds the options of the task; which of them apply depends on kind.
	// +optional
	Spec TaskSpec `json:"spec,omitempty" protobuf:"bytes,3,opt,name=spec"`
}

// TaskSpec holds the options of all kinds of tasks.
type TaskSpec struct {
	// resources are names of templates (Apply, Delete, Toggle).
	// +optional
	// +listType=atomic
	Resources []string `json:"resources,omitempty" protobuf:"bytes,1,rep,name=resources"`
	// parameter is the name of a boolean parameter (Toggle).
	// +optional
	Parameter string `json:"parameter,omitempty" protobuf:"bytes,2,opt,name=parameter"`
	// wantErr makes the task fail (Dummy).
	// +optional
	WantErr bool `json:"wantErr,omitempty" protobuf:"varint,3,opt,name=wantErr"`
	// fatal makes the failure final (Dummy).
	// +optional
	Fatal bool `json:"fatal,omitempty" protobuf:"varint,4,opt,name=fatal"`
	// done makes the task complete (Dummy). A Dummy task that neither fails nor is done waits for ever.
	// +optional
	Done bool `json:"done,omitempty" protobuf:"varint,5,opt,name=done"`
	// pod is the name of the template of a pod (Pipe).
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,6,opt,name=pod"`
	// pipe lists the files to store (Pipe).
	// +optional
	// +listType=atomic
	Pipe []PipeSpec `json:"pipe,omitempty" protobuf:"bytes,7,rep,name=pipe"`
	// package is the name of the child operator (KudoOperator).
	// +optional
	Package string `json:"package,omitempty" protobuf:"bytes,8,opt,name=package"`
	// instanceName is the name of the child Instance; empty means the parent's name, a hyphen and the child operator's (KudoOperator).
	// +optional
	InstanceName string `json:"instanceName,omitempty" protobuf:"bytes,9,opt,name=instanceName"`
	// appVersion of the child operator (KudoOperator).
	// +optional
	AppVersion string `json:"appVersion,omitempty" protobuf:"bytes,10,opt,name=appVersion"`
	// operatorVersion of the child operator (KudoOperator).
	// +optional
	OperatorVersion string `json:"operatorVersion,omitempty" protobuf:"bytes,11,opt,name=operatorVersion"`
	// parameterFile is the name of the template that gives the child's parameters (KudoOperator).
	// +optional
	ParameterFile string `json:"parameterFile,omitempty" protobuf:"bytes,12,opt,name=parameterFile"`
}

// PipeSpec says which file of a pipe pod is stored, and as what.
type PipeSpec struct {
	// file is the path of a file to store as it is. Exactly one of file and envFile is set.
	// +optional
	File string `json:"file,omitempty" protobuf:"bytes,1,opt,name=file"`
	// envFile is the path of a file of KEY=VALUE lines, each of which becomes an entry.
	// +optional
	EnvFile string `json:"envFile,omitempty" protobuf:"bytes,2,opt,name=envFile"`
	// kind of the object that is made: Secret or ConfigMap.
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,3,opt,name=kind"`
	// key under which templates find the object's name in .Pipes.
	// +optional
	Key string `json:"key,omitempty" protobuf:"bytes,4,opt,name=key"`
}
