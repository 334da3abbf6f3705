// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"io"
	"net"
)

// forward leads connections from the node to kube-apiserver, which listens on loopback only.
func (n *node) forward() error {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(n.outerIP()), Port: n.apiPort})
	if err != nil {
		return err
	}
	go func() {
		for {
			from, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			go join(from, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: n.apiPort})
		}
	}()
	return nil
}

// join hands on what each side says to the other, until both have said all.
func join(from *net.TCPConn, address *net.TCPAddr) {
	defer from.Close()
	to, err := net.DialTCP("tcp", nil, address)
	if err != nil {
		return
	}
	defer to.Close()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		transfer(from, to)
	}()
	transfer(to, from)
	<-answered
}

// transfer hands on the end of one direction by itself: who has said all may still wait for the answer. A connection that
// broke ends both directions.
func transfer(to, from *net.TCPConn) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		_ = from.Close()
		_ = to.Close()
	}
}
