// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import "k8s.io/apimachinery/pkg/types"

// FieldManager is the name under which server-side apply records the fields of the executor.
const FieldManager = "kudo"

// Labels and annotations of applied objects. Dashboards, kubectl plugins and users select by them.
const (
	LabelHeritage = "heritage"
	LabelOperator = "kudo.dev/operator"
	LabelInstance = "kudo.dev/instance"
	// HeritageValue is the value of LabelHeritage; the executor watches objects that have it.
	HeritageValue = "kudo"

	AnnotationPlan            = "kudo.dev/plan"
	AnnotationPhase           = "kudo.dev/phase"
	AnnotationStep            = "kudo.dev/step"
	AnnotationRunUID          = "kudo.dev/last-plan-execution-uid"
	AnnotationOperatorVersion = "kudo.dev/operator-version"
	AnnotationLastApplied     = "kudo.dev/last-applied-configuration"
	// AnnotationInstanceUID is on objects that an Instance cannot own, because they are cluster-scoped.
	AnnotationInstanceUID = "kudo.dev/instance-uid"
)

// Identity says for which Instance and by which step of which run an object is applied.
type Identity struct {
	// Namespace, Instance and InstanceUID are of the Instance, which owns what is applied.
	Namespace   string
	Instance    string
	InstanceUID types.UID
	// Operator is the name of the operator, OperatorVersion its version.
	Operator        string
	OperatorVersion string
	// Run is the name of the PlanExecution, RunUID its uid.
	Run               string
	RunUID            types.UID
	Plan, Phase, Step string
}

func (id Identity) labels() map[string]string {
	return map[string]string{LabelHeritage: HeritageValue, LabelOperator: id.Operator, LabelInstance: id.Instance}
}

func (id Identity) annotations() map[string]string {
	return map[string]string{AnnotationPlan: id.Plan, AnnotationPhase: id.Phase, AnnotationStep: id.Step, AnnotationRunUID: string(id.RunUID)}
}
