// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	// maxStatusWatch ends a watch of a status before kube-apiserver, which takes it for a request like any other, cuts it after a
	// minute without a word.
	maxStatusWatch = 50 * time.Second
	// cutGrace is how long a client that does not read holds up the end of the server.
	cutGrace = 2 * time.Second
)

// longRunning are the requests that may take longer than a minute and hold no seat of priority and fairness: the two kinds that
// kube-apiserver, which proxies to this server, lets run for longer too, and the watch of one status.
func longRunning() genericapirequest.LongRunningRequestCheck {
	basic := genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log"))
	return func(req *http.Request, info *genericapirequest.RequestInfo) bool {
		return basic(req, info) || isStatusWatch(req, info)
	}
}

// isStatusWatch tells of GET …/planexecutions/{name}/status?watch=true. For all that looks at the path it is a get.
func isStatusWatch(req *http.Request, info *genericapirequest.RequestInfo) bool {
	if !ofRun(info, "status") || info.Verb != "get" || req.Method != http.MethodGet {
		return false
	}
	values, on := req.URL.Query()["watch"], false
	if len(values) == 0 {
		return false
	}
	return runtime.Convert_Slice_string_To_bool(&values, &on, conversion.Scope(nil)) == nil && on
}

// ofRun tells of requests for a subresource of one PlanExecution.
func ofRun(info *genericapirequest.RequestInfo, subresource string) bool {
	return info.IsResourceRequest && info.APIGroup == kudo.GroupName && info.Resource == "planexecutions" && info.Subresource == subresource
}

// statusStorage is the storage of planexecutions/status, which cannot offer its watch by the interfaces that the installer of
// routes knows: there, a resource is watched and a subresource is not.
type statusStorage interface {
	rest.TableConvertor
	Watcher(limit time.Duration, shutdown <-chan struct{}) rest.Watcher
}

// installStreams lets GET of a status watch it, and sees to it that no stream holds up the end of the server.
func installStreams(server *genericapiserver.GenericAPIServer, group *genericapiserver.APIGroupInfo, shutdown <-chan struct{}) error {
	status, ok := group.VersionedResourcesStorageMap[v1beta1.SchemeGroupVersion.Version]["planexecutions/status"].(statusStorage)
	if !ok {
		return fmt.Errorf("the storage of planexecutions/status cannot watch")
	}
	ws, err := webService(server)
	if err != nil {
		return err
	}
	documentStatusWatch(ws)
	ws.Filter(func(req *restful.Request, resp *restful.Response, chain *restful.FilterChain) {
		info, ok := genericapirequest.RequestInfoFrom(req.Request.Context())
		switch {
		case ok && isStatusWatch(req.Request, info):
			go cut(req.Request.Context(), resp.ResponseWriter, shutdown)
			serveStatusWatch(status, group, shutdown, resp.ResponseWriter, req.Request)
			return
		case ok && ofRun(info, "log"):
			go cut(req.Request.Context(), resp.ResponseWriter, shutdown)
			// The format is a parameter. What is negotiated is how errors are written, and for that no type of a log will do.
			req.Request.Header.Set("Accept", strings.TrimPrefix(req.Request.Header.Get("Accept")+", */*", ", "))
		}
		chain.ProcessFilter(req, resp)
	})
	return nil
}

// documentStatusWatch adds the parameters of the watch to the route of GET in OpenAPI.
func documentStatusWatch(ws *restful.WebService) {
	for i, routes := 0, ws.Routes(); i < len(routes); i++ {
		if route := &routes[i]; route.Method == http.MethodGet && strings.HasSuffix(route.Path, "/planexecutions/{name}/status") {
			route.ParameterDocs = append(route.ParameterDocs,
				ws.QueryParameter("watch", "Stream the states of the run as watch events until it ends, for 50 seconds at most. The last event says why the stream ends.").DataType("boolean"),
				ws.QueryParameter("resourceVersion", "With watch: begin after this version. Defaults to the state of now.").DataType("string"),
				ws.QueryParameter("timeoutSeconds", "With watch: end the stream after this time.").DataType("integer"))
		}
	}
}

// cut ends a stream that the client does not read, some time after the server began to stop.
func cut(ctx context.Context, w http.ResponseWriter, shutdown <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-shutdown:
	}
	select {
	case <-ctx.Done():
	case <-time.After(cutGrace):
		// The request may end at this very moment, and a writer that belongs to no request any more may panic. Nothing is lost then.
		defer func() { _ = recover() }()
		if ctx.Err() != nil {
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now()) // where it cannot be set, the server waits for the client
	}
}

// serveStatusWatch answers with the watch events of one run, in whatever form a watch can be had.
func serveStatusWatch(status statusStorage, group *genericapiserver.APIGroupInfo, shutdown <-chan struct{}, w http.ResponseWriter, req *http.Request) {
	limit, err := statusWatchLimit(req.URL.Query())
	if err != nil {
		responsewriters.ErrorNegotiated(err, Codecs, v1beta1.SchemeGroupVersion, w, req)
		return
	}
	scope := &handlers.RequestScope{
		Namer:      handlers.ContextBasedNaming{Namer: runtime.Namer(meta.NewAccessor())},
		Serializer: group.NegotiatedSerializer, ParameterCodec: group.ParameterCodec,
		Creater: Scheme, Convertor: Scheme, Defaulter: Scheme, Typer: Scheme, UnsafeConvertor: runtime.UnsafeObjectConvertor(Scheme),
		TableConvertor: status,
		Resource:       v1beta1.SchemeGroupVersion.WithResource("planexecutions"), Subresource: "status",
		Kind:            v1beta1.SchemeGroupVersion.WithKind("PlanExecution"),
		HubGroupVersion: kudo.SchemeGroupVersion, MetaGroupVersion: metav1.SchemeGroupVersion,
	}
	// The handler of watches would end without a last event at its own time, so it is given twice ours.
	handlers.ListResource(nil, status.Watcher(limit, shutdown), scope, true, 2*limit)(w, withQuery(req, resumable))
}

// resumable are the parameters that a watch of one status has; it needs no others.
var resumable = []string{"resourceVersion"}

// withQuery is the request with only some of its parameters.
func withQuery(req *http.Request, names []string) *http.Request {
	query, kept := req.URL.Query(), url.Values{"watch": {"true"}}
	for _, name := range names {
		if query.Has(name) {
			kept.Set(name, query.Get(name))
		}
	}
	second := req.Clone(req.Context())
	second.URL.RawQuery = kept.Encode()
	return second
}

// statusWatchLimit is how long a watch may take: as the client asks, and not longer than the front door lets it.
func statusWatchLimit(query url.Values) (time.Duration, error) {
	for _, name := range []string{"labelSelector", "fieldSelector", "sendInitialEvents", "continue", "limit"} {
		if query.Get(name) != "" {
			return 0, apierrors.NewBadRequest(fmt.Sprintf("%s: Forbidden: a watch of the status of one run has only resourceVersion and timeoutSeconds; "+
				"to watch several runs use GET planexecutions?watch=true", name))
		}
	}
	limit := maxStatusWatch
	if value := query.Get("timeoutSeconds"); value != "" {
		seconds, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return 0, apierrors.NewBadRequest(fmt.Sprintf("timeoutSeconds: Invalid value: %q: must be a number of seconds; more than %d count as that many", value, int(maxStatusWatch.Seconds())))
		}
		if seconds > 0 {
			limit = min(limit, time.Duration(seconds)*time.Second)
		}
	}
	// Clients with a timeout for their requests send it along, and kube-apiserver cuts the request when it is over.
	if timeout, err := time.ParseDuration(query.Get("timeout")); err == nil && timeout > 0 {
		limit = min(limit, timeout*9/10)
	}
	return limit, nil
}
