// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apiserver"
)

// server is kudo-apiserver in the process of the benchmark, over an embedded etcd as by default, without what checks who may do what.
type server struct{ handler http.Handler }

type options struct{ config storagebackend.Config }

// GetRESTOptions gives each resource a prefix of its own.
func (o options) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{StorageConfig: o.config.ForResource(resource), Decorator: genericregistry.StorageWithCacher(),
		DeleteCollectionWorkers: 1, ResourcePrefix: "/" + resource.Resource}, nil
}

// prefix is where all objects are in etcd.
const prefix = "/registry-kudo"

func newServer(b *testing.B, endpoint string) (*server, func()) {
	b.Helper()
	codec, err := apiserver.StorageCodec()
	if err != nil {
		b.Fatal(err)
	}
	storageConfig := storagebackend.NewDefaultConfig(prefix, codec)
	storageConfig.Transport.ServerList = []string{endpoint}
	config := apiserver.NewGenericConfig()
	config.RESTOptionsGetter = options{*storageConfig}
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.ExternalAddress = "localhost:443"
	config.LoopbackClientConfig = &rest.Config{}
	s, err := (&apiserver.Config{Generic: config}).Complete().New()
	if err != nil {
		b.Fatal(err)
	}
	return &server{genericapifilters.WithRequestInfo(s.Handler.Director, genericapiserver.NewRequestInfoResolver(&config.Config))}, s.Destroy
}

func instanceName(n int) string { return fmt.Sprintf("instance-%05d", n) }

// fill writes the runs of the Instances with these numbers to etcd, in transactions as large as etcd takes: one by one it would take
// longer than all that is measured.
func fill(b *testing.B, client *clientv3.Client, from, to int) {
	b.Helper()
	codec, err := apiserver.StorageCodec()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	var batch []clientv3.Op
	flush := func() {
		if _, err := client.Txn(b.Context()).Then(batch...).Commit(); err != nil {
			b.Fatal(err)
		}
		batch = nil
	}
	for i := from; i < to; i++ {
		for r := range runsOfOne {
			run := ended(i, r)
			data, err := runtime.Encode(codec, run)
			if err != nil {
				b.Fatal(err)
			}
			if batch = append(batch, clientv3.OpPut(prefix+"/planexecutions/"+namespace+"/"+run.Name, string(data))); len(batch) == 128 {
				flush()
			}
		}
	}
	flush()
	b.Logf("%d more runs are stored after %v", (to-from)*runsOfOne, time.Since(begin).Round(time.Millisecond))
}

// ended is a run that has ended.
func ended(instance, number int) *kudo.PlanExecution {
	at := metav1.Now()
	name := fmt.Sprintf("%s-deploy-%02d", instanceName(instance), number)
	status := kudo.ExecutionComplete
	if number%2 == 1 {
		status = kudo.ExecutionFatalError
	}
	return &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name), CreationTimestamp: at},
		Spec:       kudo.PlanExecutionSpec{InstanceName: instanceName(instance), PlanName: "deploy", Trigger: kudo.TriggerManual, RequestedBy: &kudo.RequestedBy{Username: "admin"}},
		Status: kudo.PlanExecutionStatus{Status: status, StartTime: &at, CompletionTime: &at, Phases: []kudo.PhaseExecutionStatus{{
			Name: "main", Status: status, StartTime: &at, CompletionTime: &at, Steps: []kudo.StepExecutionStatus{{Name: "one", Status: status, StartTime: &at, CompletionTime: &at}}}}},
	}
}
