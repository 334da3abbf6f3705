// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// look says how to find out why the API is not there.
const look = "see: kubectl get apiservice v1beta1.kudo.dev -o yaml"

// explain adds to errors of the API what the user can do about them. Other errors stay as they are.
func explain(err error) error {
	var status apierrors.APIStatus
	var unreachable *url.Error
	switch {
	case errors.As(err, &status):
		details := status.Status().Details
		switch {
		case isGroupMissing(status):
			return fmt.Errorf("the cluster does not serve kudo.dev/v1beta1; the APIService v1beta1.kudo.dev may not be installed, %s", look)
		case status.Status().Code == 503 && (details == nil || details.RetryAfterSeconds == 0):
			return fmt.Errorf("the KUDO API server is not available: %w; the APIService v1beta1.kudo.dev may not be ready, %s", err, look)
		}
	case errors.As(err, &unreachable):
		return fmt.Errorf("the cluster cannot be reached: %w; check --kubeconfig and --context", err)
	}
	return err
}

// isGroupMissing tells the 404 of a path that nobody serves from that of an object that does not exist: the latter
// names the object.
func isGroupMissing(status apierrors.APIStatus) bool {
	s := status.Status()
	if s.Code != 404 || s.Reason != metav1.StatusReasonNotFound {
		return false
	}
	if s.Details == nil {
		return true
	}
	for _, cause := range s.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return true
		}
	}
	return s.Details.Kind == ""
}
