package files

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
)

// KeyPair reads a certificate, with the intermediate ones behind it, and its key, both in PEM. The error is a Reason.
func KeyPair(certificate, key []byte) (*tls.Certificate, error) {
	if _, err := Certificates(certificate); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	switch {
	case err == nil:
		return &pair, nil
	case isKey(key):
		return nil, ForeignKey
	}
	return nil, NoKey
}

// isKey reports whether a text holds a private key that can be read, whichever certificate it belongs to.
func isKey(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			return true
		}
		if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return true
		}
		if _, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return true
		}
	}
	return false
}

// Certificates reads certificates in PEM, at least one. One that is damaged or ends early is an error, which package
// pem would skip: half a list of authorities would reject certificates of the other half. Text between them does not
// count. The error is a Reason.
func Certificates(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, NoPEM
		}
		all = append(all, parsed)
	}
	if len(all) == 0 || len(all) != bytes.Count(text, []byte("-----BEGIN CERTIFICATE-----")) {
		return nil, NoPEM
	}
	return all, nil
}

// Roots are the authorities in a PEM file; the error is a Reason.
func Roots(text []byte) (*x509.CertPool, error) {
	all, err := Certificates(text)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range all {
		pool.AddCert(c)
	}
	return pool, nil
}
