// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/warning"
)

func TestTriggerBody(t *testing.T) {
	const plain = `{"kind":"PlanTrigger","apiVersion":"kudo.dev/v1beta1","metadata":{},"planName":"backup"}`
	for _, tc := range []struct {
		name, contentType, body string
		want                    string
		code                    int32
	}{
		{"no body", "", "", plain, 0},
		{"blanks", "application/json", " \n", plain, 0},
		{"null", "application/json", "null", plain, 0},
		{"parameters only", "application/json", `{"parameters":{"FILE":"x"}}`, `{"kind":"PlanTrigger","apiVersion":"kudo.dev/v1beta1","metadata":{},"planName":"backup","parameters":{"FILE":"x"}}`, 0},
		{"the same plan", "", `{"kind":"PlanTrigger","planName":"backup"}`, plain, 0},
		{"YAML", "application/yaml", "planName: backup\n", plain, 0},
		{"YAML that is called JSON", "application/json", "planName: backup\n", plain, 0},
		{"an empty plan", "", `{"planName":""}`, plain, 0},
		{"another version", "", `{"apiVersion":"kudo.dev/v1"}`, "", http.StatusBadRequest},
		{"another kind of ours", "", `{"kind":"Instance"}`, "", http.StatusBadRequest},
		{"another plan", "", `{"planName":"restore"}`, "", http.StatusBadRequest},
		{"another kind", "", `{"kind":"Pod"}`, "", http.StatusBadRequest},
		{"a list", "", `[1]`, "", http.StatusBadRequest},
		{"broken", "", `{`, "", http.StatusBadRequest},
		{"protobuf", "application/vnd.kubernetes.protobuf", "k8s", "", http.StatusUnsupportedMediaType},
		{"protobuf without body", "application/vnd.kubernetes.protobuf", "", plain, 0},
		{"too much", "", strings.Repeat(" ", maxTriggerBody+1), "", http.StatusRequestEntityTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
			req.Header.Set("Content-Type", tc.contentType)
			got, err := triggerBody(req, "backup")
			if tc.code != 0 {
				status, ok := err.(apierrors.APIStatus)
				if !ok || status.Status().Code != tc.code {
					t.Fatalf("got %v, want code %d", err, tc.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// recorder keeps the warnings of a request.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

// TestTriggerFieldValidation: the body is decoded but once as it was sent, so that is when unknown and duplicate fields show.
func TestTriggerFieldValidation(t *testing.T) {
	const json = `{"a":1,"planName":"backup","planName":"backup","parameters":{"X":"1","X":"2"}}`
	const yaml = "a: 1\nplanName: backup\nplanName: backup\n"
	for _, tc := range []struct {
		name, query, body string
		warnings          []string
		code              int32
	}{
		{"JSON by default", "", json, []string{`unknown field "a"`, `duplicate field "planName"`, `duplicate field "parameters.X"`}, 0},
		{"JSON with warnings", "?fieldValidation=Warn", json, []string{`unknown field "a"`, `duplicate field "planName"`, `duplicate field "parameters.X"`}, 0},
		{"JSON ignored", "?fieldValidation=Ignore", json, nil, 0},
		{"JSON strict", "?fieldValidation=Strict", json, nil, http.StatusBadRequest},
		{"YAML with warnings", "?fieldValidation=Warn", yaml, []string{`line 3: key "planName" already set in map`, `unknown field "a"`}, 0},
		{"YAML ignored", "?fieldValidation=Ignore", yaml, nil, 0},
		{"YAML strict", "?fieldValidation=Strict", yaml, nil, http.StatusBadRequest},
		{"nothing wrong", "?fieldValidation=Strict", `{"parameters":{"X":"1"}}`, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got recorder
			req := httptest.NewRequest(http.MethodPost, "/"+tc.query, strings.NewReader(tc.body))
			_, err := triggerBody(req.WithContext(warning.WithWarningRecorder(req.Context(), &got)), "backup")
			if status, ok := err.(apierrors.APIStatus); (tc.code != 0) != ok || ok && status.Status().Code != tc.code {
				t.Errorf("got %v, want code %d", err, tc.code)
			}
			sort := cmpopts.SortSlices(func(a, b string) bool { return a < b })
			if diff := cmp.Diff(tc.warnings, []string(got), sort, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
