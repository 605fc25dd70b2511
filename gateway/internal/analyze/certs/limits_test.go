package certs_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
)

func judge(roots *certtest.Cert, sent ...*certtest.Cert) certs.Verdict {
	c := certs.Checker{Roots: certtest.Pool(roots), Now: func() time.Time { return certtest.Epoch }}
	return c.Check(certtest.List(sent...), host, certs.Signing)
}

// With a key of 8,192 bits a certificate is judged as with any other; with a longer one in it no chain is.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	for bits, long := range map[int]bool{
		2048: false, certs.MaxKeyBits: false, certs.MaxKeyBits + 1: true, 16384: true,
	} {
		for name, sent := range map[string][]*certtest.Cert{
			"leaf": {certtest.Foreign(t, inter, hosts, certtest.RSAOfBits(t, bits, 65537)), inter},
			"other": {certtest.Leaf(t, inter, hosts), inter,
				certtest.Foreign(t, root, []string{"other.example.com"}, certtest.RSAOfBits(t, bits, 65537))},
		} {
			t.Run(fmt.Sprint(name, " ", bits), func(t *testing.T) {
				t.Parallel()
				v := judge(root, sent...)
				if !long {
					if !v.Authorized || certs.LongKey(sent[0].Certificate) {
						t.Errorf("%+v", v)
					}
					return
				}
				if v.Authorized || v.ChainComplete || v.Code != certs.CodeNoLocalIssuer ||
					!slices.Equal(v.Defects, []string{certs.DefectLongKey}) || !v.HostnameMatches {
					t.Errorf("%+v", v)
				}
			})
		}
	}
}

// A self-signed certificate with a long key is one by its names.
func TestALongKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	self := certtest.Leaf(t, nil, hosts, func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: host} })
	forged := *self.Certificate
	long := certtest.RSAOfBits(t, certs.MaxKeyBits+1, 65537)
	forged.PublicKey = long
	if !certs.SelfSigned(&forged) {
		t.Error("not self-signed")
	}
}

// Ten certificates are judged: with the intermediate as the eleventh the chain is not known to be complete.
func TestTenCertificates(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	leaf := certtest.Leaf(t, inter, hosts)
	for place, good := range map[int]bool{9: true, 10: true, 11: false} {
		sent := []*certtest.Cert{leaf}
		for i := range place - 2 {
			sent = append(sent, certtest.Root(t, fmt.Sprint("Other ", i)))
		}
		v := judge(root, append(sent, inter)...)
		if v.Authorized != good || v.Cut == good || !good && v.Code != certs.CodeUnverifiableLeaf {
			t.Errorf("as the %dth: %+v", place, v.Codes)
		}
	}
	// Repeats are certificates that were sent.
	repeats := slices.Repeat([]*certtest.Cert{leaf}, 10)
	if v := judge(root, append(repeats, inter)...); v.Authorized || !v.Cut {
		t.Errorf("after repeats: %+v", v.Codes)
	}
}

// 64 KiB of certificates are judged, and the first whatever its length.
func TestOctetsOfCertificates(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	leaf := certtest.Leaf(t, inter, hosts)
	// filler takes what is left of the octets but for so many, which are the intermediate's.
	filler := func(left int) *certtest.Cert {
		size := certs.MaxOctets - len(leaf.Raw) - left
		text := 0
		for range 8 { // lengths of lengths, and of signatures, vary
			c := certtest.Root(t, "Filler", func(c *x509.Certificate) {
				c.Subject.Organization = []string{strings.Repeat("x", max(1, text))}
			})
			if len(c.Raw) == size {
				return c
			}
			text += (size - len(c.Raw)) / 2 // subject and issuer
		}
		return nil
	}
	long := certtest.Leaf(t, inter, hosts, func(c *x509.Certificate) {
		c.Subject.Organization = []string{strings.Repeat("x", certs.MaxOctets)}
	})
	if v := judge(root, long); v.Code != certs.CodeUnverifiableLeaf || v.Cut {
		t.Errorf("a long leaf: %+v", v.Codes)
	}
	if v := judge(root, long, inter); v.Authorized || !v.Cut {
		t.Errorf("a long leaf and another: %+v", v.Codes)
	}
	tried := 0
	for over, good := range map[int]bool{0: true, 1: false, 2: false} {
		if f := filler(len(inter.Raw) - over); f != nil {
			tried++
			if v := judge(root, leaf, f, inter); v.Authorized != good || v.Cut == good {
				t.Errorf("%d octets over: %+v", over, v.Codes)
			}
		}
	}
	if tried == 0 {
		t.Error("no chain of the right length could be made")
	}
}

// Three certificates of one name are judged.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	leaf := certtest.Leaf(t, inter, hosts)
	for before, good := range map[int]bool{2: true, 3: false} {
		sent := []*certtest.Cert{leaf}
		for range before {
			sent = append(sent, certtest.CrossSign(t, certtest.Root(t, "Another"), inter))
		}
		if v := judge(root, append(sent, inter)...); v.Authorized != good || v.Cut == good {
			t.Errorf("after %d of the name: %+v", before, v.Codes)
		}
	}
}

// A crowd of issuers that look alike, with keys as costly as they may be, costs a part of a second.
func TestCostlyCrowd(t *testing.T) {
	t.Parallel()
	root, twin := certtest.Root(t, "Root"), certtest.Root(t, "Twin")
	var sent []*x509.Certificate
	for range certs.MaxCertificates {
		key := certtest.RSAOfBits(t, certs.MaxKeyBits, 1<<31-1)
		c := certtest.Foreign(t, twin, hosts, key, func(c *x509.Certificate) {
			c.Subject, c.IsCA, c.BasicConstraintsValid = pkix.Name{CommonName: "Twin"}, true, true
		})
		c.SignatureAlgorithm, c.Signature = x509.SHA256WithRSA, make([]byte, certs.MaxKeyBits/8)
		c.Signature[0] = 1
		c.AuthorityKeyId, c.SubjectKeyId = nil, nil
		sent = append(sent, c.Certificate)
	}
	began := time.Now()
	c := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	if v := c.Check(sent, host, certs.Signing); v.Authorized {
		t.Errorf("%+v", v)
	}
	if took := time.Since(began); took > 3*time.Second { // 20 ms alone, without the race detector
		t.Errorf("it took %v", took)
	}
}

// A handshake that was ended says nothing for a chain.
func TestUnverified(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	past := certtest.Valid(certtest.Epoch.AddDate(0, -4, 0), certtest.Epoch.AddDate(0, -1, 0))
	for _, test := range []struct {
		sent  []*certtest.Cert
		codes []string
	}{
		{[]*certtest.Cert{certtest.Leaf(t, root, hosts)}, []string{certs.CodeNoLocalIssuer}},
		{[]*certtest.Cert{certtest.Leaf(t, nil, hosts)}, []string{certs.CodeNoLocalIssuer}},
		{[]*certtest.Cert{certtest.Leaf(t, nil, []string{"other.example.com"}, past)},
			[]string{certs.CodeExpired, certs.CodeNoLocalIssuer, certs.CodeNameMismatch}},
	} {
		v := judge(root, test.sent...).Unverified(certs.DefectUnfinished)
		if v.Authorized || v.ChainComplete || !slices.Equal(v.Codes, test.codes) || v.Code != test.codes[0] ||
			!slices.Equal(v.Defects, []string{certs.DefectUnfinished}) {
			t.Errorf("%+v, want %v", v, test.codes)
		}
	}
}
