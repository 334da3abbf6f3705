// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package rendered

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/fault"
)

const (
	// SecretType is the type of the Secrets that hold rendered templates.
	SecretType = "kudo.dev/rendered-template"
	// AnnotationTemplate is the name of the template.
	AnnotationTemplate = "kudo.dev/template"
	// dataKey holds the text, compressed.
	dataKey = "text.gz"
	// maxData is how much Kubernetes takes in one Secret.
	maxData = 1 << 20
)

var secrets = apply.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespaced: true}

// Text returns what render makes of a template: of one that may come out different the next time, what the first rendering of the
// step in this run made, by whichever executor. That is kept in a Secret in the namespace of the Instance, which is stored when Text
// returns and goes with the PlanExecution. A template that comes out the same each time costs no call.
func Text(ctx context.Context, client *apply.Client, id apply.Identity, template string, render func() (text string, varies bool, err error)) (string, error) {
	text, varies, failed := render()
	if failed != nil {
		failed = &fault.Final{Reason: fault.ReasonRendering, Err: failed}
	}
	if !varies {
		return text, failed
	}
	ref := refOf(id, template)
	kept, err := read(ctx, client, ref)
	if kept != nil || err != nil {
		return unpack(kept, ref, err)
	}
	if failed != nil {
		return "", failed
	}
	secret, err := pack(id, ref, template, text)
	if err != nil {
		return "", err
	}
	err = client.Create(ctx, ref, secret)
	if apierrors.IsAlreadyExists(err) {
		// The answer to an earlier try was lost, or another executor was here a moment ago.
		kept, err = read(ctx, client, ref)
		return unpack(kept, ref, err)
	}
	if err != nil {
		return "", fmt.Errorf("template %q: what it was rendered to has to be kept, because it calls functions whose result changes: %w", template, err)
	}
	return text, nil
}

// refOf names the Secret of a template in a step of a run. Names of templates have characters that names of Secrets must not have.
func refOf(id apply.Identity, template string) apply.Ref {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(id.RunUID), id.Phase, id.Step, template}, "\x00")))
	return apply.Ref{Resource: secrets, APIVersion: "v1", Kind: "Secret", Namespace: id.Namespace, Name: "kudo-rendered-" + hex.EncodeToString(sum[:16])}
}

func read(ctx context.Context, client *apply.Client, ref apply.Ref) (*unstructured.Unstructured, error) {
	secret, err := client.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s, which keeps a rendered template, cannot be read: %w", ref, err)
	}
	return secret, nil
}

// pack makes the Secret. The run owns it, not the Instance: with the run it has served its purpose.
func pack(id apply.Identity, ref apply.Ref, template, text string) (*unstructured.Unstructured, error) {
	data, err := compress(text)
	if err != nil {
		return nil, err
	}
	if len(data) > maxData {
		return nil, fault.Finalf(fault.ReasonRendering, "template %q: it calls functions whose result changes, so what it was rendered to has to be kept for the run; "+
			"compressed that has %d bytes, and a Secret takes %d: split the template", template, len(data), maxData)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": SecretType, "immutable": true,
		"metadata": map[string]any{"name": ref.Name, "annotations": map[string]any{AnnotationTemplate: template}},
		"data":     map[string]any{dataKey: base64.StdEncoding.EncodeToString(data)},
	}}
	if err := apply.Prepare(secret, true, id); err != nil {
		return nil, err
	}
	secret.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "PlanExecution", Name: id.Run, UID: id.RunUID}})
	return secret, nil
}

func unpack(secret *unstructured.Unstructured, ref apply.Ref, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if secret == nil {
		return "", fault.Retryf("%s, which keeps a rendered template, was deleted", ref)
	}
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", dataKey)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil {
		var text string
		if text, err = expand(data); err == nil {
			return text, nil
		}
	}
	return "", fault.Finalf(fault.ReasonRendering, "%s does not hold the rendered template that it should (%w); delete it and run the plan again", ref, err)
}
