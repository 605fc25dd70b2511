package certs_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"net"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"

	"github.com/google/go-cmp/cmp"
)

const host = "www.example.com"

var hosts = []string{host}

// past and future are validities on either side of the epoch.
var (
	past   = certtest.Valid(certtest.Epoch.AddDate(-2, 0, 0), certtest.Epoch.AddDate(-1, 0, 0))
	future = certtest.Valid(certtest.Epoch.AddDate(1, 0, 0), certtest.Epoch.AddDate(2, 0, 0))
)

func epoch() time.Time { return certtest.Epoch }

// want is a Verdict without its chain.
type want struct {
	codes    []string
	host     bool
	complete bool
}

func check(t *testing.T, roots *x509.CertPool, sent []*x509.Certificate, host string, w want) certs.Verdict {
	t.Helper()
	v := certs.Checker{Roots: roots, Now: epoch}.Check(sent, host, certs.Signing)
	got := want{codes: v.Codes, host: v.HostnameMatches, complete: v.ChainComplete}
	if d := cmp.Diff(w, got, cmp.AllowUnexported(want{})); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
	if v.Authorized != (len(w.codes) == 0) {
		t.Errorf("Authorized = %v with codes %v", v.Authorized, v.Codes)
	}
	if first := append(w.codes, "")[0]; v.Code != first {
		t.Errorf("Code = %q, want %q", v.Code, first)
	}
	if len(v.Defects) > 0 && (v.ChainComplete || !slices.Contains(v.Codes, certs.CodeNoLocalIssuer)) {
		t.Errorf("defects %v without their code, or of a chain that was verified", v.Defects)
	}
	if len(sent) > 0 && (len(v.Chain) == 0 || !v.Chain[0].Equal(sent[0])) {
		t.Error("the judged chain does not start with the leaf")
	}
	for _, c := range v.Chain {
		if c.NotAfter.Year() > 3000 {
			t.Error("the judged chain holds a certificate whose validity was lifted")
		}
	}
	return v
}

// TestEveryCombination crosses time, chain and name: each problem shows whatever else is wrong, and the first in that
// order is the code.
func TestEveryCombination(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	other := certtest.Root(t, "Other Root")
	otherInter := certtest.Intermediate(t, other, "Other Intermediate")
	trusted := certtest.Pool(root)

	times := []struct {
		name  string
		opts  []certtest.Option
		codes []string
	}{
		{"valid", nil, nil},
		{"expired", []certtest.Option{past}, []string{certs.CodeExpired}},
		{"not yet valid", []certtest.Option{future}, []string{certs.CodeNotYetValid}},
	}
	chains := []struct {
		name     string
		issuer   *certtest.Cert
		others   []*certtest.Cert
		codes    []string
		complete bool
	}{
		{"trusted", inter, []*certtest.Cert{inter}, nil, true},
		{"trusted, root sent", inter, []*certtest.Cert{inter, root}, nil, true},
		{"trusted, out of order", inter, []*certtest.Cert{root, inter}, nil, true},
		{"trusted, repeated", inter, []*certtest.Cert{inter, inter, root, inter}, nil, true},
		{"trusted, unrelated extras", inter, []*certtest.Cert{other, otherInter, inter}, nil, true},
		{"trusted, issued by the root", root, nil, nil, true},
		{"self-signed", nil, nil, []string{certs.CodeSelfSigned}, false},
		{"self-signed, extras", nil, []*certtest.Cert{inter, root}, []string{certs.CodeSelfSigned}, false},
		{"untrusted root sent", otherInter, []*certtest.Cert{otherInter, other}, []string{certs.CodeSelfSignedInChain}, false},
		{"untrusted root sent first", otherInter, []*certtest.Cert{other, otherInter}, []string{certs.CodeSelfSignedInChain}, false},
		{"issued by an untrusted root that is sent", other, []*certtest.Cert{other}, []string{certs.CodeSelfSignedInChain}, false},
		{"untrusted root not sent", otherInter, []*certtest.Cert{otherInter}, []string{certs.CodeNoLocalIssuer}, false},
		{"missing intermediate", inter, nil, []string{certs.CodeUnverifiableLeaf}, false},
		{"missing intermediate, root sent", inter, []*certtest.Cert{root}, []string{certs.CodeUnverifiableLeaf}, false},
		{"missing intermediate, unrelated extras", inter, []*certtest.Cert{otherInter}, []string{certs.CodeUnverifiableLeaf}, false},
	}
	names := []struct {
		name  string
		hosts []string
		codes []string
	}{
		{"right name", hosts, nil},
		{"wrong name", []string{"www.example.org"}, []string{certs.CodeNameMismatch}},
	}
	for _, at := range times {
		for _, ch := range chains {
			for _, n := range names {
				t.Run(at.name+"/"+ch.name+"/"+n.name, func(t *testing.T) {
					t.Parallel()
					leaf := certtest.Leaf(t, ch.issuer, n.hosts, at.opts...)
					sent := certtest.List(append([]*certtest.Cert{leaf}, ch.others...)...)
					var codes []string
					codes = append(append(append(codes, at.codes...), ch.codes...), n.codes...)
					check(t, trusted, sent, host, want{codes: codes, host: n.codes == nil, complete: ch.complete})
				})
			}
		}
	}
}

// TestExpiryDoesNotHideAnUntrustedRoot is why there is a second verification inside the validity.
func TestExpiryDoesNotHideAnUntrustedRoot(t *testing.T) {
	t.Parallel()
	other := certtest.Root(t, "Other Root")
	leaf := certtest.Leaf(t, other, hosts, past)
	check(t, certtest.Pool(certtest.Root(t, "Root")), certtest.List(leaf, other), host,
		want{codes: []string{certs.CodeExpired, certs.CodeSelfSignedInChain}, host: true})
}

func TestValidityBoundaries(t *testing.T) {
	t.Parallel()
	const second, years = time.Second, 10 * 365 * 24 * time.Hour
	for _, c := range []struct {
		name     string
		from, to time.Duration
		codes    []string
	}{
		{"begins now", 0, years, nil},
		{"begins in a second", second, years, []string{certs.CodeNotYetValid}},
		{"ends now", -years, 0, nil},
		{"ended a second ago", -years, -second, []string{certs.CodeExpired}},
	} {
		validity := certtest.Valid(certtest.Epoch.Add(c.from), certtest.Epoch.Add(c.to))
		for _, who := range []string{"leaf", "intermediate", "root", "self-signed"} {
			t.Run(c.name+"/"+who, func(t *testing.T) {
				t.Parallel()
				var rootOpts, interOpts, leafOpts []certtest.Option
				switch who {
				case "root":
					rootOpts = append(rootOpts, validity)
				case "intermediate":
					interOpts = append(interOpts, validity)
				default:
					leafOpts = append(leafOpts, validity)
				}
				root := certtest.Root(t, "Root", rootOpts...)
				inter := certtest.Intermediate(t, root, "Intermediate", interOpts...)
				leaf := certtest.Leaf(t, inter, hosts, leafOpts...)
				if who == "self-signed" {
					leaf = certtest.Leaf(t, nil, hosts, leafOpts...)
					codes := append(append([]string(nil), c.codes...), certs.CodeSelfSigned)
					check(t, certtest.Pool(root), certtest.List(leaf), host, want{codes: codes, host: true})
					return
				}
				check(t, certtest.Pool(root), certtest.List(leaf, inter), host, want{codes: c.codes, host: true, complete: true})
			})
		}
	}
}

// TestValiditiesThatNeverMeet is a chain without one moment at which all of it held.
func TestValiditiesThatNeverMeet(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	gone := certtest.Intermediate(t, root, "Intermediate", past)
	notYet := certtest.Leaf(t, gone, hosts, future)
	check(t, certtest.Pool(root), certtest.List(notYet, gone), host,
		want{codes: []string{certs.CodeExpired, certs.CodeNotYetValid}, host: true, complete: true})
}

func TestCrossSigned(t *testing.T) {
	t.Parallel()
	old := certtest.Root(t, "Old Root")
	expiredOld := certtest.Root(t, "Expired Root", certtest.Valid(certtest.Epoch.AddDate(-20, 0, 0),
		certtest.Epoch.AddDate(-1, 0, 0)))
	young := certtest.Root(t, "New Root")
	inter := certtest.Intermediate(t, young, "Intermediate")
	leaf := certtest.Leaf(t, inter, hosts)
	youngByOld := certtest.CrossSign(t, old, young)
	youngByExpired := certtest.CrossSign(t, expiredOld, young)
	interGone := certtest.CrossSign(t, young, inter, past)

	for _, c := range []struct {
		name  string
		roots *x509.CertPool
		sent  []*x509.Certificate
		want  want
	}{
		{"old root trusted", certtest.Pool(old), certtest.List(leaf, inter, youngByOld), want{host: true, complete: true}},
		{"new root trusted, cross-signature sent", certtest.Pool(young), certtest.List(leaf, inter, youngByOld), want{host: true, complete: true}},
		{"expired cross-signer beside a live root", certtest.Pool(young, expiredOld), certtest.List(leaf, inter, youngByExpired), want{host: true, complete: true}},
		{"only the expired cross-signer", certtest.Pool(expiredOld), certtest.List(leaf, inter, youngByExpired),
			want{codes: []string{certs.CodeExpired}, host: true, complete: true}},
		{"expired twin of the intermediate first", certtest.Pool(young), certtest.List(leaf, interGone, inter), want{host: true, complete: true}},
		{"expired twin of the intermediate alone", certtest.Pool(young), certtest.List(leaf, interGone),
			want{codes: []string{certs.CodeExpired}, host: true, complete: true}},
		{"untrusted, expired twin first", certtest.Pool(old), certtest.List(leaf, interGone, inter),
			want{codes: []string{certs.CodeNoLocalIssuer}, host: true}},
		{"cross-signed in a circle", certtest.Pool(expiredOld), certtest.List(leaf, inter, youngByOld, certtest.CrossSign(t, young, old)),
			want{codes: []string{certs.CodeNoLocalIssuer}, host: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, c.roots, c.sent, host, c.want)
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	for _, c := range []struct {
		name  string
		hosts []string
		cn    string
		host  string
		match bool
	}{
		{"exact", []string{"www.example.com"}, "", "www.example.com", true},
		{"case of the certificate", []string{"WWW.Example.COM"}, "", "www.example.com", true},
		{"wildcard, one label", []string{"*.example.com"}, "", "www.example.com", true},
		{"wildcard, two labels", []string{"*.example.com"}, "", "a.www.example.com", false},
		{"wildcard, no label", []string{"*.example.com"}, "", "example.com", false},
		{"wildcard inside a label", []string{"w*.example.com"}, "", "www.example.com", false},
		{"common name alone", nil, "www.example.com", "www.example.com", false},
		{"address", []string{"93.184.216.34"}, "", "93.184.216.34", true},
		{"other address", []string{"93.184.216.35"}, "", "93.184.216.34", false},
		{"address as common name", nil, "93.184.216.34", "93.184.216.34", false},
		{"IPv6 address", []string{"2606:4700:4700::1111"}, "", "2606:4700:4700::1111", true},
		{"wildcard is no address", []string{"*.184.216.34"}, "", "93.184.216.34", false},
		{"underscore", []string{"_x.example.com"}, "", "_x.example.com", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			leaf := certtest.Leaf(t, root, c.hosts, func(x *x509.Certificate) { x.Subject = pkix.Name{CommonName: c.cn} })
			w := want{host: c.match, complete: true}
			if !c.match {
				w.codes = []string{certs.CodeNameMismatch}
			}
			check(t, certtest.Pool(root), certtest.List(leaf), c.host, w)
		})
	}
}

// TestPublicSuffixWildcards: no wildcard stands for all names under a public suffix, but for a private one's.
func TestPublicSuffixWildcards(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	for _, c := range []struct {
		names    []string
		host     string
		wildcard string // "" where the certificate is for the host
	}{
		{[]string{"*.net"}, "example.net", "*.net"},
		{[]string{"*.NET"}, "example.net", "*.NET"},
		{[]string{"*.co.uk"}, "example.co.uk", "*.co.uk"},
		{[]string{"*.kawasaki.jp"}, "city.kawasaki.jp", ""}, // an exception to *.kawasaki.jp
		{[]string{"*.example.kawasaki.jp"}, "www.example.kawasaki.jp", "*.example.kawasaki.jp"},
		{[]string{"*.github.io"}, "example.github.io", ""},
		{[]string{"*.example.co.uk"}, "www.example.co.uk", ""},
		{[]string{"*.no-such-tld"}, "example.no-such-tld", "*.no-such-tld"},
		{[]string{"*.example.no-such-tld"}, "www.example.no-such-tld", ""},
		{[]string{"*.net", "example.net"}, "example.net", ""},
		{[]string{"*.com", "*.net"}, "example.net", "*.net"},
		{[]string{"*.net", "93.184.216.34"}, "93.184.216.34", ""},
	} {
		leaf := certtest.Leaf(t, root, c.names)
		w := want{host: true, complete: true}
		if c.wildcard != "" {
			w = want{codes: []string{certs.CodeNameMismatch}, complete: true}
		}
		if v := check(t, certtest.Pool(root), certtest.List(leaf), c.host, w); v.PublicWildcard != c.wildcard {
			t.Errorf("%v for %s: %q", c.names, c.host, v.PublicWildcard)
		}
	}
	leaf := certtest.Leaf(t, root, []string{"*.net"})
	v := check(t, certtest.Pool(root), certtest.List(leaf), "www.example.net",
		want{codes: []string{certs.CodeNameMismatch}, complete: true})
	if v.PublicWildcard != "" {
		t.Errorf("%s does not match two labels", v.PublicWildcard)
	}
}

// TestAddressAsDNSName: a literal in a dNSName does not name the address (RFC 9525 section 6.2).
func TestAddressAsDNSName(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, nil, func(x *x509.Certificate) { x.DNSNames = []string{"93.184.216.34"} })
	check(t, certtest.Pool(root), certtest.List(leaf), "93.184.216.34",
		want{codes: []string{certs.CodeNameMismatch}, complete: true})
}

func TestTrustedLeaf(t *testing.T) {
	t.Parallel()
	leaf := certtest.Leaf(t, nil, hosts)
	check(t, certtest.Pool(leaf), certtest.List(leaf), host, want{host: true, complete: true})
	gone := certtest.Leaf(t, nil, hosts, past)
	check(t, certtest.Pool(gone), certtest.List(gone), host,
		want{codes: []string{certs.CodeExpired}, host: true, complete: true})
}

func TestNothingSent(t *testing.T) {
	t.Parallel()
	w := want{codes: []string{certs.CodeUnverifiableLeaf}}
	check(t, certtest.Pool(), nil, host, w)
	check(t, certtest.Pool(), []*x509.Certificate{}, host, w)
}

// TestRefusedChains are those that lead to a trusted root and are refused all the same.
func TestRefusedChains(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	trusted := certtest.Pool(root)
	inter := certtest.Intermediate(t, root, "Intermediate")
	notCA := certtest.Leaf(t, root, []string{"shop.example.com"})
	constrained := certtest.Intermediate(t, root, "Constrained", func(x *x509.Certificate) {
		x.PermittedDNSDomainsCritical = true
		x.PermittedDNSDomains = []string{"example.org"}
	})
	mailOnly := certtest.Intermediate(t, root, "Mail", func(x *x509.Certificate) {
		x.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}
	})
	last := certtest.Intermediate(t, root, "Last", func(x *x509.Certificate) { x.MaxPathLenZero = true })
	tooDeep := certtest.Intermediate(t, last, "Too Deep")
	critical := func(x *x509.Certificate) {
		x.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaInter := certtest.Sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "RSA"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IsCA: true, BasicConstraintsValid: true,
	}, root, rsaKey)
	sha1 := func(x *x509.Certificate) { x.SignatureAlgorithm = x509.SHA1WithRSA }

	for _, c := range []struct {
		name string
		code string
		sent []*x509.Certificate
	}{
		{"client certificate", certs.CodePurpose, certtest.List(certtest.Leaf(t, inter, hosts, func(x *x509.Certificate) {
			x.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}), inter)},
		{"authority for mail", certs.CodePurpose, certtest.List(certtest.Leaf(t, mailOnly, hosts), mailOnly)},
		{"name constraint", certs.CodeNotPermitted, certtest.List(certtest.Leaf(t, constrained, hosts), constrained)},
		{"issued by a leaf", certs.CodeInvalidCA, certtest.List(certtest.Leaf(t, notCA, hosts), notCA)},
		{"too deep", certs.CodePathLength, certtest.List(certtest.Leaf(t, tooDeep, hosts), tooDeep, last)},
		{"critical extension", certs.CodeCriticalExtension, certtest.List(certtest.Leaf(t, inter, hosts, critical), inter)},
		{"SHA-1", certs.CodeWeakDigest, certtest.List(certtest.Leaf(t, rsaInter, hosts, sha1), rsaInter)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, trusted, c.sent, host, want{codes: []string{c.code}, host: true, complete: true})
		})
	}
}

// TestUnknownSignature: a signature that cannot be verified here, such as Ed448's, is no fault of the chain.
func TestUnknownSignature(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	leaf := certtest.Leaf(t, inter, hosts)
	leaf.SignatureAlgorithm = x509.UnknownSignatureAlgorithm
	v := check(t, certtest.Pool(root), certtest.List(leaf, inter), host,
		want{codes: []string{certs.CodeNoLocalIssuer}, host: true})
	if !slices.Equal(v.Defects, []string{certs.DefectUnfinished}) {
		t.Errorf("defects %v", v.Defects)
	}
}

// TestForgedIssuer: the right names under a wrong signature lead nowhere.
func TestForgedIssuer(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	forger := &certtest.Cert{Certificate: certtest.Root(t, "Root").Certificate, Key: certtest.NewKey(t)}
	leaf := certtest.Leaf(t, certtest.Root(t, "Root"), hosts)
	check(t, certtest.Pool(root), certtest.List(leaf, root), host,
		want{codes: []string{certs.CodeUnverifiableLeaf}, host: true})
	check(t, certtest.Pool(root), certtest.List(leaf, &certtest.Cert{Certificate: forger.Certificate}), host,
		want{codes: []string{certs.CodeUnverifiableLeaf}, host: true})
}

// TestChainReachesTheRoot: what needs the issuer (stapled OCSP) finds it in the judged chain though only the leaf came.
func TestChainReachesTheRoot(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, hosts)
	v := check(t, certtest.Pool(root), certtest.List(leaf), host, want{host: true, complete: true})
	if len(v.Chain) != 2 || !v.Chain[1].Equal(root.Certificate) {
		t.Errorf("the judged chain does not end with the root: %d certificates", len(v.Chain))
	}
}

func TestWildClockDefaultsToNow(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root", certtest.Valid(time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	leaf := certtest.Leaf(t, root, hosts, certtest.Valid(time.Now().Add(-time.Minute), time.Now().Add(time.Minute)))
	checker := certs.Checker{Roots: certtest.Pool(root)}
	if v := checker.Check(certtest.List(leaf), host, certs.Signing); !v.Authorized {
		t.Errorf("not authorized: %v", v.Codes)
	}
}

// TestHostileCrowd: hundreds of look-alike issuers cost a bounded time.
func TestHostileCrowd(t *testing.T) { //nolint:paralleltest // it measures the process
	root := certtest.Root(t, "Root")
	var sent []*certtest.Cert
	first := certtest.Root(t, "Twin")
	sent = append(sent, certtest.Leaf(t, first, hosts))
	key := certtest.NewKey(t)
	for range 300 {
		sent = append(sent, certtest.Sign(t, &x509.Certificate{
			Subject: pkix.Name{CommonName: "Twin"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
			IsCA: true, BasicConstraintsValid: true, SubjectKeyId: first.SubjectKeyId,
		}, nil, key))
	}
	before := processorTime(t)
	check(t, certtest.Pool(root), certtest.List(sent...), host,
		want{codes: []string{certs.CodeUnverifiableLeaf}, host: true})
	if used := processorTime(t) - before; used > time.Second {
		t.Errorf("it took %v", used)
	}
}

func FuzzCheck(f *testing.F) {
	root := certtest.Root(f, "Root")
	inter := certtest.Intermediate(f, root, "Intermediate")
	leaf := certtest.Leaf(f, inter, []string{host, "93.184.216.34"})
	f.Add(leaf.Raw, inter.Raw, host)
	f.Add(certtest.Leaf(f, nil, hosts).Raw, root.Raw, "93.184.216.34")
	f.Add(root.Raw, leaf.Raw, "")
	checker := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	f.Fuzz(func(t *testing.T, a, b []byte, host string) {
		var sent []*x509.Certificate
		for _, der := range [][]byte{a, b, a} {
			if c, err := x509.ParseCertificate(der); err == nil {
				sent = append(sent, c)
			}
		}
		v := checker.Check(sent, host, certs.Signing)
		if v.Authorized != (len(v.Codes) == 0) || v.Authorized != (v.Code == "") {
			t.Errorf("verdict contradicts itself: %+v", v)
		}
		if v.Authorized && (net.ParseIP(host) == nil && host == "" || !v.ChainComplete || !v.HostnameMatches) {
			t.Errorf("authorized without name or chain: %+v", v)
		}
	})
}

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

// TestPurposeBesideOthers: it is reported beside the other codes, after the chain and before the name, and once.
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

// TestArrangement separates repeats, order, roots, strangers and wrong intermediates apart.
func TestArrangement(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	first := certtest.Intermediate(t, root, "First")
	second := certtest.Intermediate(t, first, "Second")
	leaf := certtest.Leaf(t, second, hosts)
	old := certtest.Root(t, "Old Root")
	rootByOld := certtest.CrossSign(t, old, root)
	other := certtest.Root(t, "Other Root")
	otherInter := certtest.Intermediate(t, other, "Other Intermediate")
	otherLeaf := certtest.Leaf(t, other, []string{"other.example.com"})
	rekeyed := certtest.Intermediate(t, first, "Second")
	self := certtest.Leaf(t, nil, hosts)
	direct := certtest.Leaf(t, root, hosts)

	type placed struct {
		Repeated, OutOfOrder, Root bool
		Foreign, Wrong             []string
	}
	for _, c := range []struct {
		name string
		sent []*certtest.Cert
		want placed
	}{
		{"as it should be", []*certtest.Cert{leaf, second, first}, placed{}},
		{"the root too", []*certtest.Cert{leaf, second, first, root}, placed{Root: true}},
		{"cross-signed root", []*certtest.Cert{leaf, second, first, rootByOld}, placed{}},
		{"cross-signed root and both roots", []*certtest.Cert{leaf, second, first, rootByOld, old, root}, placed{Root: true}},
		{"the other way round", []*certtest.Cert{leaf, first, second}, placed{OutOfOrder: true}},
		{"root before the others", []*certtest.Cert{leaf, root, second, first}, placed{OutOfOrder: true, Root: true}},
		{"one repeated", []*certtest.Cert{leaf, second, first, second}, placed{Repeated: true}},
		{"the leaf repeated", []*certtest.Cert{leaf, leaf, second, first}, placed{Repeated: true}},
		{"a stranger", []*certtest.Cert{leaf, second, first, otherInter}, placed{Foreign: []string{"Other Intermediate"}}},
		{"a stranger between", []*certtest.Cert{leaf, otherInter, second, first}, placed{Foreign: []string{"Other Intermediate"}}},
		{"strange roots", []*certtest.Cert{leaf, second, first, other}, placed{Foreign: []string{"Other Root"}}},
		{"another server's", []*certtest.Cert{leaf, second, first, otherLeaf}, placed{Foreign: []string{"other.example.com"}}},
		{"its issuer's namesake", []*certtest.Cert{leaf, rekeyed, second, first}, placed{Foreign: []string{"Second"}}},
		{"everything", []*certtest.Cert{leaf, first, second, root, other, second},
			placed{Repeated: true, OutOfOrder: true, Root: true, Foreign: []string{"Other Root"}}},
		{"alone", []*certtest.Cert{leaf}, placed{}},
		{"issued by the root, which came", []*certtest.Cert{direct, root}, placed{Root: true}},
		{"issued by the root, a stranger came", []*certtest.Cert{direct, first}, placed{Foreign: []string{"First"}}},
		{"missing intermediate, root sent", []*certtest.Cert{leaf, root}, placed{}},
		{"missing intermediate, another server's", []*certtest.Cert{leaf, otherLeaf}, placed{}},
		{"wrong intermediate", []*certtest.Cert{leaf, otherInter}, placed{Wrong: []string{"Other Intermediate"}}},
		{"wrong intermediate twice", []*certtest.Cert{leaf, otherInter, otherInter},
			placed{Repeated: true, Wrong: []string{"Other Intermediate"}}},
		{"the one above alone", []*certtest.Cert{leaf, first, root}, placed{Wrong: []string{"First"}}},
		{"a gap above, and an unknown issuer", []*certtest.Cert{certtest.Leaf(t, otherInter, hosts), otherInter, first}, placed{}},
		{"an untrusted root that came", []*certtest.Cert{certtest.Leaf(t, otherInter, hosts), otherInter, other}, placed{}},
		{"self-signed", []*certtest.Cert{self}, placed{}},
		{"self-signed, with others", []*certtest.Cert{self, first, root}, placed{Foreign: []string{"First", "Root"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := judge(root, c.sent...).Sent
			have := placed{got.Repeated, got.OutOfOrder, got.Root, subjects(got.Foreign), subjects(got.Wrong)}
			if d := cmp.Diff(c.want, have); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func subjects(certs []*x509.Certificate) (names []string) {
	for _, cert := range certs {
		names = append(names, cert.Subject.CommonName)
	}
	return names
}

// TestArrangementOfTooMany: past what is judged no certificate is foreign, and nothing costs more.
func TestArrangementOfTooMany(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	stranger := certtest.Root(t, "Stranger")
	sent := []*certtest.Cert{certtest.Leaf(t, inter, hosts), inter}
	for len(sent) < certs.MaxCertificates {
		sent = append(sent, certtest.Root(t, "Other "+string(rune('a'+len(sent)))))
	}
	if v := judge(root, sent...); len(v.Sent.Foreign) != certs.MaxCertificates-2 {
		t.Errorf("%d strangers", len(v.Sent.Foreign))
	}
	if v := judge(root, append(slices.Clone(sent), stranger)...); v.Sent.Foreign != nil || !v.Cut {
		t.Errorf("cut: %d strangers", len(v.Sent.Foreign))
	}
	// Repeats past the tenth are not looked for.
	if v := judge(root, append(slices.Clone(sent), inter)...); v.Sent.Repeated {
		t.Error("repeated")
	}
}

// TestPublic: the last of the chain decides, and only where the chain leads there.
func TestPublic(t *testing.T) {
	t.Parallel()
	root, private := certtest.Root(t, "Public Root"), certtest.Root(t, "Private Root")
	c := certs.Checker{Roots: certtest.Pool(root, private), Now: epoch, Public: root.Equal}
	for name, test := range map[string]struct {
		sent   []*certtest.Cert
		public bool
	}{
		"public":        {[]*certtest.Cert{certtest.Leaf(t, root, hosts)}, true},
		"expired":       {[]*certtest.Cert{certtest.Leaf(t, root, hosts, past)}, true},
		"private":       {[]*certtest.Cert{certtest.Leaf(t, private, hosts)}, false},
		"self-signed":   {[]*certtest.Cert{certtest.Leaf(t, nil, hosts), root}, false},
		"leads nowhere": {[]*certtest.Cert{certtest.Leaf(t, certtest.Root(t, "Other"), hosts)}, false},
	} {
		if v := c.Check(certtest.List(test.sent...), host, certs.Signing); v.Public != test.public {
			t.Errorf("%s: %v", name, v.Public)
		}
	}
	if v := judge(private, certtest.Leaf(t, private, hosts)); v.Public {
		t.Error("an unknown root is in the built-in list")
	}
}
