// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/cluster"
)

// Options say which cluster a Room starts.
type Options struct {
	Cluster cluster.Options
	KUDO    cluster.KUDOOptions
	// Prepare is called with a folder for files of the test, before the cluster starts.
	Prepare func(dir string, o *Options) error
}

// Lab is a cluster with KUDO and clients of its administrator.
type Lab struct {
	Cluster *cluster.Cluster
	KUDO    *cluster.KUDO
	Kudo    clientset.Interface
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Dir is for files of the tests.
	Dir string
}

// Room holds the one Lab of a test package. The first test that enters starts it, so that a selection of tests that needs
// none does not.
type Room struct {
	Options Options

	once sync.Once
	lab  *Lab
	err  error
}

// Main runs the tests, then stops the cluster and fails if a process of KUDO has panicked.
func (r *Room) Main(m *testing.M) int { return r.Close(m.Run()) }

// Close is the end of Main, for test packages with several Rooms: it makes the exit code of the tests that of the package.
func (r *Room) Close(code int) int {
	if r.lab == nil {
		return code
	}
	if err := r.lab.check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := r.lab.Cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		_ = os.RemoveAll(r.lab.Dir)
	} else {
		fmt.Fprintln(os.Stderr, "the logs of the cluster are kept in", filepath.Join(r.lab.Cluster.Dir(), "log"))
	}
	return code
}

// Enter returns the Lab.
func (r *Room) Enter(t *testing.T) *Lab {
	t.Helper()
	r.once.Do(func() { r.lab, r.err = start(context.Background(), r.Options, t.Logf) })
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.lab
}

func start(ctx context.Context, o Options, log func(string, ...any)) (*Lab, error) {
	dir, err := os.MkdirTemp("", "kudo-lab-")
	if err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		if err := o.Prepare(dir, &o); err != nil {
			return nil, err
		}
	}
	o.Cluster.Dir = filepath.Join(dir, "cluster")
	starting := true
	o.Cluster.Log = func(format string, args ...any) { // the test that started it may have ended when it says more
		if starting {
			log(format, args...)
		}
	}
	defer func() { starting = false }()
	l := &Lab{Dir: dir}
	if l.Cluster, err = cluster.Start(ctx, o.Cluster); err != nil {
		return nil, err
	}
	if err := l.install(ctx, o.KUDO); err != nil {
		return nil, errors.Join(err, l.Cluster.Stop())
	}
	return l, nil
}

func (l *Lab) install(ctx context.Context, o cluster.KUDOOptions) error {
	var err error
	if l.KUDO, err = cluster.InstallKUDO(ctx, l.Cluster, o); err != nil {
		return err
	}
	config, err := l.Cluster.RESTConfig(cluster.Admin)
	if err != nil {
		return err
	}
	config.WarningHandlerWithContext = rest.NoWarnings{} // each start of a plan has one
	if l.Kudo, err = clientset.NewForConfig(config); err != nil {
		return err
	}
	if l.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	l.Dynamic, err = dynamic.NewForConfig(config)
	return err
}

// check looks for panics in the logs of KUDO.
func (l *Lab) check() error {
	for _, path := range []string{l.KUDO.ServerLog(), l.KUDO.ExecutorLog()} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "panic:") || strings.Contains(line, "Observed a panic") || strings.Contains(line, "A task panicked") {
				return fmt.Errorf("%s: %s", path, strings.Join(lines[i:min(i+30, len(lines))], "\n"))
			}
		}
	}
	return nil
}

// Namespace makes a namespace that is deleted with the test.
func (l *Lab) Namespace(t *testing.T) string {
	t.Helper()
	ns, err := l.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Kube.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{}) })
	return ns.Name
}

// Plugin runs kubectl-kudo as the administrator.
func (l *Lab) Plugin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Logf("kubectl kudo %s", strings.Join(args, " "))
	program, err := l.plugin(t)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = l.Cluster.ClientEnv(cluster.Admin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl kudo %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

var building sync.Mutex

// plugin is the program beside those of KUDO, compiled if they were compiled for this cluster.
func (l *Lab) plugin(t *testing.T) (string, error) {
	building.Lock()
	defer building.Unlock()
	program := filepath.Join(l.KUDO.BinDir(), "kubectl-kudo")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/kubectl-kudo")
	cmd.Dir = Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile kubectl-kudo: %w\n%s", err, out)
	}
	return program, nil
}

// Root is the folder of the repository.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the working directory is not in the repository")
		}
		dir = filepath.Dir(dir)
	}
}
