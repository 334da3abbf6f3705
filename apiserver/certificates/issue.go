// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	// authorityLifetime is how long an authority is valid.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// authorityRenewal is how long before its end a new authority is announced beside it. Leaves end long before.
	authorityRenewal = 2 * 365 * 24 * time.Hour
	// leafLifetime is how long a serving certificate is valid.
	leafLifetime = 90 * 24 * time.Hour
	// leafRenewal is how long before its end a serving certificate is replaced.
	leafRenewal = 30 * 24 * time.Hour
	// clockSkew is how far clocks may differ.
	clockSkew = 5 * time.Minute
)

// material is the content of the Secret, in PEM.
type material struct {
	// cert and key are what the server serves with.
	cert, key []byte
	// bundle holds the authorities to trust; the first one signs.
	bundle []byte
	// authorityKey belongs to the first authority.
	authorityKey []byte
}

// renew returns what the material should be at the time: the same if nothing is due. It never changes authority and leaf in one
// call unless there is nothing to go on with, because whoever checks the leaf must have learnt of its authority before.
func renew(m *material, hosts []string, now time.Time) (*material, error) {
	authorities, leaf, err := m.parse()
	if err != nil || len(authorities) == 0 || leaf == nil || !signedByAny(leaf, authorities, hosts[0], now) || !m.keysFit(authorities[0]) {
		return fresh(hosts, now)
	}
	next := *m
	switch {
	case now.Add(authorityRenewal).After(authorities[0].NotAfter):
		cert, key, err := newAuthority(now)
		if err != nil {
			return nil, err
		}
		keep := []*x509.Certificate{cert}
		for _, old := range authorities {
			if now.Before(old.NotAfter) {
				keep = append(keep, old)
			}
		}
		if next.bundle, err = certutil.EncodeCertificates(keep...); err != nil {
			return nil, err
		}
		if next.authorityKey, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
			return nil, err
		}
	case now.Add(leafRenewal).After(leaf.NotAfter):
		key, err := keyutil.ParsePrivateKeyPEM(m.authorityKey)
		if err != nil {
			return nil, err
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("the key of the authority cannot sign: %T", key)
		}
		if next.cert, next.key, err = newLeaf(authorities[0], signer, hosts, now); err != nil {
			return nil, err
		}
	default:
		return m, nil
	}
	return &next, nil
}

func (m *material) parse() ([]*x509.Certificate, *x509.Certificate, error) {
	if m == nil || len(m.bundle) == 0 || len(m.cert) == 0 {
		return nil, nil, nil
	}
	authorities, err := certutil.ParseCertsPEM(m.bundle)
	if err != nil {
		return nil, nil, err
	}
	leaves, err := certutil.ParseCertsPEM(m.cert)
	if err != nil {
		return nil, nil, err
	}
	return authorities, leaves[0], nil
}

// keysFit tells whether both keys can be read and belong to their certificates.
func (m *material) keysFit(authority *x509.Certificate) bool {
	if _, err := tls.X509KeyPair(m.cert, m.key); err != nil {
		return false
	}
	key, err := keyutil.ParsePrivateKeyPEM(m.authorityKey)
	if err != nil {
		return false
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return false
	}
	public, ok := signer.Public().(*ecdsa.PublicKey)
	return ok && public.Equal(authority.PublicKey)
}

// signedByAny tells whether a client that trusts the authorities accepts the leaf for the host now.
func signedByAny(leaf *x509.Certificate, authorities []*x509.Certificate, host string, now time.Time) bool {
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, CurrentTime: now})
	return err == nil
}

// fresh is a new authority with a leaf.
func fresh(hosts []string, now time.Time) (*material, error) {
	cert, key, err := newAuthority(now)
	if err != nil {
		return nil, err
	}
	m := &material{}
	if m.bundle, err = certutil.EncodeCertificates(cert); err != nil {
		return nil, err
	}
	if m.authorityKey, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return nil, err
	}
	m.cert, m.key, err = newLeaf(cert, key, hosts, now)
	return m, err
}

func newAuthority(now time.Time) (*x509.Certificate, crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: fmt.Sprintf("kudo-apiserver-ca@%d", now.Unix())},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

func newLeaf(authority *x509.Certificate, signer crypto.Signer, hosts []string, now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: hosts[0]},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(leafLifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	if certPEM, err = certutil.EncodeCertificates(leaf); err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return certPEM, keyPEM, err
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}
