// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

const (
	// Waiter is the container that keeps a pipe pod alive while its files are read.
	Waiter = "waiter"
	// Annotation marks pipe pods, as in KUDO. As a label it serves to find them.
	Annotation = "kudo.dev/pipepod"
	// DefaultImage is the image of the waiter if the executor is not told another one.
	DefaultImage = "docker.io/library/busybox:1.37.0"
)

// waitScript ends at once when the pod is deleted, which a shell that is process 1 does not do by itself.
const waitScript = `trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done`

// Pod makes the pod of a Pipe task from the author's: an init container that writes files into its one emptyDir volume. The waiter is
// added, with the volume at the same path and what the init container may do, so that it can read what that has written. Errors are
// final.
func Pod(template string, author *unstructured.Unstructured, name, image string, files []v1beta1.PipeSpec) (*unstructured.Unstructured, error) {
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(author.Object, pod); err != nil {
		return nil, fault.Finalf(fault.ReasonPipePod, "template %q: it is not a Pod: %w", template, err)
	}
	mount, err := shared(&pod.Spec)
	if err != nil {
		return nil, fault.Finalf(fault.ReasonPipePod, "template %q: the pod of a Pipe task %w", template, err)
	}
	for _, f := range files {
		if err := reachable(file(f), mount.MountPath); err != nil {
			return nil, fault.Finalf(fault.ReasonPipePod, "template %q: %w", template, err)
		}
	}
	out := author.DeepCopy()
	out.SetName(name)
	out.SetGenerateName("")
	labels, annotations := out.GetLabels(), out.GetAnnotations()
	out.SetLabels(with(labels, Annotation, "true"))
	out.SetAnnotations(with(annotations, Annotation, "true"))
	waiter, err := runtime.DefaultUnstructuredConverter.ToUnstructured(waiter(&pod.Spec.InitContainers[0], mount, image))
	if err != nil {
		return nil, err
	}
	spec := out.Object["spec"].(map[string]any) // shared has found an init container in it
	spec["containers"], spec["restartPolicy"] = []any{waiter}, string(corev1.RestartPolicyOnFailure)
	return out, nil
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// shared checks the pod as KUDO did and returns where the init container has the volume.
func shared(spec *corev1.PodSpec) (*corev1.VolumeMount, error) {
	switch {
	case len(spec.Containers) > 0:
		return nil, fmt.Errorf("must not have containers, but has %d; what writes the files belongs into initContainers", len(spec.Containers))
	case len(spec.InitContainers) != 1:
		return nil, fmt.Errorf("must have exactly one init container, which writes the files, but has %d", len(spec.InitContainers))
	case spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyOnFailure:
		return nil, fmt.Errorf("must have the restartPolicy OnFailure, or none, but has %s", spec.RestartPolicy)
	case spec.InitContainers[0].Name == Waiter:
		return nil, fmt.Errorf("must not name its init container %q; the container that is added has that name", Waiter)
	}
	var volumes []string
	for _, v := range spec.Volumes {
		if v.EmptyDir != nil {
			volumes = append(volumes, v.Name)
		}
	}
	if len(volumes) != 1 {
		return nil, fmt.Errorf("must have exactly one emptyDir volume, for the files, but has %d", len(volumes))
	}
	for i, m := range spec.InitContainers[0].VolumeMounts {
		if m.Name == volumes[0] {
			return &spec.InitContainers[0].VolumeMounts[i], nil
		}
	}
	return nil, fmt.Errorf("has the emptyDir volume %q, but its init container %q does not mount it", volumes[0], spec.InitContainers[0].Name)
}

func waiter(author *corev1.Container, mount *corev1.VolumeMount, image string) *corev1.Container {
	volume := mount.DeepCopy()
	volume.ReadOnly = true
	c := &corev1.Container{
		Name: Waiter, Image: image,
		// Clusters without a registry have the image on their nodes.
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/bin/sh", "-c", waitScript},
		VolumeMounts:    []corev1.VolumeMount{*volume},
		// A quota of the namespace may ask for them.
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
	}
	if s := author.SecurityContext.DeepCopy(); s != nil {
		if ptr.Deref(s.Privileged, false) {
			s.Privileged = nil
		}
		if s.Capabilities != nil {
			s.Capabilities.Add = nil
		}
		c.SecurityContext = s
	}
	return c
}

// fileName is what keys of Secrets and ConfigMaps may have.
var fileName = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// reachable checks that a file lies in the volume and that its name can be a key.
func reachable(file, mount string) error {
	if !path.IsAbs(file) || path.Clean(file) != file || !strings.HasPrefix(file, strings.TrimSuffix(path.Clean(mount), "/")+"/") {
		return fmt.Errorf("the pipe file %q does not lie below %s, where the init container has the volume for files", file, mount)
	}
	if base := path.Base(file); !fileName.MatchString(base) || len(base) > 253 || base == "." || base == ".." {
		return fmt.Errorf("the pipe file %q has a name that cannot be a key of a Secret or ConfigMap: letters, digits, -, _ and . are possible", file)
	}
	return nil
}

func file(p v1beta1.PipeSpec) string {
	if p.File != "" {
		return p.File
	}
	return p.EnvFile
}
