// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Mode says how much of a cluster is started.
type Mode string

const (
	// ModeAPI is etcd and kube-apiserver: objects are stored and checked, and
	// nothing acts on them.
	ModeAPI Mode = "api"
	// ModeControllers adds kube-controller-manager and kube-scheduler. Without
	// nodes every pod stays Pending.
	ModeControllers Mode = "controllers"
	// ModeNodes adds KWOK, which plays the nodes: pods become Ready, pods of
	// Jobs succeed, volumes bind. Nothing runs in them.
	ModeNodes Mode = "nodes"
	// ModeContainers has one real node instead of KWOK's: what is in a pod runs.
	// It needs root on Linux and some Debian packages: see ContainersMissing.
	ModeContainers Mode = "containers"
)

// User is somebody the cluster knows by a token.
type User struct {
	// Name is the user name and names the kubeconfig.
	Name string `json:"name"`
	// Groups are the groups beside system:authenticated; none by default.
	Groups []string `json:"groups,omitempty"`
}

// Options says what Start starts.
type Options struct {
	// Dir is the folder of the cluster: it must be missing or empty. Required.
	Dir string
	// BinDir holds the programs hack/kube builds. Default: $KUDO_KUBE_BIN, else
	// hack/kube/build.sh is run, which takes minutes the first time.
	BinDir string
	// Mode is how much to start. Default: ModeNodes.
	Mode Mode
	// NodeCount is the number of KWOK nodes in ModeNodes. Default: 1.
	NodeCount int
	// Detach lets the processes outlive the caller. By default they are killed
	// with it, however it ends.
	Detach bool
	// EnableStageCRDs makes KWOK's stages objects of the cluster, which a test
	// can add to and change, instead of a file read once.
	EnableStageCRDs bool
	// ExtraStages are files with further KWOK stages, or changed ones of the
	// same name.
	ExtraStages []string
	// Durable makes etcd wait for the disk at every write, as it does where data
	// matter: for who measures time. By default it does not, which is faster.
	Durable bool
	// APIServerArgs are appended to the command line of kube-apiserver.
	APIServerArgs []string
	// Users are known to the cluster beside those of DefaultUsers.
	Users []User
	// Log is told what is being started and how long it took. Default: nobody.
	Log func(format string, args ...any)
}

// complete fills in the defaults, or says what is wrong.
func (o *Options) complete() error {
	if o.Dir == "" {
		return errors.New("cluster: Options.Dir is empty: name the folder the cluster is to live in")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	o.Dir = dir
	switch o.Mode {
	case "":
		o.Mode = ModeNodes
	case ModeAPI, ModeControllers, ModeNodes, ModeContainers:
	default:
		return fmt.Errorf("cluster: no mode %q: choose %q, %q, %q or %q", o.Mode, ModeAPI, ModeControllers, ModeNodes, ModeContainers)
	}
	if o.NodeCount == 0 {
		o.NodeCount = 1
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return nil
}
