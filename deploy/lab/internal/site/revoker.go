package site

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/ocsp"
)

// Revoker is an authority below the lab's root that publishes what it has revoked.
type Revoker struct {
	signers map[string]*authority
	key     crypto.Signer // of all leaves
}

// The signers of what a Revoker publishes.
const (
	SignedByOwn       = "own"
	SignedByRoot      = "root"
	SignedByStranger  = "stranger"  // of the same name
	SignedByDelegate  = "delegate"  // a responder
	SignedByImpostor  = "impostor"  // a certificate of the authority that is no responder's
	revokerLife       = 400 * day   // before now, and after
	revokerOCSPHashes = crypto.SHA1 // as clients use
)

// NewRevoker makes an authority with the organization; lists are where the root would revoke it.
func (ca *CA) NewRevoker(organization string, lists ...string) (*Revoker, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	r := &Revoker{signers: map[string]*authority{SignedByRoot: ca.root}, key: key}
	made := func(as string, parent *authority, template *x509.Certificate) error {
		template.NotBefore, template.NotAfter = time.Now().Add(-revokerLife), time.Now().Add(revokerLife)
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		cert, err := sign(template, key, parent)
		r.signers[as] = &authority{cert: cert, key: key}
		return err
	}
	template := func() *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: "Lab Revoking CA", Organization: []string{organization}},
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	}
	own, stranger := template(), template()
	own.CRLDistributionPoints = lists
	if err := made(SignedByOwn, ca.root, own); err != nil {
		return nil, err
	}
	if err := made(SignedByStranger, nil, stranger); err != nil {
		return nil, err
	}
	for as, usage := range map[string]x509.ExtKeyUsage{
		SignedByDelegate: x509.ExtKeyUsageOCSPSigning, SignedByImpostor: x509.ExtKeyUsageServerAuth,
	} {
		cert := &x509.Certificate{Subject: pkix.Name{CommonName: as}, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{usage}}
		if err := made(as, r.signers[SignedByOwn], cert); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Certificate makes a server's certificate with its chain. Its revocation is published at the lists and the responders.
func (r *Revoker) Certificate(name string, mustBeStapled bool, lists, responders []string) (tls.Certificate, error) {
	template := Order{Names: []string{name}, MustStaple: mustBeStapled}.template()
	template.CRLDistributionPoints, template.OCSPServer = lists, responders
	own := r.signers[SignedByOwn]
	leaf, err := sign(template, r.key, own)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{leaf.Raw, own.cert.Raw}, PrivateKey: r.key, Leaf: leaf}, nil
}

// Own is the authority's certificate, and PEM that in PEM.
func (r *Revoker) Own() *x509.Certificate { return r.signers[SignedByOwn].cert }

// PEM is the authority's certificate as programs take it.
func (r *Revoker) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Own().Raw})
}

// List signs a CRL. Without times it is one of today.
func (r *Revoker) List(by string, list x509.RevocationList, revoked ...*big.Int) ([]byte, error) {
	signer, known := r.signers[by]
	if !known {
		return nil, fmt.Errorf("nobody is called %q", by)
	}
	if list.ThisUpdate.IsZero() {
		list.ThisUpdate, list.NextUpdate = time.Now().Add(-time.Hour), time.Now().Add(day)
	}
	list.Number = big.NewInt(1)
	for _, serial := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{
			SerialNumber: serial, RevocationTime: time.Now().Add(-2 * day), ReasonCode: 1})
	}
	return x509.CreateRevocationList(rand.Reader, &list, signer.cert, signer.key)
}

// Answer signs an answer of OCSP. Without times it is one of today.
func (r *Revoker) Answer(by string, status int, about *big.Int, thisUpdate time.Time) ([]byte, error) {
	signer, known := r.signers[by]
	if !known {
		return nil, fmt.Errorf("nobody is called %q", by)
	}
	if thisUpdate.IsZero() {
		thisUpdate = time.Now().Add(-time.Hour)
	}
	template := ocsp.Response{Status: status, SerialNumber: about, IssuerHash: revokerOCSPHashes,
		ThisUpdate: thisUpdate, NextUpdate: thisUpdate.Add(day)}
	if status == ocsp.Revoked {
		template.RevokedAt, template.RevocationReason = time.Now().Add(-2*day), ocsp.KeyCompromise
	}
	if by == SignedByDelegate || by == SignedByImpostor {
		template.Certificate = signer.cert
	}
	return ocsp.CreateResponse(r.Own(), signer.cert, template, signer.key)
}
