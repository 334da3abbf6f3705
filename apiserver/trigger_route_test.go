// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestTriggerBody(t *testing.T) {
	const plain = `{"apiVersion":"kudo.dev/v1beta1","kind":"PlanTrigger","planName":"backup"}`
	for _, tc := range []struct {
		name, contentType, body string
		want                    string
		code                    int32
	}{
		{"no body", "", "", plain, 0},
		{"blanks", "application/json", " \n", plain, 0},
		{"null", "application/json", "null", plain, 0},
		{"parameters only", "application/json", `{"parameters":{"FILE":"x"}}`, `{"apiVersion":"kudo.dev/v1beta1","kind":"PlanTrigger","parameters":{"FILE":"x"},"planName":"backup"}`, 0},
		{"the same plan", "", `{"kind":"PlanTrigger","planName":"backup"}`, plain, 0},
		{"YAML", "application/yaml", "planName: backup\n", plain, 0},
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
