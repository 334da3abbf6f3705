// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package cluster starts and stops a Kubernetes control plane on loopback, and
// KUDO in it: etcd, kube-apiserver and, as asked for, the controllers, the
// scheduler and KWOK as the nodes. Every part is an ordinary process of the
// calling user on a random free port; no root, no containers, no images.
//
// A cluster lives in one folder, which holds all it knows of itself:
//
//	cluster.json   what was asked for and which ports were taken
//	kubeconfig     of the administrator; users/NAME.kubeconfig of everybody else
//	pki/           certificates, keys and the tokens of the users
//	run/, log/     one pid file and one log per process
//	kudo.json      what InstallKUDO was asked for
//
// That folder is also how a process is told from a stranger that got its pid
// later: each has a path in that folder on its command line.
//
// The programs come from hack/kube. Tests and commands under hack/ and test/ may
// import this package; the product may not.
package cluster
