// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	testingclock "k8s.io/utils/clock/testing"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/install"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	registry "kudo.dev/kudo/registry/kudo"
	"kudo.dev/kudo/registry/kudo/history"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/planexecution"
	"kudo.dev/kudo/registry/kudo/revision"
)

// stores are the real storages, with their caches, over an etcd of the test.
type stores struct {
	instances *instance.REST
	runs      *planexecution.REST
	revisions *revision.REST
	// raw writes revisions past their storage, which would not let a test choose their age.
	raw    storage.Interface
	clock  *testingclock.FakePassiveClock
	pruner *history.Pruner
	// begin is when all runs were created.
	begin time.Time
}

type options struct{ config storagebackend.Config }

// GetRESTOptions gives each resource a prefix of its own.
func (o options) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{StorageConfig: o.config.ForResource(resource), Decorator: genericregistry.StorageWithCacher(),
		EnableGarbageCollection: true, DeleteCollectionWorkers: 1, ResourcePrefix: "/" + resource.Resource}, nil
}

func open(t *testing.T) *stores {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	_, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	config.EventsHistoryWindow = storagebackend.DefaultEventsHistoryWindow
	config.Codec = codecs.LegacyCodec(v1beta1.SchemeGroupVersion)
	group, _, err := (&registry.StorageProvider{Scheme: scheme, Codecs: codecs}).Group(options{*config})
	if err != nil {
		t.Fatal(err)
	}
	storages := group.VersionedResourcesStorageMap[v1beta1.SchemeGroupVersion.Version]
	for _, s := range storages {
		t.Cleanup(s.Destroy)
	}
	raw, destroy, err := generic.NewRawStorage(config.ForResource(kudo.Resource("operatorversionrevisions")), func() runtime.Object { return &kudo.OperatorVersionRevision{} },
		func() runtime.Object { return &kudo.OperatorVersionRevisionList{} }, "/operatorversionrevisions")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	s := &stores{storages["instances"].(*instance.REST), storages["planexecutions"].(*planexecution.REST), storages["operatorversionrevisions"].(*revision.REST),
		raw, testingclock.NewFakePassiveClock(time.Now()), nil, time.Now().Add(-time.Hour)}
	for _, store := range []rest.Lister{s.instances, s.runs, s.revisions} {
		err := wait.PollUntilContextTimeout(inNamespace(t), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := store.List(ctx, &metainternalversion.ListOptions{})
			return err == nil, nil // the cache is not filled yet
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.pruner = &history.Pruner{Instances: s.instances, Runs: s.runs, Revisions: s.revisions, Clock: s.clock}
	return s
}

// put stores an object as it is, past strategy and admission.
func put(t *testing.T, store *genericregistry.Store, name string, obj runtime.Object) {
	t.Helper()
	ctx := inNamespace(t)
	key, err := store.KeyFunc(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Storage.Create(ctx, key, obj, store.NewFunc(), 0, false); err != nil {
		t.Fatal(err)
	}
}

// instance stores the Instance db.
func (s *stores) instance(t *testing.T, successful, failed *int32) *kudo.Instance {
	t.Helper()
	i := &kudo.Instance{ObjectMeta: meta("db"), Spec: kudo.InstanceSpec{OperatorVersion: kudo.ObjectReference{Name: "v"}, SuccessfulRunsHistoryLimit: successful, FailedRunsHistoryLimit: failed}}
	put(t, s.instances.Store, i.Name, i.DeepCopy())
	return i
}

// run stores a run of the Instance that ended so many seconds after its creation.
func (s *stores) run(t *testing.T, name, instance string, status kudo.ExecutionStatus, second int, revision string) {
	t.Helper()
	begin := metav1.NewTime(s.begin)
	end := metav1.NewTime(begin.Add(time.Duration(second) * time.Second))
	run := &kudo.PlanExecution{ObjectMeta: meta(name), Spec: kudo.PlanExecutionSpec{InstanceName: instance, PlanName: "work", RevisionName: revision},
		Status: kudo.PlanExecutionStatus{Status: status}}
	run.CreationTimestamp = begin
	if status.IsTerminal() {
		run.Status.CompletionTime = &end
	}
	put(t, s.runs.Store, name, run)
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), CreationTimestamp: metav1.Now()}
}

// prune prunes the Instance db.
func (s *stores) prune(t *testing.T) time.Duration {
	t.Helper()
	again, err := s.pruner.Prune(t.Context(), "ns", "db")
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// left are the names of what is stored.
func left(t *testing.T, store rest.Lister) []string {
	t.Helper()
	list, err := store.List(inNamespace(t), &metainternalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := sets.New[string]()
	switch l := list.(type) {
	case *kudo.PlanExecutionList:
		for _, run := range l.Items {
			found.Insert(run.Name)
		}
	case *kudo.OperatorVersionRevisionList:
		for _, r := range l.Items {
			found.Insert(r.Name)
		}
	}
	return sets.List(found)
}

// numbered are names with the numbers from first to last.
func numbered(prefix string, first, last int) []string {
	var out []string
	for n := first; n <= last; n++ {
		out = append(out, fmt.Sprintf("%s%02d", prefix, n))
	}
	return out
}

func inNamespace(t *testing.T) context.Context {
	t.Helper()
	return genericapirequest.WithNamespace(t.Context(), "ns")
}
