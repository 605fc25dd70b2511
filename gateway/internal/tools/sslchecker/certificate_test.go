package sslchecker

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"

	"golang.org/x/crypto/ocsp"
)

func TestSSLDaysRemaining(t *testing.T) {
	t.Parallel()
	end := certtest.Epoch
	const day = 24 * time.Hour
	for _, c := range []struct {
		before time.Duration
		want   int64
	}{
		{10 * day, 10},
		{10*day - time.Second, 9},
		{day, 1},
		{day - time.Nanosecond, 0},
		{0, 0},
		{-time.Nanosecond, -1},
		{-time.Second, -1},
		{-day, -1},
		{-day - time.Nanosecond, -2},
	} {
		if got := daysRemaining(end, end.Add(-c.before)); got != c.want {
			t.Errorf("%v before the end: %d, want %d", c.before, got, c.want)
		}
	}
	// Beyond what a time.Duration holds.
	if got := daysRemaining(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), end); got != 2912277 {
		t.Errorf("to the end of time: %d", got)
	}
}

func TestSSLSerialNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]string{0: "00", 10: "0A", 0xABCD: "ABCD", 0xBCD: "0BCD", -1: "-01"} {
		if got := serialNumber(&x509.Certificate{SerialNumber: big.NewInt(in)}); got != want {
			t.Errorf("%d: %s, want %s", in, got, want)
		}
	}
}

func TestSSLValidationLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policies [][]uint64
		want     string
	}{
		{nil, ""},
		{[][]uint64{{1, 3, 6, 1, 4, 1, 44947, 1, 1, 1}}, ""},
		{[][]uint64{{2, 23, 140, 1, 2, 1}}, "DV"},
		{[][]uint64{{2, 23, 140, 1, 2, 2}}, "OV"},
		{[][]uint64{{2, 23, 140, 1, 2, 3}}, "IV"},
		{[][]uint64{{1, 2, 3}, {2, 23, 140, 1, 1}}, "EV"},
		{[][]uint64{{2, 23, 140, 1, 2, 2}, {2, 23, 140, 1, 1}}, "EV"},
	} {
		leaf := certtest.Leaf(t, nil, nil, func(x *x509.Certificate) {
			for _, p := range c.policies {
				x.Policies = append(x.Policies, mustOID(t, p...))
			}
		})
		got := ""
		if level := validationLevel(leaf.Certificate); level != nil {
			got = *level
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.policies, got, c.want)
		}
	}
}

func TestSSLKeys(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := func() *x509.Certificate {
		return &x509.Certificate{NotBefore: certtest.Epoch, NotAfter: certtest.Epoch.AddDate(0, 0, 1)}
	}
	got := describeElement(certtest.Sign(t, template(), nil, edKey).Certificate, certtest.Epoch)
	if got.KeyType != "Ed25519" || got.KeyBits != 256 || got.SignatureAlgorithm != "ED25519" || !got.SelfSigned ||
		got.IsCA {
		t.Errorf("Ed25519: %+v", got)
	}
	got = describeElement(certtest.Sign(t, template(), nil, rsaKey, func(x *x509.Certificate) {
		x.SignatureAlgorithm = x509.SHA384WithRSAPSS
	}).Certificate, certtest.Epoch)
	if got.KeyType != "RSA" || got.KeyBits != 2048 || got.SignatureAlgorithm != "rsassaPss-SHA384" {
		t.Errorf("RSA: %+v", got)
	}
	if got := signatureAlgorithm(&x509.Certificate{}); got != "unknown" {
		t.Errorf("no algorithm: %s", got)
	}
}

// TestSSLStrangersNames: what a certificate calls itself is data, whatever it is.
func TestSSLStrangersNames(t *testing.T) {
	t.Parallel()
	raw, err := asn1.Marshal(pkix.RDNSequence{
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 6}, Value: "CH"}},
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: `a,b+"<script>` + "\u202e"}},
		{{Type: asn1.ObjectIdentifier{1, 2, 3}, Value: "x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `1.2.3=#130178,CN=a\,b\+\"\<script\>` + "\u202e" + `,C=CH`
	if got := distinguishedName(raw, pkix.Name{}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := distinguishedName([]byte{0xff}, pkix.Name{CommonName: "x\xff"}); !utf8.ValidString(got) || got == "" {
		t.Errorf("an unreadable name: %q", got)
	}
	if got := cleanStrings([]string{"a\xffb"}); got[0] != "a\uFFFDb" {
		t.Errorf("got %q", got)
	}
	if cleanStrings(nil) == nil {
		t.Error("a list is null")
	}
}

func TestSSLCipherNames(t *testing.T) {
	t.Parallel()
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		is13 := slices.Contains(suite.SupportedVersions, tls.VersionTLS13)
		if got := describeCipher(suite.ID); got.StandardName != suite.Name || (got.Name == suite.Name) != is13 {
			t.Errorf("%s is reported as %+v", suite.Name, got)
		}
	}
	for id, want := range map[uint16]cipher{
		tls.TLS_AES_128_GCM_SHA256: {"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", 128},
		tls.TLS_CHACHA20_POLY1305_SHA256: {"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256",
			256},
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: {"ECDHE-RSA-AES128-GCM-SHA256",
			"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 128},
		tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA: {"DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA", 112},
		tls.TLS_RSA_WITH_RC4_128_SHA:      {"RC4-SHA", "TLS_RSA_WITH_RC4_128_SHA", 128},
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: {"ECDHE-RSA-CHACHA20-POLY1305",
			"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 256},
	} {
		if got := describeCipher(id); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestSSLPurpose: a certificate for something else is refused by that code, though its chain leads to a root.
func TestSSLPurpose(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]certtest.Option{
		"for clients":         func(x *x509.Certificate) { x.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
		"for encryption only": func(x *x509.Certificate) { x.KeyUsage = x509.KeyUsageKeyEncipherment },
	} {
		w := newWorld(t)
		leaf := certtest.Leaf(t, w.inter, []string{sslName}, change)
		w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
		got := w.mustCheck(t, sslName)
		if got.Authorized || *got.AuthorizationError != "INVALID_PURPOSE" || !got.ChainComplete ||
			!hasIssue(got, severityFail, "INVALID_PURPOSE") || hasIssue(got, severityWarn, "INCOMPLETE_CHAIN") ||
			hasIssue(got, severityFail, certs.CodeNoLocalIssuer) {
			t.Errorf("%s: %v %v %v", name, *got.AuthorizationError, got.ChainComplete, issueCodes(got))
		}
	}
}

// TestSSLPurposeOfAnExchange: with one certificate a server is refused for one key exchange and not for the other.
func TestSSLPurposeOfAnExchange(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const sign, encipher = x509.KeyUsageDigitalSignature, x509.KeyUsageKeyEncipherment
	for _, c := range []struct {
		usage      x509.KeyUsage
		suite      uint16
		authorized bool
	}{
		{encipher, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, true},
		{encipher, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, false},
		{sign, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, false},
		{sign, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, true},
	} {
		w := newWorld(t)
		leaf := certtest.Sign(t, &x509.Certificate{
			NotBefore: certtest.Epoch.AddDate(0, 0, -1), NotAfter: certtest.Epoch.AddDate(0, 0, 60),
			DNSNames: []string{sslName}, KeyUsage: c.usage,
		}, w.inter, key)
		config := oneCertificate(leaf.TLS(w.inter))
		config.MaxVersion, config.CipherSuites = tls.VersionTLS12, []uint16{c.suite}
		w.serve(sslServer, config)
		if got := w.mustCheck(t, sslName); got.Authorized != c.authorized ||
			hasIssue(got, severityFail, "INVALID_PURPOSE") == c.authorized {
			t.Errorf("%s with %d: %v", tls.CipherSuiteName(c.suite), c.usage, issueCodes(got))
		}
	}
}

// TestSSLPublicAuthority: missing timestamps are reported of public authorities alone, on ports of the web.
func TestSSLPublicAuthority(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		w := newWorld(t)
		w.public = func(*x509.Certificate) bool { return public }
		config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
		w.serve(sslServer, config)
		w.serve("93.184.216.34:993", config)
		if got := w.mustCheck(t, sslName); hasIssue(got, severityWarn, "NO_SCTS") != public || !got.Authorized {
			t.Errorf("public %v: %v", public, issueCodes(got))
		}
		if got := w.mustCheck(t, sslName+":993"); hasIssue(got, severityWarn, "NO_SCTS") {
			t.Errorf("mail: %v", issueCodes(got))
		}
	}
}

// TestSSLValidityLimits holds both sides of every limit.
func TestSSLValidityLimits(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	march := func(year, d int) time.Time { return date(year, 3, d) }
	months := func(from time.Time, n int) time.Duration { return from.AddDate(0, n, 0).Sub(from) }
	for _, c := range []struct {
		name string
		from time.Time
		life time.Duration
		want bool
	}{
		{"60 months before April 2015", date(2015, 3, 31), months(date(2015, 3, 31), 60), false},
		{"a second over 60 months", date(2015, 3, 31), months(date(2015, 3, 31), 60) + time.Second, true},
		{"39 months from April 2015", date(2015, 4, 1), months(date(2015, 4, 1), 39), false},
		{"a second over 39 months", date(2015, 4, 1), months(date(2015, 4, 1), 39) + time.Second, true},
		{"39 months before March 2018", date(2018, 2, 28), months(date(2018, 2, 28), 39), false},
		{"825 days from March 2018", date(2018, 3, 1), 825 * day, false},
		{"a second over 825 days", date(2018, 3, 1), 825*day + time.Second, true},
		{"825 days before September 2020", date(2020, 8, 31), 825 * day, false},
		{"398 days from September 2020", date(2020, 9, 1), 398 * day, false},
		{"399 days from September 2020", date(2020, 9, 1), 399 * day, true},
		{"398 days before March 2026", march(2026, 14), 398 * day, false},
		{"a second over 398 days", march(2026, 14), 398*day + time.Second, true},
		{"200 days from March 2026", march(2026, 15), 200 * day, false},
		{"a second over 200 days", march(2026, 15), 200*day + time.Second, true},
		{"100 days from March 2027", march(2027, 15), 100 * day, false},
		{"101 days from March 2027", march(2027, 15), 101 * day, true},
		{"47 days from March 2029", march(2029, 15), 47 * day, false},
		{"48 days from March 2029", march(2029, 15), 48 * day, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// Both ends of a validity are inside it: a life of whole days ends a second early.
			leaf := certtest.Leaf(t, nil, []string{sslName}, certtest.Valid(c.from, c.from.Add(c.life-time.Second)))
			if found := validityFindings(leaf.Certificate, true); len(found) > 0 != c.want {
				t.Errorf("%+v", found)
			}
			if len(validityFindings(leaf.Certificate, false)) > 0 {
				t.Error("a limit for an authority that is not public")
			}
		})
	}
}

func TestSSLWeakSignature(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	sha1 := func(x *x509.Certificate) { x.SignatureAlgorithm = x509.SHA1WithRSA }
	root := certtest.Sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Old Root"}, NotBefore: certtest.Epoch, NotAfter: certtest.Epoch.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true,
	}, nil, key, sha1)
	for _, c := range []struct {
		name string
		leaf *certtest.Cert
		want bool
	}{
		{"only the root", certtest.Leaf(t, root, []string{sslName}), false},
		{"the leaf", certtest.Leaf(t, root, []string{sslName}, sha1), true},
	} {
		sent := certtest.List(c.leaf, root)
		found := chainFindings(len(sent), certs.Checker{Roots: certtest.Pool(root),
			Now: func() time.Time { return certtest.Epoch }}.Check(sent, sslName, certs.Signing))
		got := slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == "WEAK_SIGNATURE" })
		if got != c.want {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// A name may have as many dead addresses as it likes: a few of them are tried.
func TestSSLTriesFewAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const name = "many.example.com"
	for i := range 2 * maxEndpoints {
		address := fmt.Sprintf("93.184.217.%d", 1+i)
		w.Records(name + ". 300 IN A " + address)
		w.Fail(address+":443", syscall.ECONNREFUSED)
	}
	if _, err := w.check(t, name); !fault.Is(err, fault.Upstream) {
		t.Error(err)
	}
	tried := 0
	for _, to := range w.Dials() {
		if to.Port() == 443 {
			tried++
		}
	}
	if tried != maxEndpoints {
		t.Errorf("%d addresses were tried, want %d", tried, maxEndpoints)
	}
}

// pretender signs with a key of which it has the public half alone.
type pretender struct{ public crypto.PublicKey }

func (p pretender) Public() crypto.PublicKey { return p.public }

func (p pretender) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, 1024), nil
}

// TestSSLLongKeys: a key of more than 8,192 bits is reported, in every version and in every place of the chain.
func TestSSLLongKeys(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(protocolName(version), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			key := certtest.RSAOfBits(t, 16384, 65537)
			leaf := certtest.Foreign(t, w.inter, []string{sslName}, key)
			cert := leaf.TLS(w.inter)
			cert.PrivateKey = pretender{key}
			config := oneCertificate(cert)
			config.MinVersion, config.MaxVersion = version, version
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			c := got.Certificate
			if c.KeyType != "RSA" || c.KeyBits != 16384 || c.SelfSigned || got.Protocol != protocolName(version) ||
				got.Cipher.Name == "" || len(got.Chain) != 1 || got.Truncated {
				t.Errorf("%+v", got)
			}
			if got.Authorized || *got.AuthorizationError != certs.CodeNoLocalIssuer || got.ChainComplete ||
				!got.HostnameMatches || !hasIssue(got, severityInfo, certs.DefectLongKey) ||
				hasIssue(got, severityWarn, "INCOMPLETE_CHAIN") || got.Conclusion.State != finding.Unknown {
				t.Errorf("authorized %v, issues %v, %+v", got.Authorized, issueCodes(got), got.Conclusion)
			}
		})
		t.Run(protocolName(version)+", of an intermediate", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			long := certtest.Foreign(t, w.root, []string{"other.example.com"}, certtest.RSAOfBits(t, 8193, 65537))
			config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter, long))
			config.MinVersion, config.MaxVersion = version, version
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			if got.Authorized || len(got.Chain) != 2 || got.Chain[1].KeyBits != 8193 || got.Certificate.KeyType != "ECDSA" ||
				!hasIssue(got, severityInfo, certs.DefectLongKey) || got.Conclusion.State != finding.Unknown {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSSLStapleByALongKey: no response is verified by one, though it came with the response.
func TestSSLStapleByALongKey(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{sslName})
	usage := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning} }
	for bits, want := range map[int]string{
		0: stapleGood, certs.MaxKeyBits + 1: stapleInvalid, 200_000: stapleInvalid,
	} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			t.Parallel()
			responder := certtest.Leaf(t, root, []string{"ocsp.example.com"}, usage)
			der := staple(t, root, responder, leaf.Certificate, nil)
			if bits > 0 {
				long := certtest.Foreign(t, root, []string{"ocsp.example.com"}, certtest.RSAOfBits(t, bits, 65537), usage)
				der = staple(t, root, responder, leaf.Certificate, func(r *ocsp.Response) { r.Certificate = long.Certificate })
			}
			began := time.Now()
			got := readStaple(der, certtest.List(leaf, root), certtest.Epoch)
			if got.Status == nil || *got.Status != want {
				t.Errorf("status %v, want %s", got.Status, want)
			}
			if took := time.Since(began); took > time.Second { // the work itself: such a key would take minutes
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestSSLCertificatesThatAreCutOff: a server that leaves in the middle of them has shown none.
func TestSSLCertificatesThatAreCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := slices.Repeat([]*certtest.Cert{w.inter}, 20)
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(many...))
	w.ServeConn(sslServer, func(c net.Conn) { handshakeAndWait(&leaving{Conn: c, left: 4000}, config) })
	if got, err := w.check(t, sslName); !fault.Is(err, fault.Upstream) {
		t.Errorf("%+v, %v", got, err)
	}
}

// leaving is a connection that ends after so many octets.
type leaving struct {
	net.Conn
	left int
}

func (l *leaving) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p[:min(len(p), l.left)])
	if l.left -= n; l.left == 0 {
		_ = l.Close()
		return n, io.ErrClosedPipe
	}
	return n, err
}

// forgetful has a key and cannot sign with it.
type forgetful struct{ public crypto.PublicKey }

func (f forgetful) Public() crypto.PublicKey { return f.public }

func (f forgetful) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("the key is elsewhere")
}

// TestSSLServersThatCannotSign: a handshake that fails after the certificates, for another reason, says nothing about
// them. TLS 1.0 to 1.2 do not show them before that.
func TestSSLServersThatCannotSign(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS12, tls.VersionTLS13} {
		for others, extra := range map[int]string{0: "", 20: "CHAIN_TOO_LONG"} {
			t.Run(fmt.Sprint(protocolName(version), " ", others), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				sent := append([]*certtest.Cert{w.inter}, slices.Repeat([]*certtest.Cert{w.root}, others)...)
				leaf := certtest.Leaf(t, w.inter, []string{sslName})
				cert := leaf.TLS(sent...)
				cert.PrivateKey = forgetful{leaf.Key.Public()}
				config := oneCertificate(cert)
				config.MinVersion, config.MaxVersion = version, version
				w.serve(sslServer, config)
				got := w.mustCheck(t, sslName)
				if !got.Authorized || got.AuthorizationError != nil || !got.ChainComplete ||
					!hasIssue(got, severityFail, "HANDSHAKE_NOT_COMPLETED") ||
					hasIssue(got, severityInfo, certs.DefectUnfinished) ||
					extra != "" && !hasIssue(got, severityWarn, extra) || got.Truncated != (extra != "") {
					t.Errorf("authorized %v, truncated %v, issues %v", got.Authorized, got.Truncated, issueCodes(got))
				}
			})
		}
	}
}
