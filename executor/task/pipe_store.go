// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/pipe"
	"kudo.dev/kudo/executor/podfiles"
)

// store reads all files and then applies what keeps them, so that a file that is missing changes nothing.
func (t *pipeTask) store(ctx context.Context, env Env) error {
	var objects []*unstructured.Unstructured
	for i, p := range t.spec.Pipe {
		content, err := env.Pods.Read(ctx, t.container(pipe.Waiter), pipe.File(p), pipe.MaxSize)
		var size *podfiles.SizeError
		var file *podfiles.FileError
		switch {
		case errors.As(err, &size):
			return pipe.TooLarge(p, size.Size)
		case errors.As(err, &file):
			return fault.Finalf(fault.ReasonPipe, "the pipe file %s was not written by the init container of template %q, or cannot be read: %w", pipe.File(p), t.spec.Pod, err)
		case err != nil:
			return fmt.Errorf("the pipe file %s was not read: %w", pipe.File(p), err)
		}
		obj, err := pipe.Artifact(p, t.artifacts[i].Name, content)
		if err != nil {
			return err
		}
		if err := apply.Prepare(obj, true, env.Identity); err != nil {
			return err
		}
		objects = append(objects, obj)
	}
	for i, obj := range objects {
		if _, _, err := env.Client.Apply(ctx, obj, t.artifacts[i].Resource); err != nil {
			return fmt.Errorf("the pipe file %s: %w", pipe.File(t.spec.Pipe[i]), err)
		}
	}
	return nil
}

// alreadyStored tells whether this very run has stored all files: an executor was ended before it could record that.
func (t *pipeTask) alreadyStored(ctx context.Context, env Env) (bool, error) {
	for _, ref := range t.artifacts {
		obj, err := env.Client.Get(ctx, ref)
		if err != nil || obj == nil || obj.GetAnnotations()[apply.AnnotationRunUID] != string(env.Identity.RunUID) {
			return false, err
		}
	}
	return true, nil
}
