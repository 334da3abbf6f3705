// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/pipe"
	"kudo.dev/kudo/executor/podfiles"
)

const (
	pipePod  = "zk.deploy.p.s.gen.pipepod"
	filesMap = "zk.deploy.p.s.gen.page"
	envName  = "zk.deploy.p.s.gen.env"
)

var binary = []byte("a\x00\xff\n\r\nb")

// files stands for a container that runs.
type files struct {
	content map[string][]byte
	log     string
	reads   int
	fail    error // of the next read
}

func (f *files) Read(_ context.Context, c podfiles.Container, file string, limit int64) ([]byte, error) {
	if err := f.fail; err != nil {
		f.fail = nil
		return nil, err
	}
	f.reads++
	content, ok := f.content[file]
	switch {
	case c.Name != pipe.Waiter || c.Pod != pipePod || !ok:
		return nil, &podfiles.FileError{Code: 66, Message: "there is no such file"}
	case int64(len(content)) > limit:
		return nil, &podfiles.SizeError{Size: int64(len(content))}
	}
	return content, nil
}

func (f *files) LastLines(context.Context, podfiles.Container, int64) (string, error) {
	return f.log, nil
}

var pipeSpec = v1beta1.TaskSpec{Pod: "pod", Pipe: []v1beta1.PipeSpec{
	{File: "/tmp/index.html", Kind: "ConfigMap", Key: "page"}, {EnvFile: "/tmp/env", Kind: "Secret", Key: "env"}}}

func newPipe(t *testing.T) (*cluster, *files) {
	c := newCluster(t)
	f := &files{content: map[string][]byte{"/tmp/index.html": binary, "/tmp/env": []byte("\xef\xbb\xbf# x\n A=1=2 \n\nB_C=\n")}}
	c.Pods, c.PipeImage, c.Task = f, "r.example/box@sha256:0", "gen"
	c.Identity.Plan, c.Identity.Phase, c.Identity.Step, c.Identity.Run = "deploy", "p", "s", "run"
	c.Templates["pod"] = "spec: {volumes: [{name: v, emptyDir: {}}], initContainers: [{name: init, image: i, volumeMounts: [{name: v, mountPath: /tmp}]}]}"
	return c, f
}

func (c *cluster) object(t *testing.T, gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := c.dynamic.Tracker().Get(gvr, "ns", name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*unstructured.Unstructured)
}

// podStatus has the kubelet write the status of the pipe pod.
func (c *cluster) podStatus(t *testing.T, status map[string]any) {
	t.Helper()
	pod := c.object(t, pipe.Pods.GroupVersionResource, pipePod).DeepCopy()
	pod.Object["status"] = status
	if err := c.dynamic.Tracker().Update(pipe.Pods.GroupVersionResource, pod, "ns"); err != nil {
		t.Fatal(err)
	}
}

var podRuns = map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}

func pass(t *testing.T, c *cluster, r Runner, want engine.Outcome) Report {
	t.Helper()
	env := c.Env
	env.Fresh = true // the fake writes without versions, so copies of informers say nothing
	got := r.Run(context.Background(), env)
	if got.Outcome != want {
		t.Fatalf("got %+v, want %s", got, want)
	}
	return got
}

func TestPipe(t *testing.T) {
	c, f := newPipe(t)
	r := runner(t, "Pipe", pipeSpec)
	pass(t, c, r, engine.Waiting)
	pod := c.object(t, pipe.Pods.GroupVersionResource, pipePod)
	if pod == nil || pod.GetAnnotations()[pipe.Annotation] != "true" || pod.GetAnnotations()[apply.AnnotationRunUID] != "ruid" || pod.GetLabels()[apply.LabelInstance] != "zk" {
		t.Fatalf("the pod is %v", pod)
	}
	pass(t, c, r, engine.Waiting)
	c.podStatus(t, podRuns)
	f.fail = errors.New("connection reset")
	if got := pass(t, c, r, engine.Retry); !strings.Contains(got.Err.Error(), "/tmp/index.html") {
		t.Errorf("got %v", got.Err)
	}
	pass(t, c, r, engine.Done)
	data, _, _ := unstructured.NestedString(c.object(t, pipe.Resource("ConfigMap").GroupVersionResource, filesMap).Object, "binaryData", "index.html")
	if got, err := base64.StdEncoding.DecodeString(data); err != nil || !bytes.Equal(got, binary) {
		t.Errorf("the file is %q, %v", got, err)
	}
	secret := c.object(t, pipe.Resource("Secret").GroupVersionResource, envName)
	env, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	if len(env) != 2 || env["A"] != base64.StdEncoding.EncodeToString([]byte("1=2 ")) || env["B_C"] != "" || secret.Object["type"] != "Opaque" {
		t.Errorf("the secret is %v", secret.Object)
	}
	if o := secret.GetOwnerReferences(); len(o) != 1 || o[0].UID != "iuid" {
		t.Errorf("the secret has the owners %v", o)
	}
	if c.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil {
		t.Error("the pod was not deleted")
	}

	t.Log("the executor is ended before it could record that, at the end and before the pod was deleted")
	reads := f.reads
	pass(t, c, runner(t, "Pipe", pipeSpec), engine.Done)
	if f.reads != reads || c.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil {
		t.Error("the pipe was carried out again")
	}

	t.Log("another run makes everything anew, after the pod of the earlier one is gone")
	pod.SetUID("left")
	if err := c.dynamic.Tracker().Create(pipe.Pods.GroupVersionResource, pod, "ns"); err != nil {
		t.Fatal(err)
	}
	c.podStatus(t, podRuns)
	c.Identity.RunUID = "ruid2"
	r = runner(t, "Pipe", pipeSpec)
	pass(t, c, r, engine.Waiting)
	if f.reads != reads || c.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil {
		t.Error("the pod of another run was used")
	}
	pass(t, c, r, engine.Waiting)

	t.Log("an executor that comes later takes the pod of the one before it over")
	c.podStatus(t, podRuns)
	f.content["/tmp/index.html"] = []byte("new")
	pass(t, c, runner(t, "Pipe", pipeSpec), engine.Done)
	data, _, _ = unstructured.NestedString(c.object(t, pipe.Resource("ConfigMap").GroupVersionResource, filesMap).Object, "binaryData", "index.html")
	if data != base64.StdEncoding.EncodeToString([]byte("new")) {
		t.Errorf("the file is %s", data)
	}
}

func TestPipeFails(t *testing.T) {
	ended := func(restarts int64, where string) map[string]any {
		return map[string]any{"phase": "Pending", "initContainerStatuses": []any{map[string]any{"name": "init", "restartCount": restarts, where: map[string]any{"terminated": map[string]any{"exitCode": int64(7), "reason": "Error"}},
			"state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}}}}
	}
	for name, c := range map[string]struct {
		status  map[string]any
		prepare func(*files)
		want    engine.Outcome
		message string
	}{
		"first failure":   {ended(1, "lastState"), nil, engine.Waiting, "CrashLoopBackOff (exit code 7)"},
		"last failure":    {ended(4, "lastState"), nil, engine.Fatal, "exit code 7 (Error), the last of 4 times; its log is not shown, because the task stores a Secret"},
		"image":           {map[string]any{"phase": "Pending", "initContainerStatuses": []any{map[string]any{"name": "init", "state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "no such image"}}}}}, nil, engine.Waiting, "container init: ImagePullBackOff: no such image"},
		"not schedulable": {map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "message": "no nodes"}}}, nil, engine.Waiting, "no nodes"},
		"evicted":         {map[string]any{"phase": "Failed", "message": "The node was low on memory"}, nil, engine.Fatal, "low on memory"},
		"too large":       {podRuns, func(f *files) { f.content["/tmp/env"] = make([]byte, pipe.MaxSize+1) }, engine.Fatal, "/tmp/env has 1048577 bytes"},
		"missing":         {podRuns, func(f *files) { delete(f.content, "/tmp/env") }, engine.Fatal, "/tmp/env was not written"},
		"bad line":        {podRuns, func(f *files) { f.content["/tmp/env"] = []byte("A=1\nsecret\n") }, engine.Fatal, "the envFile /tmp/env: line 2 has no equals sign"},
		"forbidden": {podRuns, func(f *files) {
			f.fail = apierrors.NewForbidden(schema.GroupResource{Resource: "pods/exec"}, "x", errors.New("no"))
		}, engine.Fatal, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			cl, f := newPipe(t)
			f.log = "wget: bad address"
			if c.prepare != nil {
				c.prepare(f)
			}
			r := runner(t, "Pipe", pipeSpec)
			pass(t, cl, r, engine.Waiting)
			cl.podStatus(t, c.status)
			got := pass(t, cl, r, c.want)
			message := got.Message
			if got.Err != nil {
				message = got.Err.Error()
			}
			if !strings.Contains(message, c.message) {
				t.Errorf("got %s, want %s", message, c.message)
			}
			if exists := cl.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil; exists != (c.want == engine.Waiting) {
				t.Errorf("the pod exists: %v", exists)
			}
			if c.want == engine.Fatal && cl.applies != 0 {
				t.Error("something was stored")
			}
		})
	}
}

// TestPipeTellsNoSecrets: what a container says that writes a Secret, in its log or when it ends, is not repeated.
func TestPipeTellsNoSecrets(t *testing.T) {
	for _, kind := range []string{"ConfigMap", "Secret"} {
		t.Run(kind, func(t *testing.T) {
			c, f := newPipe(t)
			f.log = "wget: bad address"
			spec := v1beta1.TaskSpec{Pod: "pod", Pipe: []v1beta1.PipeSpec{{File: "/tmp/index.html", Kind: "ConfigMap", Key: "page"}, {EnvFile: "/tmp/env", Kind: kind, Key: "env"}}}
			r := runner(t, "Pipe", spec)
			pass(t, c, r, engine.Waiting)
			c.podStatus(t, map[string]any{"phase": "Pending", "initContainerStatuses": []any{map[string]any{"name": "init", "restartCount": int64(4), "state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
				"lastState": map[string]any{"terminated": map[string]any{"exitCode": int64(7), "reason": "Error", "message": "password=hunter2"}}}}})
			got := pass(t, c, r, engine.Fatal)
			text := got.Err.Error() + got.Objects[0].Message
			if !strings.Contains(text, "exit code 7") {
				t.Errorf("got %s", text)
			}
			for _, said := range []string{"the end of its log:\nwget: bad address", "hunter2"} {
				if strings.Contains(text, said) != (kind == "ConfigMap") {
					t.Errorf("got %s", text)
				}
			}
		})
	}
}

// TestPipePodIsStuck: a pod whose container cannot be started fails the task when the limit has passed, and not before.
func TestPipePodIsStuck(t *testing.T) {
	for _, reason := range []string{"ImagePullBackOff", "CreateContainerConfigError"} {
		for _, limit := range []time.Duration{10 * time.Minute, 0} {
			t.Run(fmt.Sprint(reason, limit), func(t *testing.T) {
				c, _ := newPipe(t)
				c.Clock, c.StuckLimit = c.clock, limit
				r := runner(t, "Pipe", pipeSpec)
				pass(t, c, r, engine.Waiting)
				c.podStatus(t, map[string]any{"phase": "Pending", "initContainerStatuses": []any{map[string]any{"name": "init", "state": map[string]any{"waiting": map[string]any{"reason": reason, "message": "no such thing"}}}}})
				if got := pass(t, c, r, engine.Waiting); got.Recheck != limit {
					t.Errorf("looks again after %v", got.Recheck)
				}
				c.clock.SetTime(c.clock.Now().Add(9 * time.Minute))
				pass(t, c, r, engine.Waiting)
				c.clock.SetTime(c.clock.Now().Add(time.Minute))
				if limit == 0 {
					pass(t, c, r, engine.Waiting)
					return
				}
				got := pass(t, c, r, engine.Fatal)
				if !strings.Contains(got.Err.Error(), "container init: "+reason+": no such thing; it has been so for 10m0s") {
					t.Errorf("got %v", got.Err)
				}
				if c.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil {
					t.Error("the pod was not deleted")
				}
			})
		}
	}
}

// TestPipeFailsWhileTheServerIsAway: the run must not end before the pod is deleted.
func TestPipeFailsWhileTheServerIsAway(t *testing.T) {
	c, _ := newPipe(t)
	r := runner(t, "Pipe", pipeSpec)
	pass(t, c, r, engine.Waiting)
	c.podStatus(t, map[string]any{"phase": "Failed"})
	away := true
	c.dynamic.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return away, nil, apierrors.NewServiceUnavailable("away")
	})
	pass(t, c, r, engine.Retry)
	away = false
	got := pass(t, c, r, engine.Fatal)
	if reason, _ := fault.Classify(got.Err); reason != fault.ReasonPipe || c.object(t, pipe.Pods.GroupVersionResource, pipePod) != nil {
		t.Errorf("got %v", got)
	}
}

// TestPipeLeavesForeignPodsAlone: a pod of that name that is not of this Instance is neither used nor deleted.
func TestPipeLeavesForeignPodsAlone(t *testing.T) {
	c, _ := newPipe(t)
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": pipePod, "namespace": "ns", "uid": "x"}}}
	if err := c.dynamic.Tracker().Create(pipe.Pods.GroupVersionResource, foreign, "ns"); err != nil {
		t.Fatal(err)
	}
	pass(t, c, runner(t, "Pipe", pipeSpec), engine.Fatal)
	if c.object(t, pipe.Pods.GroupVersionResource, pipePod) == nil {
		t.Error("it was deleted")
	}
}
