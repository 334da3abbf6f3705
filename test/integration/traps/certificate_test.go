// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

const (
	apiServicePath = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.kudo.dev"
	secretPath     = "/api/v1/namespaces/kudo-system/secrets/kudo-apiserver-tls"
)

// TestCertificateIsChecked: kube-apiserver checks the server's certificate against the authority in the Secret.
func TestCertificateIsChecked(t *testing.T) {
	service := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: apiServicePath})
	if got := service.Field(t, "spec", "insecureSkipTLSVerify"); got != "" {
		t.Errorf("insecureSkipTLSVerify is %s", got)
	}
	if got, want := service.Field(t, "spec", "caBundle"), authority(t); got == "" || got != want {
		t.Errorf("caBundle is %q, the Secret has %q", got, want)
	}
}

// TestSecretDeleted: a new authority is made, announced and served with, and the group stays served throughout.
func TestSecretDeleted(t *testing.T) {
	before := authority(t)
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: secretPath})
	env.Until(t, patience, "another authority to be announced", func() error {
		secret := env.Send(t, harness.Request{Method: "GET", Path: secretPath})
		if secret.Code != http.StatusOK {
			return fmt.Errorf("secret: %s", secret.Text())
		}
		now := secret.Field(t, "data", "ca.crt")
		if bundle := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: apiServicePath}).Field(t, "spec", "caBundle"); now == before || bundle != now {
			return fmt.Errorf("the Secret has another authority: %v; it is announced: %v", now != before, bundle == now)
		}
		return nil
	})
	served(t)
}

// TestCABundleBroken: what somebody else writes into the caBundle is corrected.
func TestCABundleBroken(t *testing.T) {
	for name, patch := range map[string]string{
		"another authority": fmt.Sprintf(`{"spec":{"caBundle":%q}}`, base64.StdEncoding.EncodeToString([]byte(foreignAuthority))),
		"none":              `{"spec":{"caBundle":null}}`,
		"no check":          `{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: apiServicePath, Body: patch})
			env.Until(t, patience, "the caBundle to be corrected", func() error {
				service := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: apiServicePath})
				if got := service.Field(t, "spec", "caBundle"); got != authority(t) || service.Field(t, "spec", "insecureSkipTLSVerify") == "true" {
					return fmt.Errorf("caBundle is %q", got)
				}
				return nil
			})
			served(t)
		})
	}
}

// TestCertificateSurvivesARestart: a server that comes back serves with the certificate of the Secret.
func TestCertificateSurvivesARestart(t *testing.T) {
	before := authority(t)
	env.KillServer(t)
	env.StartServer(t)
	if authority(t) != before {
		t.Error("the restart made another authority")
	}
	served(t)
}

// authority is what the Secret says clients must trust, in base64.
func authority(t *testing.T) string {
	t.Helper()
	return env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: secretPath}).Field(t, "data", "ca.crt")
}

// served waits until the APIService is Available and the group answers, and stays so for as long as the aggregator needs to look
// again.
func served(t *testing.T) {
	t.Helper()
	var since time.Time
	env.Until(t, patience, "v1beta1.kudo.dev to be served for two seconds", func() error {
		if err := answers(t); err != nil {
			since = time.Time{}
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if now := time.Since(since); now < 2*time.Second {
			return fmt.Errorf("served for %s", now)
		}
		return nil
	})
}

func answers(t *testing.T) error {
	t.Helper()
	service := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: apiServicePath}).Object(t)
	for _, c := range service.Object["status"].(map[string]any)["conditions"].([]any) {
		if condition := c.(map[string]any); condition["type"] == "Available" && condition["status"] != "True" {
			return fmt.Errorf("the APIService is not Available: %v", condition["message"])
		}
	}
	if got := env.Send(t, harness.Request{Method: "GET", Path: harness.Root + "/instances"}); got.Code != http.StatusOK {
		return fmt.Errorf("%d: %s", got.Code, got.Text())
	}
	return nil
}

// foreignAuthority signed nothing.
const foreignAuthority = `-----BEGIN CERTIFICATE-----
MIIBhjCCAS2gAwIBAgIUe3njNffnVsnPgCJJIlMDgJGma74wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNc29tZWJvZHkgZWxzZTAgFw0yNjExMjAxMzIyMDFaGA8yMTI2
MTAyNzEzMjIwMVowGDEWMBQGA1UEAwwNc29tZWJvZHkgZWxzZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABHY1x8I70lF1s+scFSir4DTmGshYyt2+6WDpcUUnom7a
aB3TU6r4XUb9bms9xrypLtZA7hk4AsE8tFslA+9Y5yujUzBRMB0GA1UdDgQWBBTO
eUoOwZJ/yqdymPG70hADFFHXZjAfBgNVHSMEGDAWgBTOeUoOwZJ/yqdymPG70hAD
FFHXZjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIF/nggB8fnQ1
J6XsIUVsK6DOYoScav8gxUcJxLMgJkXIAiAA/UdOUKutOiAXyxIwa1Q4ijKOd6aB
rTfItrqVMKzKRQ==
-----END CERTIFICATE-----
`
