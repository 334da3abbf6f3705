// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"kudo.dev/kudo/apiserver/etcd"
)

// runsOfOne is how many runs each Instance has: ten that ended well and ten that failed, as by default.
const runsOfOne = 20

// BenchmarkHistory is the time to list the runs of one Instance, inside the server, when 1,000 and when 100,000 runs are stored: as
// clients do by default, which is a consistent read; as kubectl does, in chunks of 500 and as a table; from the cache, as informers do;
// and in two chunks, of which the second walks the cache. x-of-1000 is the time of the same list when 1,000 runs are stored.
func BenchmarkHistory(b *testing.B) {
	stored, err := etcd.Start(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stored.Stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{stored.Endpoint}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	few := map[string]float64{} // how long a list takes when few runs are stored
	before := 0
	for _, total := range []int{1_000, 100_000} {
		fill(b, client, before, total/runsOfOne)
		before = total / runsOfOne
		listing(b, stored.Endpoint, total, few)
	}
}

// listing measures lists while so many runs are stored.
func listing(b *testing.B, endpoint string, total int, few map[string]float64) {
	b.Helper()
	s, stop := newServer(b, endpoint)
	defer stop()
	s.ready(b)
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.Logf("%d MiB of heap, that of etcd included, with %d runs", memory.HeapAlloc>>20, total)
	for _, list := range []struct {
		name  string
		query url.Values
		table bool
	}{
		{"consistent", nil, false},
		{"kubectl", url.Values{"limit": {"500"}}, true},
		{"cached", url.Values{"resourceVersion": {"0"}}, false},
		{"chunks", url.Values{"limit": {"10"}}, false},
	} {
		b.Run(fmt.Sprintf("%s/%d", list.name, total), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				query := url.Values{"fieldSelector": {"spec.instanceName=" + instanceName(n%(1_000/runsOfOne))}}
				maps.Copy(query, list.query)
				if found := s.list(b, query, list.table); found != runsOfOne {
					b.Fatalf("%d runs, want %d", found, runsOfOne)
				}
			}
			perList := float64(b.Elapsed()) / float64(b.N)
			if total == 1_000 {
				few[list.name] = perList
			}
			if base, measured := few[list.name]; measured {
				b.ReportMetric(perList/base, "x-of-1000")
			}
		})
	}
}

// ready waits until the cache is filled. A list that comes before is told to come again.
func (s *server) ready(b *testing.B) {
	b.Helper()
	begin := time.Now()
	err := wait.PollUntilContextTimeout(b.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		answer := httptest.NewRecorder()
		s.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, runsOfNamespace+"?resourceVersion=0&fieldSelector=spec.instanceName%3Dnone", nil))
		return answer.Code == http.StatusOK, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("the cache is filled after %v", time.Since(begin).Round(time.Millisecond))
}

const runsOfNamespace = "/apis/kudo.dev/v1beta1/namespaces/" + namespace + "/planexecutions"

// list gets all chunks of a list and returns how many runs there are.
func (s *server) list(b *testing.B, query url.Values, table bool) int {
	b.Helper()
	found := 0
	for {
		request := httptest.NewRequest(http.MethodGet, runsOfNamespace+"?"+query.Encode(), nil)
		request.Header.Set("Accept", "application/json")
		if table {
			request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
		}
		answer := httptest.NewRecorder()
		s.handler.ServeHTTP(answer, request)
		var list struct {
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
			Rows     []json.RawMessage `json:"rows"`
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || answer.Code != http.StatusOK {
			b.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
		}
		found += len(list.Items) + len(list.Rows)
		if list.Metadata.Continue == "" {
			return found
		}
		query.Set("continue", list.Metadata.Continue)
	}
}
