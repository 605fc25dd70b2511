package site

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"
)

// issueRing makes a certificate and nine authorities of three names that issue one another, so that there are hundreds
// of ways from it and none to a root. All have one key on the curve.
func issueRing(host string, curve elliptic.Curve) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	name := func(i int) pkix.Name { return pkix.Name{CommonName: fmt.Sprint("Ring ", i%3)} }
	out := tls.Certificate{PrivateKey: key}
	for i := range 10 {
		template := &x509.Certificate{
			Subject: name(i), DNSNames: []string{fmt.Sprint(i, ".", host)},
			NotBefore: time.Now().Add(-30 * day), NotAfter: time.Now().Add(60 * day),
			BasicConstraintsValid: true, IsCA: true,
		}
		if i == 0 {
			template.Subject, template.DNSNames, template.IsCA = pkix.Name{CommonName: host}, []string{host}, false
		}
		by := &authority{cert: &x509.Certificate{Subject: name(i + 1)}, key: key}
		cert, err := sign(template, key, by)
		if err != nil {
			return tls.Certificate{}, err
		}
		out.Certificate = append(out.Certificate, cert.Raw)
	}
	return out, nil
}
