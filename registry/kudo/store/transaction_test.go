// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	encrypt "k8s.io/apiserver/pkg/storage/value/encrypt/aes"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/install"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/store"
)

var (
	instances = kudo.Resource("instances")
	runs      = kudo.Resource("planexecutions")
	versions  = kudo.Resource("operatorversions")
)

// options stores each resource below its own prefix.
type options struct{ config storagebackend.Config }

func (o options) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{StorageConfig: o.config.ForResource(resource), ResourcePrefix: "/" + resource.Resource}, nil
}

// fixture is a real etcd, with everything in it encrypted, and a run of an Instance that is not stored yet.
type fixture struct {
	client *clientv3.Client
	// runs joins others; instances and versions are generic storages.
	runs, instances, versions storage.Interface
	instance                  *kudo.Instance
	version                   *kudo.OperatorVersion
	run                       *kudo.PlanExecution
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	scheme := runtime.NewScheme()
	install.Install(scheme)
	config.Codec = serializer.NewCodecFactory(scheme).LegacyCodec(v1beta1.SchemeGroupVersion)
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	if config.Transformer, err = encrypt.NewGCMTransformer(block); err != nil {
		t.Fatal(err)
	}
	raw := func(resource schema.GroupResource, one, list runtime.Object) storage.Interface {
		s, destroy, err := generic.NewRawStorage(config.ForResource(resource), one.DeepCopyObject, list.DeepCopyObject, "/"+resource.Resource)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(destroy)
		return s
	}
	transactions, disconnect, err := store.NewTransactions(options{*config}, runs, instances, versions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disconnect)
	f := &fixture{
		client:    server.V3Client.Client,
		runs:      transactions.Joined(raw(runs, &kudo.PlanExecution{}, &kudo.PlanExecutionList{}), runs),
		instances: raw(instances, &kudo.Instance{}, &kudo.InstanceList{}),
		versions:  raw(versions, &kudo.OperatorVersion{}, &kudo.OperatorVersionList{}),
		instance:  &kudo.Instance{}, version: &kudo.OperatorVersion{},
		run: &kudo.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "run"}, Spec: kudo.PlanExecutionSpec{PlanName: "secret"}},
	}
	create(t, f.instances, "/instances/ns/db", &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "db"}}, f.instance)
	create(t, f.versions, "/operatorversions/other/v", &kudo.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "v"}}, f.version)
	return f
}

func create(t *testing.T, s storage.Interface, key string, obj, out runtime.Object) {
	t.Helper()
	if err := s.Create(t.Context(), key, obj, out, 0); err != nil {
		t.Fatal(err)
	}
}

// touch changes a stored object.
func touch(t *testing.T, s storage.Interface, key string, out runtime.Object) {
	t.Helper()
	err := s.GuaranteedUpdate(t.Context(), key, out, false, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		obj.(metav1.Object).SetLabels(map[string]string{"changed": "yes"})
		return obj, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// start stores the run and the lock together.
func (f *fixture) start(ctx context.Context, out *kudo.PlanExecution) error {
	locked := f.instance.DeepCopy()
	locked.Spec.PlanExecution.PlanName = f.run.Spec.PlanName
	return f.runs.Create(store.WithCompanions(ctx, &store.Companions{
		Changed: &store.Ref{Resource: instances, Object: locked}, Unchanged: []store.Ref{{Resource: versions, Object: f.version}},
	}), "/planexecutions/ns/run", f.run.DeepCopy(), out, 0)
}

// stored returns the run, or nil, and the plan that holds the lock.
func (f *fixture) stored(t *testing.T) (*kudo.PlanExecution, string) {
	t.Helper()
	run, instance := &kudo.PlanExecution{}, &kudo.Instance{}
	if err := f.runs.Get(t.Context(), "/planexecutions/ns/run", storage.GetOptions{IgnoreNotFound: true}, run); err != nil {
		t.Fatal(err)
	}
	if run.Name == "" {
		run = nil
	}
	if err := f.instances.Get(t.Context(), "/instances/ns/db", storage.GetOptions{IgnoreNotFound: true}, instance); err != nil {
		t.Fatal(err)
	}
	return run, instance.Spec.PlanExecution.PlanName
}

func TestTransactionWritesBoth(t *testing.T) {
	f := newFixture(t)
	out := &kudo.PlanExecution{}
	if err := f.start(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	run, lock := f.stored(t)
	if run == nil || lock != "secret" || out.Name != "run" || out.ResourceVersion != run.ResourceVersion {
		t.Errorf("stored run %v, lock %q, answer %v", run, lock, out)
	}
	all, err := f.client.Get(t.Context(), "/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range all.Kvs {
		if bytes.Contains(pair.Value, []byte("secret")) {
			t.Errorf("%s is not encrypted", pair.Key)
		}
	}
	if len(all.Kvs) != 3 {
		t.Errorf("%d keys are stored, want 3", len(all.Kvs))
	}
}

func TestTransactionWritesNothing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		before func(t *testing.T, f *fixture)
		want   func(error) bool
	}{
		{"the Instance has changed", func(t *testing.T, f *fixture) { touch(t, f.instances, "/instances/ns/db", &kudo.Instance{}) },
			func(err error) bool { return errors.Is(err, store.ErrChanged) }},
		{"the OperatorVersion has changed", func(t *testing.T, f *fixture) {
			touch(t, f.versions, "/operatorversions/other/v", &kudo.OperatorVersion{})
		}, func(err error) bool { return errors.Is(err, store.ErrChanged) }},
		{"the OperatorVersion is gone", func(t *testing.T, f *fixture) {
			err := f.versions.Delete(t.Context(), "/operatorversions/other/v", &kudo.OperatorVersion{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, store.ErrChanged) }},
		{"the Instance was never read", func(_ *testing.T, f *fixture) { f.instance.ResourceVersion = "" },
			func(err error) bool { return err != nil }},
		{"the context has ended", nil, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.before == nil {
				cancel()
			} else {
				tc.before(t, f)
			}
			err := f.start(ctx, &kudo.PlanExecution{})
			if !tc.want(err) {
				t.Errorf("got %v", err)
			}
			if run, lock := f.stored(t); run != nil || lock != "" {
				t.Errorf("stored run %v, lock %q", run, lock)
			}
		})
	}
}

func TestTransactionOfAnExistingName(t *testing.T) {
	f := newFixture(t)
	create(t, f.runs, "/planexecutions/ns/run", &kudo.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "run"}}, &kudo.PlanExecution{})
	if err := f.start(t.Context(), &kudo.PlanExecution{}); !storage.IsExist(err) {
		t.Errorf("got %v, want that it exists", err)
	}
	if run, lock := f.stored(t); run.Spec.PlanName != "" || lock != "" {
		t.Errorf("the refusal has changed the run, or taken the lock %q", lock)
	}
}

func TestTransactionNeedsOneEtcd(t *testing.T) {
	_, _, err := store.NewTransactions(apart{}, runs, instances)
	if err == nil {
		t.Error("resources in different etcds are not refused")
	}
}

// apart stores each resource in an etcd of its own.
type apart struct{}

func (apart) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Transport: storagebackend.TransportConfig{ServerList: []string{"https://" + resource.Resource}}}
	return generic.RESTOptions{StorageConfig: config.ForResource(resource)}, nil
}
