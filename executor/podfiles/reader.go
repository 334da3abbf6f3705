// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package podfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
)

// callTimeout bounds one command or the reading of one log.
const callTimeout = time.Minute

// Container is one of a pod.
type Container struct{ Namespace, Pod, Name string }

// String is namespace/pod, container name.
func (c Container) String() string { return c.Namespace + "/" + c.Pod + ", container " + c.Name }

// Reader reads from containers.
type Reader interface {
	// Read returns the content of a file. A file that is larger than limit is a SizeError, and one that cannot be read, because it is
	// not there for example, a FileError; other errors may go away.
	Read(ctx context.Context, c Container, file string, limit int64) ([]byte, error)
	// LastLines returns the end of the log of a container; of one that waits to be started again, that of its last try.
	LastLines(ctx context.Context, c Container, lines int64) (string, error)
}

// SizeError says that a file is larger than wanted.
type SizeError struct{ Size int64 }

func (e *SizeError) Error() string { return fmt.Sprintf("the file has %d bytes", e.Size) }

// FileError says that a container could not read a file, with the container's words.
type FileError struct {
	Code    int
	Message string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("the container cannot read it (exit code %d): %s", e.Code, e.Message)
}

// script prints the size of a file, a line feed and the file. With the size it can be told whether all of it arrived.
const script = `[ -f "$1" ] || { echo "there is no such file" >&2; exit 66; }; n=$(wc -c <"$1") || exit 67; echo $((n)); [ "$n" -gt "$2" ] || cat "$1"`

// Kubelet reads with the rights of a client: get or create on pods/exec, and get on pods/log.
type Kubelet struct {
	config *rest.Config
	client kubernetes.Interface
}

// New makes a Reader.
func New(config *rest.Config, client kubernetes.Interface) *Kubelet {
	return &Kubelet{config: config, client: client}
}

// Read is as in Reader. The container needs sh, wc and cat.
func (k *Kubelet) Read(ctx context.Context, c Container, file string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stdout, stderr := &bounded{limit: limit + 64}, &bounded{limit: 4096}
	command := []string{"/bin/sh", "-c", script, "sh", file, strconv.FormatInt(limit, 10)}
	err := k.exec(ctx, c, command, remotecommand.StreamOptions{Stdout: stdout, Stderr: stderr})
	var exit utilexec.CodeExitError
	switch {
	case errors.As(err, &exit):
		return nil, &FileError{Code: exit.Code, Message: strings.TrimSpace(stderr.String())}
	case err != nil:
		return nil, fmt.Errorf("a command in pod %s: %w", c, err)
	}
	return contentOf(stdout.Bytes(), limit)
}

// contentOf takes what script has printed apart.
func contentOf(printed []byte, limit int64) ([]byte, error) {
	first, rest, found := bytes.Cut(printed, []byte("\n"))
	size, err := strconv.ParseInt(string(first), 10, 64)
	switch {
	case !found || err != nil:
		return nil, fmt.Errorf("the answer to a command is cut off after %d bytes", len(printed))
	case size > limit:
		return nil, &SizeError{Size: size}
	case int64(len(rest)) != size:
		return nil, fmt.Errorf("%d of %d bytes of the file arrived", len(rest), size)
	}
	return rest, nil
}

// exec prefers WebSockets, which proxies understand, to SPDY, which API servers before 1.30 need.
func (k *Kubelet) exec(ctx context.Context, c Container, command []string, streams remotecommand.StreamOptions) error {
	request := k.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.Namespace).Name(c.Pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: c.Name, Command: command, Stdout: true, Stderr: true}, parameters)
	executor, err := newExecutor(k.config, request.URL())
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, streams)
}

// LastLines is as in Reader.
func (k *Kubelet) LastLines(ctx context.Context, c Container, lines int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	limit := int64(8 << 10)
	stream, err := k.client.CoreV1().Pods(c.Namespace).GetLogs(c.Pod, &corev1.PodLogOptions{Container: c.Name, TailLines: &lines, LimitBytes: &limit}).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	data, err := io.ReadAll(stream)
	return strings.TrimSpace(strings.ToValidUTF8(string(data), "?")), err
}

// bounded keeps no more than limit bytes. It takes the rest without keeping it, so that the command comes to its end.
type bounded struct {
	bytes.Buffer
	limit int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - int64(b.Len()); room > 0 {
		_, _ = b.Buffer.Write(p[:min(int64(len(p)), room)])
	}
	return len(p), nil
}
