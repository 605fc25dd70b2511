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
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
)

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

// Authorities that issue one another cost no more than others, and it is told that they were not verified.
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

// A run with other certificates at each hop does not pay for each, and one with the same pays once.
func TestTheChainsOfARun(t *testing.T) { //nolint:paralleltest // it measures the process
	root := certtest.Root(t, "Root")
	key := signer(t, "P-521")
	c := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	ctx := certs.WithMemory(t.Context())
	honest := certtest.List(certtest.Leaf(t, root, hosts))
	judged := func(ctx context.Context, sent []*x509.Certificate, host string, good bool) {
		t.Helper()
		if v := c.CheckIn(ctx, sent, host, certs.Signing); v.Authorized != good {
			t.Errorf("%v %v", v.Codes, v.Defects)
		}
	}
	for range 1000 {
		judged(ctx, honest, host, true)
	}
	judged(ctx, honest, "other.example.com", false)
	var took time.Duration
	for range 20 {
		sent := certtest.List(ring(t, key)...)
		before := processorTime(t)
		judged(ctx, sent, host, false)
		took += processorTime(t) - before
	}
	t.Logf("%v", took)
	if most := signatures(t, 500, ring(t, key)); took > most { // that of 100 alone
		t.Errorf("it took %v, want at most %v", took, most)
	}
	judged(ctx, honest, host, true)
	other := certtest.List(certtest.Leaf(t, root, hosts))
	v := c.CheckIn(ctx, other, host, certs.Signing)
	if v.Authorized || !slices.Equal(v.Defects, []string{certs.DefectCostly}) {
		t.Errorf("after all work is spent: %v %v", v.Codes, v.Defects)
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
