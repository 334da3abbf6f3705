// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"

	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/pipe"
)

// Options are the flags of the executor.
type Options struct {
	// Kubeconfig is a file that says where the API server is; empty means the service account of the pod.
	Kubeconfig string
	// Server overrides the address of the API server in Kubeconfig.
	Server string
	// Workers is how many runs are worked on at the same time.
	Workers int
	// StuckPodLimit is how long pods of a workload may be stuck before the run fails; 0 means without end.
	StuckPodLimit time.Duration
	// HealthBindAddress serves /healthz, /readyz and /metrics; empty or "0" means nowhere.
	HealthBindAddress string
	// QPS and Burst bound the calls of each client.
	QPS   float32
	Burst int
	// PipeImage is the image of the container that keeps the files of a Pipe task readable. It needs sh, sleep, wc and cat.
	PipeImage string

	LeaderElection LeaderElection
}

// LeaderElection has only one of several executors work.
type LeaderElection struct {
	Enabled   bool
	Namespace string
	Name      string
	// An executor that was killed is replaced after LeaseDuration at most; one that ends in order, at once.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// New returns the defaults.
func New() *Options {
	return &Options{
		Workers: 4, StuckPodLimit: health.DefaultStuckLimit, HealthBindAddress: ":8081", QPS: 200, Burst: 400, PipeImage: pipe.DefaultImage,
		LeaderElection: LeaderElection{Enabled: true, Namespace: "kudo-system", Name: "kudo-executor",
			LeaseDuration: 5 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: time.Second},
	}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Kubeconfig file of the cluster. Empty means the service account of the pod.")
	fs.StringVar(&o.Server, "server", o.Server, "Address of the API server; overrides the one of the kubeconfig.")
	fs.IntVar(&o.Workers, "workers", o.Workers, "How many plan executions are worked on at the same time.")
	fs.DurationVar(&o.StuckPodLimit, "stuck-pod-limit", o.StuckPodLimit, "How long a pod of a workload may be stuck, for example with ImagePullBackOff or CrashLoopBackOff, before the run that waits for the workload fails. The annotation "+health.AnnotationStuckLimit+" of an object overrides it. 0 means without end.")
	fs.StringVar(&o.HealthBindAddress, "health-bind-address", o.HealthBindAddress, "Address on which /healthz, /readyz and /metrics are served without TLS. \"0\" means nowhere.")
	fs.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Calls per second to the API server, for each client.")
	fs.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Calls to the API server in one burst, for each client.")
	fs.StringVar(&o.PipeImage, "pipe-image", o.PipeImage, "Image of the container that keeps the files of a Pipe task readable, by tag or digest. It needs sh, sleep, wc and cat.")
	l := &o.LeaderElection
	fs.BoolVar(&l.Enabled, "leader-elect", l.Enabled, "Work only while holding the lease, so that several executors may run.")
	fs.StringVar(&l.Namespace, "leader-election-namespace", l.Namespace, "Namespace of the lease.")
	fs.StringVar(&l.Name, "leader-election-name", l.Name, "Name of the lease.")
	fs.DurationVar(&l.LeaseDuration, "leader-election-lease-duration", l.LeaseDuration, "Time after which the lease of an executor that was killed can be taken.")
	fs.DurationVar(&l.RenewDeadline, "leader-election-renew-deadline", l.RenewDeadline, "Time after which an executor that cannot renew its lease stops.")
	fs.DurationVar(&l.RetryPeriod, "leader-election-retry-period", l.RetryPeriod, "Time between two tries to take or renew the lease.")
}

// Validate returns all that is wrong with the flags.
func (o *Options) Validate() error {
	var errs []error
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers is %d; it must be at least 1", o.Workers))
	}
	if o.PipeImage == "" {
		errs = append(errs, fmt.Errorf("--pipe-image is empty; leave it out for %s", pipe.DefaultImage))
	}
	if o.StuckPodLimit < 0 {
		errs = append(errs, fmt.Errorf("--stuck-pod-limit is %v; it must not be negative, and 0 means without end", o.StuckPodLimit))
	}
	if o.QPS <= 0 || o.Burst < 1 {
		errs = append(errs, fmt.Errorf("--kube-api-qps is %v and --kube-api-burst is %d; both must be positive", o.QPS, o.Burst))
	}
	if o.serves() {
		if _, _, err := net.SplitHostPort(o.HealthBindAddress); err != nil {
			errs = append(errs, fmt.Errorf("--health-bind-address is %q; it must be host:port, :port or 0", o.HealthBindAddress))
		}
	}
	if l := o.LeaderElection; l.Enabled {
		if l.Namespace == "" || l.Name == "" {
			errs = append(errs, errors.New("--leader-election-namespace and --leader-election-name must not be empty; to run without a lease, set --leader-elect=false"))
		}
		if l.LeaseDuration <= l.RenewDeadline || l.RenewDeadline <= l.RetryPeriod*6/5 || l.RetryPeriod <= 0 {
			errs = append(errs, fmt.Errorf("--leader-election-lease-duration (%v) must be longer than --leader-election-renew-deadline (%v), and that longer than 1.2 times --leader-election-retry-period (%v)",
				l.LeaseDuration, l.RenewDeadline, l.RetryPeriod))
		}
	}
	return errors.Join(errs...)
}

func (o *Options) serves() bool { return o.HealthBindAddress != "" && o.HealthBindAddress != "0" }
