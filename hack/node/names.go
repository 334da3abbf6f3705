// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// zone is what the names of Services end with.
const zone = ".svc.cluster.local."

// names answers questions for the addresses of Services as the cluster DNS does, by asking kube-apiserver each time: a
// test asks a handful. CoreDNS would ask other versions of what Kubernetes is built from, and take minutes to compile.
type names struct {
	client kubernetes.Interface
	conn   net.PacketConn
}

func (n *node) serveNames() error {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(n.dir, "users", "kube-proxy.kubeconfig"))
	if err != nil {
		return err
	}
	config.Timeout, config.QPS = 3*time.Second, -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	conn, err := net.ListenPacket("udp", net.JoinHostPort(n.innerIP(), "53"))
	if err != nil {
		return err
	}
	s := &names{client: client, conn: conn}
	go s.serve()
	return nil
}

func (s *names) serve() {
	buffer := make([]byte, 4096)
	for {
		size, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var question dnsmessage.Message
		if question.Unpack(buffer[:size]) != nil || len(question.Questions) != 1 {
			continue
		}
		go func() {
			answer := s.answer(question)
			if data, err := answer.Pack(); err == nil {
				_, _ = s.conn.WriteTo(data, from)
			}
		}()
	}
}

func (s *names) answer(question dnsmessage.Message) dnsmessage.Message {
	q := question.Questions[0]
	answer := dnsmessage.Message{Questions: question.Questions, Header: dnsmessage.Header{
		ID: question.ID, Response: true, Authoritative: true, RecursionDesired: question.RecursionDesired, RecursionAvailable: true}}
	addresses, known, err := s.lookup(strings.ToLower(q.Name.String()))
	switch {
	case err != nil:
		answer.RCode = dnsmessage.RCodeServerFailure
	case !known:
		answer.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		for _, address := range addresses {
			if ip := net.ParseIP(address).To4(); ip != nil {
				answer.Answers = append(answer.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: 1},
					Body:   &dnsmessage.AResource{A: [4]byte(ip)}})
			}
		}
	}
	return answer
}

// lookup knows SERVICE.NAMESPACE, with the address of the Service or, if it is headless, those of its endpoints, and
// HOST.SERVICE.NAMESPACE, with the address of one of these.
func (s *names) lookup(name string) (addresses []string, known bool, err error) {
	name, in := strings.CutSuffix(name, zone)
	parts := strings.Split(name, ".")
	if !in || len(parts) < 2 || len(parts) > 3 {
		return nil, false, nil
	}
	host := ""
	if len(parts) == 3 {
		host, parts = parts[0], parts[1:]
	}
	ctx := context.Background()
	// By a list, because that is what the rights of a proxy allow.
	services, err := s.client.CoreV1().Services(parts[1]).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + parts[0]})
	if err != nil || len(services.Items) == 0 {
		return nil, false, err
	}
	if address := services.Items[0].Spec.ClusterIP; host == "" && net.ParseIP(address) != nil {
		return []string{address}, true, nil
	}
	slices, err := s.client.DiscoveryV1().EndpointSlices(parts[1]).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + parts[0]})
	if err != nil {
		return nil, false, err
	}
	known = host == ""
	for _, slice := range slices.Items {
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; ready != nil && !*ready {
				continue
			}
			if host == "" || endpoint.Hostname != nil && *endpoint.Hostname == host {
				addresses, known = append(addresses, endpoint.Addresses...), true
			}
		}
	}
	return addresses, known, nil
}
