// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	restful "github.com/emicklei/go-restful/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const triggerSuffix = ":trigger"

// installTriggerRoute adds POST …/instances/{name}/plans/{plan}:trigger. The route is sugar: it puts the name of the plan into the
// body and hands the request to POST …/instances/{name}/plans, so that decoding, admission, dry run, audit and
// authorization are the same for both.
func installTriggerRoute(server *genericapiserver.GenericAPIServer) error {
	ws, err := webService(server)
	if err != nil {
		return err
	}
	ws.Route(ws.POST("/namespaces/{namespace}/instances/{name}/plans/{plan}"+triggerSuffix).
		Doc("start a run of a plan of the specified Instance").
		Operation("createNamespacedInstancePlanTrigger").
		Param(ws.PathParameter("namespace", "namespace of the Instance").DataType("string")).
		Param(ws.PathParameter("name", "name of the Instance").DataType("string")).
		Param(ws.PathParameter("plan", "name of the plan").DataType("string")).
		Param(ws.QueryParameter("dryRun", "All answers what would run and stores nothing").DataType("string")).
		Param(ws.QueryParameter("fieldManager", "name of the client").DataType("string")).
		Param(ws.QueryParameter("fieldValidation", "Strict, Warn or Ignore").DataType("string")).
		Reads(v1beta1.PlanTrigger{}).
		Returns(http.StatusCreated, "Created", v1beta1.PlanExecution{}).
		Writes(v1beta1.PlanExecution{}).
		Consumes("*/*").
		To(func(req *restful.Request, resp *restful.Response) {
			dispatchTrigger(server, req, resp)
		}))
	return nil
}

// webService holds the routes of the group.
func webService(server *genericapiserver.GenericAPIServer) (*restful.WebService, error) {
	root := genericapiserver.APIGroupPrefix + "/" + v1beta1.SchemeGroupVersion.String()
	for _, ws := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
		if ws.RootPath() == root {
			return ws, nil
		}
	}
	return nil, fmt.Errorf("no web service is installed at %s", root)
}

func dispatchTrigger(server *genericapiserver.GenericAPIServer, req *restful.Request, resp *restful.Response) {
	plan := strings.TrimSuffix(req.PathParameter("plan"), triggerSuffix)
	body, err := triggerBody(req.Request, plan)
	if err != nil {
		responsewriters.ErrorNegotiated(err, Codecs, v1beta1.SchemeGroupVersion, resp.ResponseWriter, req.Request)
		return
	}
	// The router forgives a slash at the end. What cannot be shortened must not be dispatched: it would come back here for ever.
	path, ok := strings.CutSuffix(strings.TrimRight(req.Request.URL.Path, "/"), "/"+plan+triggerSuffix)
	if !ok {
		err := apierrors.NewNotFound(v1beta1.Resource("instances/plans"), plan+triggerSuffix)
		responsewriters.ErrorNegotiated(err, Codecs, v1beta1.SchemeGroupVersion, resp.ResponseWriter, req.Request)
		return
	}
	second := req.Request.Clone(req.Request.Context())
	second.URL.Path = path
	second.URL.RawPath = ""
	second.Body = io.NopCloser(bytes.NewReader(body))
	second.ContentLength = int64(len(body))
	second.Header.Set("Content-Type", runtime.ContentTypeJSON)
	server.Handler.GoRestfulContainer.Dispatch(resp.ResponseWriter, second)
}
