// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanTrigger asks for one run of a plan. It is posted to the plans subresource of an Instance and is not stored.
type PlanTrigger struct {
	metav1.TypeMeta
	// metadata of the PlanExecution to be created: name or generateName, labels and annotations are used.
	metav1.ObjectMeta
	// planName is the plan to run. It may be empty where the path names the plan.
	PlanName string
	// parameters for this run only.
	Parameters map[string]string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlans lists the plans of an Instance. It is computed, not stored.
type InstancePlans struct {
	metav1.TypeMeta
	// metadata names the Instance.
	metav1.ObjectMeta
	// plans that the Instance's OperatorVersion defines, by name.
	Plans []InstancePlan
}

// InstancePlan is one plan of an Instance with its last run.
type InstancePlan struct {
	// name of the plan.
	Name string
	// strategy of the plan.
	Strategy Ordering
	// active says that a run of the plan holds the Instance now.
	Active bool
	// lastRun is how the last run of the plan stands. Absent if there was none.
	LastRun *PlanStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlansOptions are the query options of the plans subresource.
type InstancePlansOptions struct {
	metav1.TypeMeta
	// path below the subresource: the name of a plan, or empty for all.
	Path string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionLogOptions are the query options of the log subresource.
type PlanExecutionLogOptions struct {
	metav1.TypeMeta
	// follow keeps the stream open until the run ends. Defaults to false.
	Follow bool
}
