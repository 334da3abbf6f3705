// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// A test cluster outlives neither: nothing renews these certificates.
const certLifetime = 5 * 365 * 24 * time.Hour

// frontProxyName is the only common name whose identity headers aggregated API
// servers believe.
const frontProxyName = "front-proxy-client"

// keyPair is a certificate with its key.
type keyPair struct {
	cert *x509.Certificate
	der  []byte
	key  *ecdsa.PrivateKey
}

// writePKI makes two authorities, as aggregation asks for: one that the users'
// and servers' certificates come from, and one for the front proxy alone. With
// one for both, every client certificate could pass for the front proxy. It
// returns the certificate of the first in PEM.
func (c *Cluster) writePKI() ([]byte, error) {
	ca, err := newKeyPair(&x509.Certificate{Subject: pkix.Name{CommonName: "kudo-test-ca"}, IsCA: true}, nil)
	if err != nil {
		return nil, err
	}
	proxyCA, err := newKeyPair(&x509.Certificate{Subject: pkix.Name{CommonName: "kudo-test-front-proxy-ca"}, IsCA: true}, nil)
	if err != nil {
		return nil, err
	}
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	if c.state.Mode == ModeContainers {
		addresses = append(addresses, net.ParseIP(c.outerIP()))
	}
	server, err := newKeyPair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: addresses,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca)
	if err != nil {
		return nil, err
	}
	proxy, err := newKeyPair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: frontProxyName},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, proxyCA)
	if err != nil {
		return nil, err
	}
	// The kubelet lets whoever may do everything do everything.
	kubeletClient, err := newKeyPair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca)
	if err != nil {
		return nil, err
	}
	serviceAccounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	for name, pair := range map[string]*keyPair{
		"ca": ca, "front-proxy-ca": proxyCA, "apiserver": server, "front-proxy-client": proxy, "kubelet-client": kubeletClient,
	} {
		if err := os.WriteFile(c.path("pki", name+".crt"), pair.certPEM(), 0o644); err != nil {
			return nil, err
		}
		if err := writeKey(c.path("pki", name+".key"), pair.key); err != nil {
			return nil, err
		}
	}
	return ca.certPEM(), writeKey(c.path("pki", "service-accounts.key"), serviceAccounts)
}

// newKeyPair signs what template says with the parent, or with itself.
func newKeyPair(template *x509.Certificate, parent *keyPair) (*keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(certLifetime)
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if template.IsCA {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	signer, signerKey := template, crypto.Signer(key)
	if parent != nil {
		signer, signerKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, key.Public(), signerKey)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &keyPair{cert: cert, der: der, key: key}, err
}

func (p *keyPair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.der})
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
