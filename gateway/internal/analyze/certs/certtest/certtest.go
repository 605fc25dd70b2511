// Package certtest makes certificates for tests: authorities, cross-signatures and leaves with every fault that a
// server in the wild shows.
package certtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// Epoch is the moment around which validities are made: authorities hold ten years, leaves thirty days, on both sides.
var Epoch = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// Cert is a certificate with its key.
type Cert struct {
	*x509.Certificate
	Key crypto.Signer
}

// Option changes the template before it is signed.
type Option func(*x509.Certificate)

// Valid sets the validity.
func Valid(from, to time.Time) Option {
	return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to }
}

// NewKey makes a P-256 key.
func NewKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Root makes a self-signed authority.
func Root(t testing.TB, name string, opts ...Option) *Cert {
	t.Helper()
	return Sign(t, authority(name), nil, NewKey(t), opts...)
}

// Intermediate makes an authority under another.
func Intermediate(t testing.TB, parent *Cert, name string, opts ...Option) *Cert {
	t.Helper()
	return Sign(t, authority(name), parent, NewKey(t), opts...)
}

// CrossSign gives an authority's name and key a second certificate from another authority.
func CrossSign(t testing.TB, parent, child *Cert, opts ...Option) *Cert {
	t.Helper()
	return Sign(t, authority(child.Subject.CommonName), parent, child.Key, opts...)
}

// Leaf makes a server certificate for names and addresses; a nil parent makes it self-signed.
func Leaf(t testing.TB, parent *Cert, hosts []string, opts ...Option) *Cert {
	t.Helper()
	template := &x509.Certificate{
		NotBefore:   Epoch.AddDate(0, 0, -30),
		NotAfter:    Epoch.AddDate(0, 0, 30),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	if len(hosts) > 0 {
		template.Subject = pkix.Name{CommonName: hosts[0]}
	}
	return Sign(t, template, parent, NewKey(t), opts...)
}

// Sign completes the template (serial number, key identifiers) and signs it with the parent, or with its own key where
// the parent is nil.
func Sign(t testing.TB, template *x509.Certificate, parent *Cert, key crypto.Signer, opts ...Option) *Cert {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = serial
	for _, o := range opts {
		o(template)
	}
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.Certificate, parent.Key
	}
	public := key.Public()
	if template.PublicKey != nil {
		public = template.PublicKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, public, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Cert{Certificate: cert, Key: key}
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             Epoch.AddDate(-10, 0, 0),
		NotAfter:              Epoch.AddDate(10, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
}

// Pool is a set of roots.
func Pool(certs ...*Cert) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c.Certificate)
	}
	return pool
}

// List is the certificates without their keys.
func List(certs ...*Cert) []*x509.Certificate {
	out := make([]*x509.Certificate, len(certs))
	for i, c := range certs {
		out[i] = c.Certificate
	}
	return out
}

// TLS is what a server sends: the leaf, then the others as they are.
func (c *Cert) TLS(others ...*Cert) tls.Certificate {
	out := tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: c.Key, Leaf: c.Certificate}
	for _, o := range others {
		out.Certificate = append(out.Certificate, o.Raw)
	}
	return out
}

// RSAOfBits is a public key of so many bits, of which no one has the other half.
func RSAOfBits(t testing.TB, bits, exponent int) crypto.PublicKey {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	if err != nil {
		t.Fatal(err)
	}
	return &rsa.PublicKey{N: n.SetBit(n, bits-1, 1).SetBit(n, 0, 1), E: exponent}
}

// Foreign makes a server certificate for the names with the public key of another server.
func Foreign(t testing.TB, parent *Cert, hosts []string, key crypto.PublicKey, opts ...Option) *Cert {
	t.Helper()
	return Leaf(t, parent, hosts, append(opts, func(c *x509.Certificate) { c.PublicKey = key })...)
}
