// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

// Command node is a machine with real containers, for the control plane that test/cluster starts: containerd, kubelet,
// kube-proxy and a name server, below one process that is the first of a PID namespace of its own. Its mounts, network
// and cgroups are its own, too, so that with that one process everything ends, containers included. It needs root.
//
//	node --dir DIR --subnet N --api PORT --programs DIR --images DIR
//
// All it writes is below DIR/node, except the mount points that only it sees. What others see of it is one end of a veth
// pair, gone with the namespace, and a folder in each cgroup hierarchy, which the process outside removes when the one
// inside has ended, or the next node, if the one outside was killed.
//
// What follows is known to cost hours where it is not known:
//
//	cgroup v1               the kubelet refuses it unless failCgroupV1 is false
//	cpu and memory in       the kubelet refuses that; a cgroup namespace over a group in each hierarchy makes them
//	  different groups      all look like /, and what runs is still accounted to our caller
//	no CAP_SYS_RESOURCE     oom_score_adj can only rise: containerd needs restrict_oom_score_adj, else no sandbox
//	                        starts ("can't get final child's PID from pipe: EOF"), and the kubelet oomScoreAdj 0
//	machine-wide sysctls    the kubelet sets six of them: it is shown files that have the values already
//	loopback                the kubelet refuses such an address: hence the network namespace and the veth pair
//	containerd 1.6          does not tell its cgroup driver: kubelets up to 1.37 take cgroupDriver instead
//	/run/containerd/s       sockets of containerd's shims, wherever its own state is: hence a tmpfs on /run
//	hostPath volumes        are not given to fsGroup: test/cluster makes their folders writable for all
//	Debian                  has the CNI plugins in /usr/lib/cni, not in /opt/cni/bin
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// node is what the two processes of a node know of it: both get the same flags.
type node struct {
	name, dir, programs, images string
	subnet, apiPort             int
}

func main() {
	var n node
	flag.StringVar(&n.name, "name", "node1", "name of the Node")
	flag.StringVar(&n.dir, "dir", "", "folder of the cluster")
	flag.StringVar(&n.programs, "programs", "", "folder with kubelet and kube-proxy")
	flag.StringVar(&n.images, "images", "", "folder with archives of images, which the node has from its start")
	flag.IntVar(&n.subnet, "subnet", 0, "1 to 250: tells the networks of the nodes of a machine from each other")
	flag.IntVar(&n.apiPort, "api", 0, "port of kube-apiserver on 127.0.0.1, and on the outer address of the node")
	inside := flag.Bool("inside", false, "be the first process of the namespaces; only node itself does this")
	flag.Parse()
	// A child that dies with its parent dies with the thread that started it: this one stays.
	runtime.LockOSThread()
	n.dir = filepath.Clean(n.dir)
	err := n.check()
	if err == nil && *inside {
		err = n.runInside()
	} else if err == nil {
		err = n.runOutside()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func (n *node) check() error {
	switch {
	case n.dir == "." || n.programs == "" || n.images == "":
		return errors.New("--dir, --programs and --images are needed")
	case n.subnet < 1 || n.subnet > 250:
		return fmt.Errorf("--subnet %d: want 1 to 250", n.subnet)
	case n.apiPort == 0:
		return errors.New("--api is needed")
	}
	return nil
}

func (n *node) path(elem ...string) string {
	return filepath.Join(append([]string{n.dir, "node"}, elem...)...)
}

func (n *node) log(name string) string { return filepath.Join(n.dir, "log", name+".log") }

// The addresses of a node. test/cluster knows the first of them.
func (n *node) outerIP() string { return fmt.Sprintf("10.250.%d.1", n.subnet) }
func (n *node) innerIP() string { return fmt.Sprintf("10.250.%d.2", n.subnet) }
func (n *node) podCIDR() string { return fmt.Sprintf("10.251.%d.0/24", n.subnet) }
func (n *node) link() string    { return "kudo" + strconv.Itoa(n.subnet) }
