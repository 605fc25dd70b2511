package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
)

func TestExchangeOf(t *testing.T) {
	t.Parallel()
	for suite, want := range map[string]certs.KeyExchange{
		"TLS_AES_128_GCM_SHA256":                certs.Signing,
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": certs.Signing,
		"TLS_DHE_RSA_WITH_AES_128_CBC_SHA":      certs.Signing,
		"TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA": certs.Signing,
		"TLS_RSA_WITH_AES_128_GCM_SHA256":       certs.Transport,
		"TLS_RSA_EXPORT_WITH_RC4_40_MD5":        certs.Transport,
		"TLS_RSA_EXPORT1024_WITH_RC4_56_SHA":    certs.Transport,
		"TLS_ECDH_ECDSA_WITH_AES_128_CBC_SHA":   certs.Agreement,
		"TLS_DH_RSA_WITH_AES_128_CBC_SHA":       certs.Agreement,
	} {
		if got := certs.ExchangeOf(suite); got != want {
			t.Errorf("%s: %d, want %d", suite, got, want)
		}
	}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		static := suite.ID == tls.TLS_RSA_WITH_RC4_128_SHA || suite.Name[:8] == "TLS_RSA_"
		if got := certs.ExchangeOf(suite.Name); (got == certs.Transport) != static {
			t.Errorf("%s: %d", suite.Name, got)
		}
	}
}

// TestKeyUsage: a key may do what its certificate allows it, and anything where that says nothing.
func TestKeyUsage(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	usage := func(u x509.KeyUsage) certtest.Option { return func(c *x509.Certificate) { c.KeyUsage = u } }
	none := func(c *x509.Certificate) { // present, and without a bit
		c.KeyUsage = 0
		id := asn1.ObjectIdentifier{2, 5, 29, 15}
		c.ExtraExtensions = []pkix.Extension{{Id: id, Critical: true, Value: []byte{3, 1, 0}}}
	}
	const sign, encipher, agree = x509.KeyUsageDigitalSignature, x509.KeyUsageKeyEncipherment, x509.KeyUsageKeyAgreement
	for _, c := range []struct {
		name                         string
		usage                        certtest.Option
		signing, transport, agreeing bool
	}{
		{"no extension", usage(0), true, true, true},
		{"digitalSignature", usage(sign), true, false, false},
		{"keyEncipherment", usage(encipher), false, true, false},
		{"keyAgreement", usage(agree), false, false, true},
		{"both of usual RSA certificates", usage(sign | encipher), true, true, false},
		{"another", usage(x509.KeyUsageContentCommitment), false, false, false},
		{"none", none, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			leaf := certtest.Leaf(t, root, hosts, c.usage)
			for exchange, fits := range map[certs.KeyExchange]bool{
				certs.Signing: c.signing, certs.Transport: c.transport, certs.Agreement: c.agreeing,
			} {
				v := certs.Checker{Roots: certtest.Pool(root), Now: epoch}.Check(certtest.List(leaf), host, exchange)
				want := []string{certs.CodePurpose}
				if fits {
					want = nil
				}
				if !slices.Equal(v.Codes, want) || v.Authorized != fits || !v.ChainComplete || v.Exchange != exchange {
					t.Errorf("exchange %d: %v, want %v", exchange, v.Codes, want)
				}
			}
		})
	}
}

// TestPurposeBesideOthers: it is told with whatever else holds, after the chain and before the name, and once.
func TestPurposeBesideOthers(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	wrong := func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }
	client := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	anyUsage := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }
	unknown := func(c *x509.Certificate) {
		c.ExtKeyUsage, c.UnknownExtKeyUsage = nil, []asn1.ObjectIdentifier{{1, 2, 3, 4}}
	}
	other := []string{"www.example.org"}
	for _, c := range []struct {
		name  string
		leaf  *certtest.Cert
		codes []string
	}{
		{"both wrong", certtest.Leaf(t, root, hosts, wrong, client), []string{certs.CodePurpose}},
		{"any purpose", certtest.Leaf(t, root, hosts, anyUsage), nil},
		{"an unknown purpose", certtest.Leaf(t, root, hosts, unknown), []string{certs.CodePurpose}},
		{"self-signed, key usage", certtest.Leaf(t, nil, hosts, wrong), []string{certs.CodeSelfSigned, certs.CodePurpose}},
		{"self-signed, for clients", certtest.Leaf(t, nil, hosts, client), []string{certs.CodeSelfSigned, certs.CodePurpose}},
		{"all", certtest.Leaf(t, nil, other, wrong, past),
			[]string{certs.CodeExpired, certs.CodeSelfSigned, certs.CodePurpose, certs.CodeNameMismatch}},
	} {
		if v := judge(root, c.leaf); !slices.Equal(v.Codes, c.codes) {
			t.Errorf("%s: %v, want %v", c.name, v.Codes, c.codes)
		}
	}
	v := judge(root, certtest.Leaf(t, nil, other, wrong, past)).Unverified(certs.DefectUnfinished)
	if want := []string{certs.CodeExpired, certs.CodeNoLocalIssuer, certs.CodePurpose,
		certs.CodeNameMismatch}; !slices.Equal(v.Codes, want) {
		t.Errorf("not verified: %v, want %v", v.Codes, want)
	}
}
