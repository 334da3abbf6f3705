// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package kudo assembles the storages of the API group kudo.dev. It may import the packages below it and the generic registry.
package kudo

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/history"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/keeper"
	"kudo.dev/kudo/registry/kudo/operator"
	"kudo.dev/kudo/registry/kudo/operatorversion"
	"kudo.dev/kudo/registry/kudo/planexecution"
	"kudo.dev/kudo/registry/kudo/revision"
)

// StorageProvider makes the storages of the group.
type StorageProvider struct {
	// Scheme knows all versions of the group.
	Scheme *runtime.Scheme
	// Codecs are made from Scheme.
	Codecs serializer.CodecFactory
	// Authorizer answers who may run which plan. Nil lets everybody run every plan.
	Authorizer authorizer.UnconditionalAuthorizer
	// Admission is asked for runs that are started through the subresource plans.
	Admission admission.Interface
	// Namespaces tells which namespaces are being deleted. Nil stands for none of them.
	Namespaces corelisters.NamespaceLister
	// Shutdown is closed when the server begins to stop; streams end then.
	Shutdown <-chan struct{}
}

// Group returns what the server installs, and the keeper that it runs.
func (p *StorageProvider) Group(options generic.RESTOptionsGetter) (*genericapiserver.APIGroupInfo, *keeper.Keeper, error) {
	operators, err := operator.NewREST(p.Scheme, options)
	if err != nil {
		return nil, nil, err
	}
	versions, err := operatorversion.NewREST(p.Scheme, options)
	if err != nil {
		return nil, nil, err
	}
	revisions, err := revision.NewREST(p.Scheme, options)
	if err != nil {
		return nil, nil, err
	}
	instances, instanceStatus, err := instance.NewREST(p.Scheme, options, versions, revisions, p.Namespaces)
	if err != nil {
		return nil, nil, err
	}
	executions, executionStatus, err := planexecution.NewREST(p.Scheme, options, instances, versions, revisions, p.Authorizer, p.Admission)
	if err != nil {
		return nil, nil, err
	}
	instances.Bind(executions)

	group := genericapiserver.NewDefaultAPIGroupInfo(kudo.GroupName, p.Scheme, runtime.NewParameterCodec(p.Scheme), p.Codecs)
	group.VersionedResourcesStorageMap[v1beta1.SchemeGroupVersion.Version] = map[string]rest.Storage{
		"operators":                operators,
		"operatorversions":         versions,
		"operatorversionrevisions": revisions,
		"instances":                instances,
		"instances/status":         instanceStatus,
		"instances/plans":          instance.NewPlansREST(instances),
		"planexecutions":           executions,
		"planexecutions/status":    executionStatus,
		"planexecutions/cancel":    planexecution.NewCancelREST(executions),
		"planexecutions/log":       planexecution.NewLogREST(executions, p.Shutdown),
	}
	pruner := &history.Pruner{Instances: instances, Runs: executions, Revisions: revisions, Clock: clock.RealClock{}}
	return &group, keeper.New(instances, executions, pruner), nil
}
