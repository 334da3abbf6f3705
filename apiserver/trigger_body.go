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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/warning"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// maxTriggerBody is far more than parameters need, in bytes.
const maxTriggerBody = 3 << 20

// triggerBody is the request as a PlanTrigger in JSON. The body may be empty, and need not name kind and plan. It is decoded as on POST
// …/plans, and here, because the second decoding cannot see any more which fields were unknown or given twice.
func triggerBody(req *http.Request, plan string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(req.Body, maxTriggerBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot read the body: %v", err))
	}
	if len(data) > maxTriggerBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", maxTriggerBody))
	}
	trigger := &v1beta1.PlanTrigger{}
	if len(bytes.TrimSpace(data)) > 0 {
		if trigger, err = decodeTrigger(req, data); err != nil {
			return nil, err
		}
	}
	if trigger.PlanName != "" && trigger.PlanName != plan {
		return nil, contradiction("planName", trigger.PlanName, plan)
	}
	trigger.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("PlanTrigger"))
	trigger.PlanName = plan
	return json.Marshal(trigger)
}

// decodeTrigger reads a PlanTrigger. Unknown and duplicate fields are dealt with as the option fieldValidation says.
func decodeTrigger(req *http.Request, data []byte) (*v1beta1.PlanTrigger, error) {
	decoder, err := triggerDecoder(req.Header.Get("Content-Type"), data)
	if err != nil {
		return nil, err
	}
	want := v1beta1.SchemeGroupVersion.WithKind("PlanTrigger")
	obj, got, err := decoder.Decode(data, &want, &v1beta1.PlanTrigger{})
	if got != nil && got.Kind != want.Kind {
		return nil, contradiction("kind", got.Kind, want.Kind)
	}
	if got != nil && got.GroupVersion() != want.GroupVersion() {
		return nil, contradiction("apiVersion", got.GroupVersion().String(), want.GroupVersion().String())
	}
	trigger, ok := obj.(*v1beta1.PlanTrigger)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch validation := req.URL.Query().Get("fieldValidation"); {
	case ok && isStrict && (validation == metav1.FieldValidationWarn || validation == ""):
		for _, e := range strict.Errors() {
			for _, text := range linesOf(e) {
				warning.AddWarning(req.Context(), "", text)
			}
		}
	case ok && isStrict && validation != metav1.FieldValidationStrict: // to be ignored; any other word is refused where the request goes next
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", want.Kind, want.Version, want.Kind, err))
	case !ok:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is not a PlanTrigger but a %T", obj))
	}
	return trigger, nil
}

// linesOf are the complaints in one error: that of the YAML parser has one in each line.
func linesOf(err error) []string {
	text, isYAML := strings.CutPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: unmarshal errors:\n")
	if !isYAML {
		return []string{err.Error()}
	}
	lines := strings.Split(text, "\n")
	for n := range lines {
		lines[n] = strings.TrimSpace(lines[n])
	}
	return lines
}

// triggerDecoder accepts JSON and YAML; no content type means JSON, as everywhere in Kubernetes. What is called JSON and is not is read
// as YAML: kubectl create --raw calls every file JSON.
func triggerDecoder(contentType string, data []byte) (runtime.Decoder, error) {
	mediaType := runtime.ContentTypeJSON
	if contentType != "" {
		var err error
		if mediaType, _, err = mime.ParseMediaType(contentType); err != nil {
			mediaType = contentType
		}
	}
	if mediaType == runtime.ContentTypeJSON && !json.Valid(data) {
		mediaType = runtime.ContentTypeYAML
	}
	info, known := runtime.SerializerInfoForMediaType(Codecs.SupportedMediaTypes(), mediaType)
	if known && info.EncodesAsText {
		return info.StrictSerializer, nil
	}
	return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "create", v1beta1.Resource("instances/plans"), "",
		fmt.Sprintf("the body of a trigger is %s or %s, not %q; or leave it empty", runtime.ContentTypeJSON, runtime.ContentTypeYAML, contentType), 0, true)
}

func contradiction(field, was, want string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the body says %s %v, which the path makes %q; leave it out", field, was, want))
}
