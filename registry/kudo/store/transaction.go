// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
)

// ErrChanged says that an object was changed, or is gone, since it was read. Nothing was written.
var ErrChanged = errors.New("an object that the request depends on was changed meanwhile")

// Transactions writes objects of several resources at once. The generic storage writes one object at a time, so that two writes that
// belong together take twice as long, and leave one without the other when the server dies in between.
type Transactions struct {
	kv    clientv3.KV
	forms map[schema.GroupResource]*form
}

// NewTransactions connects to the etcd in which the options store the resources. disconnect ends the connection.
func NewTransactions(options generic.RESTOptionsGetter, resources ...schema.GroupResource) (t *Transactions, disconnect func(), err error) {
	t = &Transactions{forms: map[schema.GroupResource]*form{}}
	var last *form
	for _, resource := range resources {
		of, err := options.GetRESTOptions(resource, nil)
		if err != nil {
			return nil, nil, err
		}
		if last != nil && !slices.Equal(last.Transport.ServerList, of.StorageConfig.Transport.ServerList) {
			return nil, nil, fmt.Errorf("%s and %s are in different etcds: what is written together must be in one; remove --etcd-servers-overrides for this group", resource, resources[0])
		}
		last = &form{of.StorageConfig, of.ResourcePrefix}
		t.forms[resource] = last
	}
	client, err := connect(last.Transport)
	if err != nil {
		return nil, nil, err
	}
	t.kv = etcd3.NewETCDLatencyTracker(client.KV)
	return t, func() { _ = client.Close() }, nil
}

// Ref is a stored object in the state in which it was read.
type Ref struct {
	Resource schema.GroupResource
	Object   runtime.Object
}

// Companions are what is written, and what must not have changed, together with the creation of an object.
type Companions struct {
	// Changed is an object with changes to be written, which has the resourceVersion with which it was read. Nil stands for nothing.
	Changed *Ref
	// Unchanged are objects that must be as they were read.
	Unchanged []Ref
}

// versioner keeps the revision of etcd in metadata.resourceVersion, as the generic storage does.
var versioner storage.APIObjectVersioner

type companionsKey struct{}

// WithCompanions returns a context in which the creation of an object, in the storage that Joined made, takes the companions along.
// They are looked at when the object is stored, so that the last check of the creation may still fill them in.
func WithCompanions(ctx context.Context, c *Companions) context.Context {
	return context.WithValue(ctx, companionsKey{}, c)
}

// Joined makes the storage of a resource, whose other calls are those of s, store new objects together with their companions.
func (t *Transactions) Joined(s storage.Interface, resource schema.GroupResource) storage.Interface {
	return &joined{Interface: s, transactions: t, resource: resource}
}

type joined struct {
	storage.Interface
	transactions *Transactions
	resource     schema.GroupResource
}

// Create stores a new object, and its companions with it or nothing at all. ErrChanged is what it answers if one of them is not what it
// was.
func (j *joined) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	companions, _ := ctx.Value(companionsKey{}).(*Companions)
	if companions == nil || companions.Changed == nil {
		return j.Interface.Create(ctx, key, obj, out, ttl)
	}
	created := j.transactions.forms[j.resource]
	if err := versioner.PrepareObjectForStorage(obj); err != nil {
		return err
	}
	key = created.key(key)
	data, put, err := created.put(ctx, key, obj)
	if err != nil {
		return err
	}
	conditions := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", 0)}
	puts := []clientv3.Op{put}
	changed, at, put, err := j.transactions.change(ctx, companions.Changed)
	if err != nil {
		return err
	}
	conditions, puts = append(conditions, clientv3.Compare(clientv3.ModRevision(changed), "=", at)), append(puts, put)
	for _, ref := range companions.Unchanged {
		key, at, err := j.transactions.forms[ref.Resource].locate(ref.Object)
		if err != nil {
			return err
		}
		conditions = append(conditions, clientv3.Compare(clientv3.ModRevision(key), "=", at))
	}
	begin := time.Now()
	answer, err := j.transactions.kv.Txn(ctx).If(conditions...).Then(puts...).Else(clientv3.OpGet(key, clientv3.WithKeysOnly())).Commit()
	metrics.RecordEtcdRequest("create", j.resource, err, begin)
	if err != nil {
		return tooLarge(err)
	}
	if !answer.Succeeded {
		if len(answer.Responses[0].GetResponseRange().Kvs) > 0 {
			return storage.NewKeyExistsError(key, 0)
		}
		return ErrChanged
	}
	return etcd3.NewDefaultDecoder(created.Codec, versioner).Decode(data, out, answer.Header.Revision)
}

// change is the write of a changed object: its key, the revision that it must still have, and the operation.
func (t *Transactions) change(ctx context.Context, ref *Ref) (string, int64, clientv3.Op, error) {
	form := t.forms[ref.Resource]
	key, at, err := form.locate(ref.Object)
	if err != nil {
		return "", 0, clientv3.Op{}, err
	}
	stored := ref.Object.DeepCopyObject()
	if err := versioner.PrepareObjectForStorage(stored); err != nil {
		return "", 0, clientv3.Op{}, err
	}
	_, put, err := form.put(ctx, key, stored)
	return key, at, put, err
}

// form is how the objects of a resource are stored: where, in which encoding, and how that is encrypted.
type form struct {
	*storagebackend.ConfigForResource
	resourcePrefix string
}

// key is the key in etcd for one of the generic store.
func (f *form) key(key string) string { return path.Join("/", f.Prefix, key) }

// locate returns the key of an object that was read, and the revision of etcd that it had.
func (f *form) locate(obj runtime.Object) (string, int64, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return "", 0, err
	}
	at, err := versioner.ObjectResourceVersion(obj)
	if err != nil {
		return "", 0, err
	}
	if at == 0 {
		return "", 0, fmt.Errorf("%T %s/%s was not read from the storage", obj, object.GetNamespace(), object.GetName())
	}
	return f.key(path.Join(f.resourcePrefix, object.GetNamespace(), object.GetName())), int64(at), nil
}

// put is the write of an object, with its encoding before it was encrypted.
func (f *form) put(ctx context.Context, key string, obj runtime.Object) ([]byte, clientv3.Op, error) {
	data, err := runtime.Encode(f.Codec, obj)
	if err != nil {
		return nil, clientv3.Op{}, err
	}
	transformer := f.Transformer
	if transformer == nil {
		transformer = identity.NewEncryptCheckTransformer()
	}
	encrypted, err := transformer.TransformToStorage(ctx, data, value.DefaultContext(key))
	if err != nil {
		return nil, clientv3.Op{}, storage.NewInternalError(err)
	}
	return data, clientv3.OpPut(key, string(encrypted)), nil
}
