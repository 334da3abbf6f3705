// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	restful "github.com/emicklei/go-restful/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	triggerSuffix = ":trigger"
	// maxTriggerBody is far more than parameters need, in bytes.
	maxTriggerBody = 3 << 20
)

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

// triggerBody is the request as a PlanTrigger in JSON. The body may be empty, and need not name kind and plan.
func triggerBody(req *http.Request, plan string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(req.Body, maxTriggerBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot read the body: %v", err))
	}
	if len(data) > maxTriggerBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", maxTriggerBody))
	}
	trigger := map[string]any{}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := checkMediaType(req.Header.Get("Content-Type")); err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(data, &trigger); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is not a PlanTrigger: %v", err))
		}
	}
	if trigger == nil {
		trigger = map[string]any{}
	}
	for key, value := range map[string]string{"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "PlanTrigger", "planName": plan} {
		if was, set := trigger[key]; set && was != "" && was != value {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the body says %s %v, which the path makes %q; leave it out", key, was, value))
		}
		trigger[key] = value
	}
	return json.Marshal(trigger)
}

// checkMediaType accepts what YAML, of which JSON is a part, can read. No content type means JSON, as everywhere in Kubernetes.
func checkMediaType(contentType string) error {
	if contentType == "" {
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err == nil && (mediaType == runtime.ContentTypeJSON || mediaType == runtime.ContentTypeYAML) {
		return nil
	}
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "create", v1beta1.Resource("instances/plans"), "",
		fmt.Sprintf("the body of a trigger is %s or %s, not %q; or leave it empty", runtime.ContentTypeJSON, runtime.ContentTypeYAML, contentType), 0, true)
}
