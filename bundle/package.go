// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	// OperatorFileName is the file of a package that describes the operator.
	OperatorFileName = "operator.yaml"
	// ParamsFileName is the file of a package that lists the parameters.
	ParamsFileName = "params.yaml"
	// APIVersion is the only value of apiVersion in either file, and its default.
	APIVersion = "kudo.dev/v1beta1"
)

// Package is an operator package as its author wrote it.
type Package struct {
	// Operator is the content of operator.yaml.
	Operator OperatorFile
	// Params is the content of params.yaml.
	Params ParamsFile
	// Templates are the texts of the files below templates/, by their path below it, with slashes. Those that operator.yaml
	// does not name are missing if they begin with a dot, or are not UTF-8.
	Templates map[string]string

	// source is where the package was read from, so that paths in it can be followed.
	source source
	// nodes are operator.yaml and params.yaml with their lines.
	nodes map[string]*yaml.Node
	// paths are those of templates in the package, by their names.
	paths map[string]string
	// values are those of operator.yaml and params.yaml, bytes those of all files.
	values, bytes int
	// notText are the faults of templates that nothing names.
	notText []*Fault
	// several are the files of more than one YAML document, of which only the first was read.
	several []string
}

// Location is where the package was read from, as errors name it.
func (p *Package) Location() string {
	if p.source == nil {
		return ""
	}
	return p.source.String()
}

// Size is how many values operator.yaml and params.yaml have, an alias counted for all it stands for, and how many bytes all
// files of the package have. Whoever keeps several packages in memory limits both.
func (p *Package) Size() (values, bytes int) { return p.values, p.bytes }

// TemplateFile is the path in the package of a template.
func (p *Package) TemplateFile(name string) string {
	if path, ok := p.paths[name]; ok {
		return path
	}
	return templatesFolder + "/" + name
}

// MoreDocuments names the files of which only the first YAML document was read, though there are more.
func (p *Package) MoreDocuments() []string { return p.several }

// NotText says which templates were left out because they are not UTF-8, and where. Nothing in operator.yaml names them.
func (p *Package) NotText() []*Fault { return p.notText }

// OperatorFile is the content of operator.yaml.
type OperatorFile struct {
	// APIVersion is APIVersion after reading.
	APIVersion string `json:"apiVersion,omitempty"`
	// Name of the operator.
	Name string `json:"name,omitempty"`
	// Description says in a sentence what the operator runs.
	Description string `json:"description,omitempty"`
	// OperatorVersion is the version of the package.
	OperatorVersion string `json:"operatorVersion,omitempty"`
	// AppVersion is the version of the application. It may be empty.
	AppVersion string `json:"appVersion,omitempty"`
	// KUDOVersion is the KUDO version the package was written for. Nothing checks it.
	KUDOVersion string `json:"kudoVersion,omitempty"`
	// KubernetesVersion is the oldest Kubernetes version that the package supports.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Maintainers are the people to ask.
	Maintainers []v1beta1.Maintainer `json:"maintainers,omitempty"`
	// URL is the home page of the operator.
	URL string `json:"url,omitempty"`
	// Tasks are what steps refer to by name.
	Tasks []v1beta1.Task `json:"tasks,omitempty"`
	// Plans by name.
	Plans map[string]v1beta1.Plan `json:"plans,omitempty"`
	// NamespaceManifest is the template of the namespace that the operator is installed into.
	NamespaceManifest string `json:"namespaceManifest,omitempty"`
}

// ParamsFile is the content of params.yaml.
type ParamsFile struct {
	// APIVersion is APIVersion after reading.
	APIVersion string `json:"apiVersion,omitempty"`
	// Groups order the parameters for people.
	Groups []ParameterGroup `json:"groups,omitempty"`
	// Parameters of the operator.
	Parameters []Parameter `json:"parameters,omitempty"`
}

// ParameterGroup is a heading under which parameters are shown. It is not part of the OperatorVersion.
type ParameterGroup struct {
	// Name by which parameters refer to the group.
	Name string `json:"name,omitempty"`
	// DisplayName is the name shown to people.
	DisplayName string `json:"displayName,omitempty"`
	// Description of the group.
	Description string `json:"description,omitempty"`
	// Priority orders the groups.
	Priority int `json:"prio,omitempty"`
}

// Parameter is a parameter as params.yaml has it. The parameters of an OperatorVersion differ: their defaults are
// text, and group, advanced and hint are missing.
type Parameter struct {
	// Name of the parameter.
	Name string `json:"name,omitempty"`
	// DisplayName is the name shown to people.
	DisplayName string `json:"displayName,omitempty"`
	// Description says what the parameter does.
	Description string `json:"description,omitempty"`
	// Required makes an Instance without a value invalid, unless there is a default. Absent means true.
	Required *bool `json:"required,omitempty"`
	// Default is the JSON of the default, which may be any YAML value. Empty or null means that there is none.
	Default json.RawMessage `json:"default,omitempty"`
	// Trigger is the plan that runs when the value changes.
	Trigger string `json:"trigger,omitempty"`
	// Type of the value; empty stands for text.
	Type v1beta1.ParameterType `json:"type,omitempty"`
	// Immutable forbids changes. Absent means false.
	Immutable *bool `json:"immutable,omitempty"`
	// Enum is the JSON of each value that is allowed. Nil means that all are.
	Enum *[]json.RawMessage `json:"enum,omitempty"`
	// Group is the name of a ParameterGroup.
	Group string `json:"group,omitempty"`
	// Advanced hides the parameter from people who have not asked for all.
	Advanced *bool `json:"advanced,omitempty"`
	// Hint says what values look like.
	Hint string `json:"hint,omitempty"`
}
