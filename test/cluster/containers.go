// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Images that a node in ModeContainers has. There is no registry: a pod that asks for another one does not start.
const (
	// BusyboxImage has a shell and what belongs to it.
	BusyboxImage = "localhost/busybox:node"
	// MariaDBImage has the server and the clients of MariaDB, and a shell.
	MariaDBImage = "localhost/mariadb:node"
)

const (
	realNode = "kudo-node"
	nodeName = "node1"
	// volumeClass is the default StorageClass in ModeContainers.
	volumeClass = "node-volume"
	// volumeCount is how many claims can be bound in the life of a cluster: its volumes are not used twice.
	volumeCount = 20
	subnets     = 250
)

// nodeParts are the folders with what hack/kube/node.sh makes.
type nodeParts struct{ programs, images string }

// BuildNode builds what the node of ModeContainers consists of, unless it was built before, and tells log what it does. That
// takes some minutes and needs what ContainersMissing asks for, modules of Go and packages of Debian.
func BuildNode(ctx context.Context, log func(format string, args ...any)) error {
	_, err := findNodeParts(ctx, log)
	return err
}

// findNodeParts builds the programs and the images of a node, or finds what was built before.
func findNodeParts(ctx context.Context, log func(string, ...any)) (nodeParts, error) {
	if missing := ContainersMissing(); len(missing) > 0 {
		return nodeParts{}, fmt.Errorf("cluster: no real containers here: %s", strings.Join(missing, "; "))
	}
	out, err := runBuild(ctx, log, "node.sh")
	if err != nil {
		return nodeParts{}, err
	}
	return nodeParts{programs: out, images: filepath.Join(out, "images")}, nil
}

// reserveSubnet finds a number that no node of this machine uses. Like a port it is noted in a file.
func reserveSubnet() (int, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("kudo-cluster-subnets-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	for range 10 * subnets {
		n := 1 + rand.IntN(subnets)
		if _, err := net.InterfaceByName("kudo" + strconv.Itoa(n)); err == nil || taken(filepath.Join(dir, strconv.Itoa(n))) {
			continue
		}
		return n, nil
	}
	return 0, errors.New("no free subnet for a node: end some of those that run")
}

// outerIP is the address of the machine on the network of the node, and outerURL where kube-apiserver is found there.
func (c *Cluster) outerIP() string { return fmt.Sprintf("10.250.%d.1", c.state.Subnet) }
func (c *Cluster) outerURL() string {
	return "https://" + net.JoinHostPort(c.outerIP(), strconv.Itoa(c.state.APIServerPort))
}

func (c *Cluster) realNode() component {
	return component{name: realNode, program: c.path("bin", realNode), cleansUp: true, args: []string{
		"--name=" + nodeName,
		"--dir=" + c.dir + string(filepath.Separator), // with a separator, see pid
		"--subnet=" + strconv.Itoa(c.state.Subnet),
		"--api=" + strconv.Itoa(c.state.APIServerPort),
		"--programs=" + c.state.NodePrograms,
		"--images=" + c.state.NodeImages,
	}}
}

// prepareNode compiles the program of the node and makes the folders of the volumes. Anybody may write there: a kubelet does not
// give volumes of this kind to the user of a pod.
func (c *Cluster) prepareNode() error {
	if err := c.compileNode(); err != nil {
		return err
	}
	for n := range volumeCount {
		folder := c.volume(n)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(folder, 0o777); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) volume(n int) string { return c.path("volumes", strconv.Itoa(n)) }

func (c *Cluster) compileNode() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", c.path("bin", realNode), "./hack/node")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cluster: compile hack/node: %w\n%s", err, out)
	}
	return nil
}

// launchContainers creates the volumes and waits until the node is Ready. The node runs already.
func (c *Cluster) launchContainers(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: volumeClass, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "kubernetes.io/no-provisioner",
	}, metav1.CreateOptions{})
	if unlessExists(err) != nil {
		return err
	}
	for n := range volumeCount {
		_, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "volume-" + strconv.Itoa(n)},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName:              volumeClass,
				Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("100Gi")},
				AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: c.volume(n)}},
			},
		}, metav1.CreateOptions{})
		if unlessExists(err) != nil {
			return err
		}
	}
	return c.untilNodesReady(ctx, client, etcd, kubeAPIServer, realNode)
}
