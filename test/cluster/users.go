// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Names of the users every cluster knows.
const (
	// Admin may do everything (group system:masters).
	Admin = "admin"
	// Server is the service account kudo-system/kudo-apiserver.
	Server = "kudo-apiserver"
	// Executor is the service account kudo-system/kudo-executor.
	Executor = "kudo-executor"
	// Alice and Bob may do nothing until a test binds a role to them.
	Alice = "alice"
	Bob   = "bob"

	kubeControllerManager = "kube-controller-manager"
	kubeScheduler         = "kube-scheduler"
	kwok                  = "kwok"
	kubelet               = "kubelet"
	kubeProxy             = "kube-proxy"
)

// DefaultUsers are the users every cluster knows: Admin, Server, Executor, Alice
// and Bob, and the parts of the control plane.
func DefaultUsers() []User {
	return []User{
		{Name: Admin, Groups: []string{"system:masters"}},
		{Name: Alice}, {Name: Bob},
		{Name: Server}, {Name: Executor},
		{Name: kubeControllerManager}, {Name: kubeScheduler},
		{Name: kwok, Groups: []string{"system:masters"}},
		{Name: kubelet, Groups: []string{"system:nodes"}}, {Name: kubeProxy},
	}
}

// identity is the user name and the groups the API server sees. KUDO's two
// processes have static tokens here instead of a pod's, but are the service
// accounts the install manifests bind roles to.
func (u User) identity() (name string, groups []string) {
	switch u.Name {
	case Server, Executor:
		return "system:serviceaccount:" + kudoNamespace + ":" + u.Name,
			append([]string{"system:serviceaccounts", "system:serviceaccounts:" + kudoNamespace}, u.Groups...)
	case kubeControllerManager, kubeScheduler, kubeProxy:
		return "system:" + u.Name, u.Groups
	case kubelet:
		return "system:node:" + nodeName, u.Groups
	}
	return u.Name, u.Groups
}

// writeUsers gives each user a token and a kubeconfig that needs no other file.
func (c *Cluster) writeUsers(ca []byte, users []User) error {
	var tokens bytes.Buffer
	w := csv.NewWriter(&tokens)
	for _, u := range users {
		token := rand.Text()
		name, groups := u.identity()
		if err := w.Write([]string{token, name, "uid-of-" + u.Name, strings.Join(groups, ",")}); err != nil {
			return err
		}
		config := clientcmdapi.NewConfig()
		server := c.URL()
		if c.state.Mode == ModeContainers && (u.Name == kubelet || u.Name == kubeProxy) {
			server = c.outerURL()
		}
		config.Clusters["kudo"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
		config.AuthInfos[u.Name] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["kudo"] = &clientcmdapi.Context{Cluster: "kudo", AuthInfo: u.Name}
		config.CurrentContext = "kudo"
		if err := clientcmd.WriteToFile(*config, c.KubeconfigPath(u.Name)); err != nil {
			return err
		}
	}
	w.Flush()
	return os.WriteFile(c.path("pki", "tokens.csv"), tokens.Bytes(), 0o600)
}

// KubeconfigPath is the kubeconfig of a user.
func (c *Cluster) KubeconfigPath(user string) string {
	if user == Admin {
		return c.path("kubeconfig")
	}
	return c.path("users", user+".kubeconfig")
}

// RESTConfig is how a client-go client talks to the cluster as the user, without
// throttling itself. It fails for a user the cluster was not started with.
func (c *Cluster) RESTConfig(user string) (*rest.Config, error) {
	path := c.KubeconfigPath(user)
	if _, err := os.Stat(path); err != nil {
		known, _ := filepath.Glob(c.path("users", "*.kubeconfig"))
		for i := range known {
			known[i] = strings.TrimSuffix(filepath.Base(known[i]), ".kubeconfig")
		}
		return nil, fmt.Errorf("cluster: no user %q: add it to Options.Users; there are %s and %s", user, Admin, strings.Join(known, ", "))
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	config.QPS = -1
	return config, nil
}
