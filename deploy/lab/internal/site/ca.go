// Package site is the lab's web and mail servers: one for every behaviour that a diagnostics tool should recognise,
// each on an address of its own, and the certificate authority that signs for them.
package site

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"time"
)

const day = 24 * time.Hour

// CA is the lab's authority: a root that the shipped binaries trust, an intermediate that signs the sites, one that
// ends in four days, and a second root that is not trusted.
type CA struct {
	root, intermediate, ending, stranger *authority
}

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewCA makes the authorities.
func NewCA() (*CA, error) {
	root, err := newAuthority("Lab Root R1", nil)
	if err != nil {
		return nil, err
	}
	intermediate, err := newAuthority("Lab Issuing CA E1", root)
	if err != nil {
		return nil, err
	}
	ending, err := newAuthorityUntil(time.Now().Add(4*day), "Lab Issuing CA E3", root)
	if err != nil {
		return nil, err
	}
	stranger, err := newAuthority("Unknown Root X9", nil)
	if err != nil {
		return nil, err
	}
	return &CA{root: root, intermediate: intermediate, ending: ending, stranger: stranger}, nil
}

// RootPEM is the root as SSL_CERT_FILE takes it.
func (ca *CA) RootPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.root.cert.Raw})
}

func newAuthority(name string, parent *authority) (*authority, error) {
	return newAuthorityUntil(time.Now().Add(3650*day), name, parent)
}

func newAuthorityUntil(end time.Time, name string, parent *authority) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: []string{"Diagnostics Lab"},
			Country: []string{"ZZ"}},
		NotBefore:             time.Now().Add(-400 * day),
		NotAfter:              end,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	cert, err := sign(template, key, parent)
	return &authority{cert: cert, key: key}, err
}

// sign issues a certificate; without a parent it signs itself.
func sign(template *x509.Certificate, key crypto.Signer, parent *authority) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// certificate says what a site shows; the zero value is a good one for the site's own name.
type certificate struct {
	names     []string // instead of the site's own
	subject   string   // the common name, the first of the names where empty
	notBefore time.Duration
	notAfter  time.Duration // both from now; zero takes 30 days back and 60 ahead
	// signedBy is intermediate where empty; "self", "stranger".
	signedBy string
	// leafOnly leaves the intermediate out; withRoot sends the root as well.
	leafOnly, withRoot bool
	rsa                bool
	// longKey is so many bits of RSA, without a private half; others are so many certificates more.
	longKey, others int
	// ring is the curve of certificates that issue one another, in place of any other.
	ring elliptic.Curve
}

// Issue makes a good certificate for the names, with its chain and its key in PEM.
func (ca *CA) Issue(names ...string) ([]byte, error) {
	made, err := ca.issue(names[0], certificate{names: names})
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		return nil, err
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for _, der := range made.Certificate {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return out, nil
}

func (ca *CA) issue(host string, c certificate) (tls.Certificate, error) {
	if c.ring != nil {
		return issueRing(host, c.ring)
	}
	key, err := newKey(c)
	if err != nil {
		return tls.Certificate{}, err
	}
	names := c.names
	if names == nil {
		names = []string{host}
	}
	if c.subject == "" {
		c.subject = names[0]
	}
	if c.notBefore == 0 && c.notAfter == 0 {
		c.notBefore, c.notAfter = -30*day, 60*day
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: c.subject},
		DNSNames:    names,
		NotBefore:   time.Now().Add(c.notBefore),
		NotAfter:    time.Now().Add(c.notAfter),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	parent, above := ca.intermediate, []*x509.Certificate{ca.intermediate.cert}
	switch c.signedBy {
	case "self":
		parent, above = nil, nil
	case "stranger":
		parent, above = ca.stranger, nil
		if c.withRoot {
			above = []*x509.Certificate{ca.stranger.cert}
		}
	}
	if c.leafOnly {
		above = nil
	}
	leaf, err := sign(template, key, parent)
	if err != nil {
		return tls.Certificate{}, err
	}
	out := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	for _, cert := range above {
		out.Certificate = append(out.Certificate, cert.Raw)
	}
	for i := range c.others {
		other, err := newAuthority(fmt.Sprintf("Another CA %d", i), ca.stranger)
		if err != nil {
			return tls.Certificate{}, err
		}
		out.Certificate = append(out.Certificate, other.cert.Raw)
	}
	return out, nil
}

func newKey(c certificate) (crypto.Signer, error) {
	switch {
	case c.longKey > 0:
		n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(c.longKey)))
		if err != nil {
			return nil, err
		}
		n.SetBit(n, c.longKey-1, 1).SetBit(n, 0, 1)
		return pretender{&rsa.PublicKey{N: n, E: 65537}}, nil
	case c.rsa:
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// pretender signs with a key of which it has the public half alone.
type pretender struct{ public *rsa.PublicKey }

func (p pretender) Public() crypto.PublicKey { return p.public }

func (p pretender) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, p.public.Size()), nil
}
