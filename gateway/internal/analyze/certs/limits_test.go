package certs_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"strings"
	"syscall"
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
func TestCostlyCrowd(t *testing.T) { //nolint:paralleltest // it measures the process
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
	before := processorTime(t)
	c := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	if v := c.Check(sent, host, certs.Signing); v.Authorized {
		t.Errorf("%+v", v)
	}
	if used := processorTime(t) - before; used > 3*time.Second { // 20 ms without the race detector
		t.Errorf("it took %v", used)
	}
}

// A handshake that was ended says nothing for a chain.
// TestRefusal: what was not verified is no fault of the server, and hides none of its faults.
func TestRefusal(t *testing.T) {
	t.Parallel()
	const own = certs.CodeNoLocalIssuer
	for name, c := range map[string]struct {
		codes, defects []string
		refusal        string
		notVerified    bool
	}{
		"valid":                   {nil, nil, "", false},
		"expired":                 {[]string{certs.CodeExpired}, nil, certs.CodeExpired, false},
		"untrusted":               {[]string{own}, nil, own, false},
		"long key":                {[]string{own}, []string{certs.DefectLongKey}, "", true},
		"not read":                {[]string{own}, []string{certs.DefectUnfinished}, "", true},
		"costly":                  {[]string{own}, []string{certs.DefectCostly}, "", true},
		"expired and not read":    {[]string{certs.CodeExpired, own}, []string{certs.DefectUnfinished}, certs.CodeExpired, false},
		"other name and long key": {[]string{own, certs.CodeNameMismatch}, []string{certs.DefectLongKey}, certs.CodeNameMismatch, false},
	} {
		v := certs.Verdict{Authorized: len(c.codes) == 0, Codes: c.codes, Defects: c.defects}
		if len(c.codes) > 0 {
			v.Code = c.codes[0]
		}
		if v.Refusal() != c.refusal || v.NotVerified() != c.notVerified {
			t.Errorf("%s: %q, %v", name, v.Refusal(), v.NotVerified())
		}
	}
}

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

// signers are keys of the kinds that there are, by the time that one signature takes to verify.
var signers = map[string]func() (crypto.Signer, error){
	"P-256":    func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
	"P-384":    func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) },
	"P-521":    func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P521(), rand.Reader) },
	"RSA-2048": func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
	"RSA-4096": func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 4096) },
}

func signer(t *testing.T, kind string) crypto.Signer {
	t.Helper()
	key, err := signers[kind]()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// ring is a leaf and nine authorities of three names, each issued by all of the next name.
func ring(t *testing.T, key crypto.Signer) []*certtest.Cert {
	t.Helper()
	names := []string{"A", "B", "C"}
	by := func(name string) *certtest.Cert {
		return &certtest.Cert{Certificate: &x509.Certificate{Subject: pkix.Name{CommonName: name}}, Key: key}
	}
	authority := func(i int) *certtest.Cert {
		return certtest.Sign(t, &x509.Certificate{
			Subject: pkix.Name{CommonName: names[i%3]}, DNSNames: []string{fmt.Sprint(i, ".example.com")},
			NotBefore: certtest.Epoch.AddDate(-1, 0, 0), NotAfter: certtest.Epoch.AddDate(1, 0, 0),
			IsCA: true, BasicConstraintsValid: true,
		}, by(names[(i+1)%3]), key)
	}
	sent := []*certtest.Cert{certtest.Leaf(t, by("A"), hosts)}
	for i := range 9 {
		sent = append(sent, authority(i))
	}
	return sent
}

// processorTime is what this process has used, which other processes do not change.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// signatures is the processor time that so many of the ring's take to verify here and now, and a moment for all the
// rest.
func signatures(t *testing.T, n int, sent []*certtest.Cert) time.Duration {
	t.Helper()
	const times = 8
	before := processorTime(t)
	for range times {
		if err := sent[0].CheckSignatureFrom(sent[1].Certificate); err != nil {
			t.Fatal(err)
		}
	}
	return (processorTime(t)-before)*time.Duration(n)/times + 100*time.Millisecond
}

// Authorities that issue one another cost no more than others, and they are reported as not verified.
func TestARingOfAuthorities(t *testing.T) { //nolint:paralleltest // it measures the process
	root := certtest.Root(t, "Root")
	for kind := range signers {
		sent := ring(t, signer(t, kind))
		before := processorTime(t)
		v := judge(root, sent...)
		took := processorTime(t) - before
		t.Logf("%s: %v", kind, took)
		if v.Authorized || v.Code != certs.CodeNoLocalIssuer || v.ChainComplete || !v.HostnameMatches ||
			!slices.Equal(v.Defects, []string{certs.DefectCostly}) {
			t.Errorf("%s: %v %v", kind, v.Codes, v.Defects)
		}
		if most := signatures(t, 200, sent); took > most { // that of 40 alone
			t.Errorf("%s: it took %v, want at most %v", kind, took, most)
		}
	}
}

// What a run has no room for is not verified, and the same chain is paid for once.
func TestTheChainsOfARun(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	key := signer(t, "P-521")
	c := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	const room = 300 * time.Millisecond
	left := room
	ctx := certs.WithMemory(t.Context(), func(cost time.Duration) bool {
		if cost > left {
			return false
		}
		left -= cost
		return true
	})
	honest := certtest.List(certtest.Leaf(t, root, hosts))
	judged := func(ctx context.Context, sent []*x509.Certificate, host string, good bool) {
		t.Helper()
		if v := c.CheckIn(ctx, sent, host, certs.Signing); v.Authorized != good {
			t.Errorf("%v %v", v.Codes, v.Defects)
		}
	}
	judged(ctx, honest, host, true)
	before := left
	judged(ctx, honest, host, true)
	if left != before || before == room {
		t.Errorf("%v, then %v", before, left)
	}
	judged(ctx, honest, "other.example.com", false)
	for range 20 {
		before := left
		judged(ctx, certtest.List(ring(t, key)...), host, false)
		if cost := before - left; cost > 45*time.Millisecond {
			t.Errorf("one chain cost %v", cost)
		}
	}
	judged(ctx, honest, host, true)
	left = 0
	other := certtest.List(certtest.Leaf(t, root, hosts))
	v := c.CheckIn(ctx, other, host, certs.Signing)
	if v.Authorized || !slices.Equal(v.Defects, []string{certs.DefectCostly}) || !v.NotVerified() {
		t.Errorf("after all is spent: %v %v", v.Codes, v.Defects)
	}
	judged(t.Context(), other, host, true)
}

// What honest servers send is judged to its end, with any key and whatever is wrong with it.
func TestHonestChainsOfCostlyKeys(t *testing.T) {
	t.Parallel()
	for kind := range signers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			key := signer(t, kind)
			authority := func(name string, parent *certtest.Cert) *certtest.Cert {
				return certtest.Sign(t, &x509.Certificate{
					Subject: pkix.Name{CommonName: name}, NotBefore: certtest.Epoch.AddDate(-9, 0, 0),
					NotAfter: certtest.Epoch.AddDate(9, 0, 0), IsCA: true, BasicConstraintsValid: true,
				}, parent, key)
			}
			root := authority("Costly Root", nil)
			first := authority("First", root)
			second := authority("Second", first)
			leaf := certtest.Leaf(t, second, hosts)
			for _, sent := range [][]*certtest.Cert{
				{leaf, second, first}, {leaf, second, first, root}, {leaf, first, root, second},
			} {
				if v := judge(root, sent...); !v.Authorized {
					t.Errorf("%d sent: %v %v", len(sent), v.Codes, v.Defects)
				}
				want := certs.CodeNoLocalIssuer
				if len(sent) == 4 {
					want = certs.CodeSelfSignedInChain
				}
				if v := judge(certtest.Root(t, "Other"), sent...); v.Code != want || v.Defects != nil {
					t.Errorf("%d sent, untrusted: %v %v", len(sent), v.Codes, v.Defects)
				}
			}
		})
	}
}
