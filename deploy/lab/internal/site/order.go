package site

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ocsp"
)

// Order is a certificate to be made, and what a server sends with it. The zero value but for the names is a good one,
// with an ECDSA key.
type Order struct {
	Names []string
	// Key is ecdsa where empty; rsa, ed25519.
	Key string
	// NotBefore and NotAfter are from now; both zero are 30 days back and 60 ahead.
	NotBefore, NotAfter time.Duration
	// SignedBy is intermediate where empty; self, stranger (a root that is not trusted), ending (an intermediate of the
	// trusted root that is valid for four days more).
	SignedBy string
	// Usage is that for digital signatures where zero, and ExtUsage that for servers where nil.
	Usage      x509.KeyUsage
	ExtUsage   []x509.ExtKeyUsage
	MustStaple bool
	// Staple is whether the server staples a response of OCSP that says good.
	Staple bool
	// Sent are the certificates behind the leaf; nil is the intermediate alone (nothing for those that it did not sign):
	// intermediate, ending, another (an intermediate that signed something else), root, stranger, leaf (once more).
	Sent []string
}

// mustStaple is the extension of RFC 7633 with the feature status_request.
var mustStaple = pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}, Value: []byte{0x30, 3, 2, 1, 5}}

// orderKeys are one key of each kind for all orders, since RSA keys take long to make.
var orderKeys = map[string]func() (crypto.Signer, error){
	"":    sync.OnceValues(func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }),
	"rsa": sync.OnceValues(func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
	"ed25519": sync.OnceValues(func() (crypto.Signer, error) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}),
}

// Make makes a certificate as it was ordered.
func (ca *CA) Make(o Order) (tls.Certificate, error) {
	key, err := orderKeys[o.Key]()
	if err != nil {
		return tls.Certificate{}, err
	}
	parent := map[string]*authority{"": ca.intermediate, "self": nil, "stranger": ca.stranger,
		"ending": ca.ending}[o.SignedBy]
	leaf, err := sign(o.template(), key, parent)
	if err != nil {
		return tls.Certificate{}, err
	}
	made := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	sent := o.Sent
	if sent == nil && o.SignedBy == "" {
		sent = []string{"intermediate"}
	}
	for _, name := range sent {
		der, err := ca.named(name, leaf)
		if err != nil {
			return tls.Certificate{}, err
		}
		made.Certificate = append(made.Certificate, der)
	}
	if o.Staple {
		made.OCSPStaple, err = ocsp.CreateResponse(parent.cert, parent.cert, ocsp.Response{
			Status: ocsp.Good, SerialNumber: leaf.SerialNumber,
			ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(3 * day),
		}, parent.key)
	}
	return made, err
}

func (o Order) template() *x509.Certificate {
	if o.NotBefore == 0 && o.NotAfter == 0 {
		o.NotBefore, o.NotAfter = -30*day, 60*day
	}
	if o.Usage == 0 {
		o.Usage = x509.KeyUsageDigitalSignature
		if o.Key == "rsa" {
			o.Usage |= x509.KeyUsageKeyEncipherment
		}
	}
	if o.ExtUsage == nil {
		o.ExtUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: o.Names[0]}, DNSNames: o.Names,
		NotBefore: time.Now().Add(o.NotBefore), NotAfter: time.Now().Add(o.NotAfter),
		KeyUsage: o.Usage, ExtKeyUsage: o.ExtUsage,
	}
	if o.MustStaple {
		template.ExtraExtensions = []pkix.Extension{mustStaple}
	}
	return template
}

// named is one of the certificates that an order's server may send.
func (ca *CA) named(name string, leaf *x509.Certificate) ([]byte, error) {
	switch name {
	case "leaf":
		return leaf.Raw, nil
	case "intermediate":
		return ca.intermediate.cert.Raw, nil
	case "ending":
		return ca.ending.cert.Raw, nil
	case "root":
		return ca.root.cert.Raw, nil
	case "stranger":
		return ca.stranger.cert.Raw, nil
	case "another":
		made, err := newAuthority("Lab Issuing CA E2", ca.root)
		if err != nil {
			return nil, err
		}
		return made.cert.Raw, nil
	}
	return nil, fmt.Errorf("no certificate is called %q", name)
}
