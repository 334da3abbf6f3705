// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/integration/random/history"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// Where clients work: some of the Instances do not exist at any time.
const (
	namespaces            = 4
	instancesPerNamespace = 5
)

// stage is where clients act, with the record of what they did.
type stage struct {
	lab  *lab.Lab
	view *view
	// places are the names of Instances.
	places []types.NamespacedName

	mu         sync.Mutex
	operations []history.Operation
	outages    []history.Span
	next, most int
	deadline   time.Time
	// told are the runs that an answer named.
	told map[types.UID]bool
	// up is closed while there is a server.
	up chan struct{}
}

func newStage(t *testing.T, l *lab.Lab, operations int, budget time.Duration) *stage {
	t.Helper()
	s := &stage{lab: l, view: newView(), most: operations, deadline: time.Now().Add(budget), told: map[types.UID]bool{}, up: make(chan struct{})}
	close(s.up)
	for range namespaces {
		ns := l.Namespace(t)
		if err := installOperator(t.Context(), l, ns); err != nil {
			t.Fatal(err)
		}
		for n := range instancesPerNamespace {
			s.places = append(s.places, types.NamespacedName{Namespace: ns, Name: fmt.Sprintf("i%d", n)})
		}
	}
	return s
}

// observe records what happens until the returned function is called, which ends with a last look.
func (s *stage) observe(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	client := s.lab.Kudo.KudoV1beta1()
	instances := source[*v1beta1.Instance]{watch: client.Instances("").Watch, tell: s.view.instanceEvent,
		list: func(ctx context.Context, o metav1.ListOptions) ([]*v1beta1.Instance, string, error) {
			list, err := client.Instances("").List(ctx, o)
			if err != nil {
				return nil, "", err
			}
			return pointers(list.Items), list.ResourceVersion, nil
		}}
	runs := source[*v1beta1.PlanExecution]{watch: client.PlanExecutions("").Watch, tell: s.view.runEvent,
		list: func(ctx context.Context, o metav1.ListOptions) ([]*v1beta1.PlanExecution, string, error) {
			list, err := client.PlanExecutions("").List(ctx, o)
			if err != nil {
				return nil, "", err
			}
			return pointers(list.Items), list.ResourceVersion, nil
		}}
	var observers sync.WaitGroup
	observers.Go(func() { instances.observe(ctx) })
	observers.Go(func() { runs.observe(ctx) })
	return func() error {
		cancel()
		observers.Wait()
		_, err := instances.look(context.Background())
		_, runsErr := runs.look(context.Background())
		return errors.Join(err, runsErr)
	}
}

// number is that of the next operation; false when there were enough.
func (s *stage) number() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= s.most || time.Now().After(s.deadline) {
		return 0, false
	}
	s.next++
	return s.next, true
}

// extra is the number of an operation that is not counted, by which things are brought to an end.
func (s *stage) extra() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

func (s *stage) record(o history.Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations = append(s.operations, o)
}

// first tells whether no answer named the run before.
func (s *stage) first(uid types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.told[uid]
	s.told[uid] = true
	return !known
}

// waitUp waits for a server.
func (s *stage) waitUp(ctx context.Context) {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
	}
}

// closed and opened begin and end a time without server.
func (s *stage) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = make(chan struct{})
}

func (s *stage) opened(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outages = append(s.outages, history.Span{From: since, To: time.Now()})
	close(s.up)
}

// client is a client of its own user. It sends no request twice by itself: what is sent twice may be done twice.
func (s *stage) client(name string) (clientset.Interface, error) {
	config, err := s.lab.Cluster.RESTConfig(name)
	if err != nil {
		return nil, err
	}
	config.WarningHandlerWithContext = rest.NoWarnings{} // each start of a plan has one
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return once{next} })
	return clientset.NewForConfig(config)
}

// once takes from answers what makes client-go repeat a request.
type once struct{ next http.RoundTripper }

func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(r)
	if err == nil {
		resp.Header.Del("Retry-After")
	}
	return resp, err
}

// outcome is what an answer says about whether something was done.
func outcome(err error) (history.Outcome, string) {
	if err == nil {
		return history.Accepted, ""
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		text := fmt.Sprintf("%d %s", code, brief(status.Status().Message))
		if code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests {
			return history.Refused, text
		}
		return history.Unknown, text
	}
	return history.Unknown, brief(err.Error())
}

func brief(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s[:min(len(s), 200)]
}

// log is all that was recorded, with what the executor wrote.
func (s *stage) log(t *testing.T) *history.Log {
	t.Helper()
	audit, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	writes, err := readWrites(audit)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	return &history.Log{Operations: s.operations, Instances: s.view.instanceEvents, Runs: s.view.runEvents, Outages: s.outages, Writes: writes, End: time.Now()}
}
