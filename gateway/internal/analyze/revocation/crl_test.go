package revocation

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
)

const pointURL = "http://crl.example.com/7.crl"

// number is an identifier 2.5.29.n.
func number(n int) asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, n} }

func extension(n int, critical bool, value ...byte) pkix.Extension {
	return pkix.Extension{Id: number(n), Critical: critical, Value: value}
}

// der is a value of less than 128 octets.
func der(tag byte, content ...byte) []byte {
	return append([]byte{tag, byte(len(content))}, content...)
}

// issuedAt is an IssuingDistributionPoint with a URL and the fields.
func issuedAt(url string, fields ...byte) pkix.Extension {
	return extension(28, true, der(0x30, append(der(0xa0, der(0xa0, der(0x86, []byte(url)...)...)...), fields...)...)...)
}

// signList makes a list; the revoked come first, then what mutate does to it.
func signList(t testing.TB, issuer *certtest.Cert, mutate func(*x509.RevocationList), revoked ...*big.Int) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: certtest.Epoch.Add(-time.Hour),
		NextUpdate: certtest.Epoch.Add(time.Hour)}
	for _, serial := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{
			SerialNumber: serial, RevocationTime: certtest.Epoch.AddDate(0, 0, -1), ReasonCode: 1})
	}
	if mutate != nil {
		mutate(list)
	}
	out, err := x509.CreateRevocationList(rand.Reader, list, issuer.Certificate, issuer.Key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func with(e ...pkix.Extension) func(*x509.RevocationList) {
	return func(l *x509.RevocationList) { l.ExtraExtensions = e }
}

func TestCRL(t *testing.T) {
	t.Parallel()
	root, stranger := certtest.Root(t, "Root"), certtest.Root(t, "Root")
	other := certtest.Root(t, "Other")
	lists := func(c *x509.Certificate) { c.CRLDistributionPoints = []string{"ldap://x", pointURL} }
	leaf := certtest.Leaf(t, root, []string{"www.example.com"}, lists)
	authority := certtest.Intermediate(t, root, "Authority", lists)
	some := big.NewInt(77)
	window := func(this, next time.Duration) func(*x509.RevocationList) {
		return func(l *x509.RevocationList) {
			l.ThisUpdate, l.NextUpdate = certtest.Epoch.Add(this), certtest.Epoch.Add(next)
		}
	}
	entryWith := func(e pkix.Extension) func(*x509.RevocationList) {
		return func(l *x509.RevocationList) { l.RevokedCertificateEntries[0].ExtraExtensions = []pkix.Extension{e} }
	}
	mayNotSign := *root.Certificate
	mayNotSign.KeyUsage = x509.KeyUsageCertSign
	for _, c := range []struct {
		name   string
		der    []byte
		cert   *certtest.Cert    // nil is the leaf
		issuer *x509.Certificate // nil is the root
		want   Status
		reason string
	}{
		{name: "empty", der: signList(t, root, nil), want: Good},
		{name: "with others", der: signList(t, root, nil, some, big.NewInt(1)), want: Good},
		{name: "revoked", der: signList(t, root, nil, some, leaf.SerialNumber), want: Revoked, reason: "keyCompromise"},
		{name: "revoked without a reason", der: signList(t, root, func(l *x509.RevocationList) {
			l.RevokedCertificateEntries[0].ReasonCode = 0
		}, leaf.SerialNumber), want: Revoked},
		{name: "signed by a stranger of the same name", der: signList(t, stranger, nil), reason: errListSignSelf.Error()},
		{name: "of another authority", der: signList(t, other, nil), reason: errForeignList.Error()},
		{name: "may not sign", der: signList(t, root, nil), issuer: &mayNotSign, reason: errMayNotSign.Error()},
		{name: "at the end of its time", der: signList(t, root, window(-time.Hour, -skew)), want: Good},
		{name: "late", der: signList(t, root, window(-time.Hour, -skew-time.Second)), reason: errListLate.Error()},
		{name: "at the begin of its time", der: signList(t, root, window(skew, time.Hour)), want: Good},
		{name: "early", der: signList(t, root, window(skew+time.Second, time.Hour)), reason: errListEarly.Error()},
		{name: "of the certificate's point", der: signList(t, root, with(issuedAt(pointURL))), want: Good},
		{name: "of another point", der: signList(t, root, with(issuedAt(pointURL+"8"))), reason: errScope.Error()},
		{name: "of a relative name", der: signList(t, root, with(extension(28, true,
			der(0x30, der(0xa0, der(0xa1)...)...)...))), reason: errScope.Error()},
		{name: "of users, for one", der: signList(t, root, with(issuedAt(pointURL, 0x81, 1, 255))), want: Good},
		{name: "of users, for an authority", der: signList(t, root, with(issuedAt(pointURL, 0x81, 1, 255))), cert: authority,
			reason: errScope.Error()},
		{name: "of authorities, for one", der: signList(t, root, with(issuedAt(pointURL, 0x82, 1, 255))), cert: authority,
			want: Good},
		{name: "of authorities, for a user", der: signList(t, root, with(issuedAt(pointURL, 0x82, 1, 255))),
			reason: errScope.Error()},
		{name: "of some reasons", der: signList(t, root, with(issuedAt(pointURL, 0x83, 2, 6, 0x40))),
			reason: errScope.Error()},
		{name: "of some reasons, revoked", der: signList(t, root, with(issuedAt(pointURL, 0x83, 2, 6, 0x40)),
			leaf.SerialNumber), want: Revoked, reason: "keyCompromise"},
		{name: "indirect", der: signList(t, root, with(issuedAt(pointURL, 0x84, 1, 255))), reason: errIndirect.Error()},
		{name: "of attributes", der: signList(t, root, with(issuedAt(pointURL, 0x85, 1, 255))), reason: errScope.Error()},
		{name: "with another issuer's entry", der: signList(t, root, entryWith(extension(29, true, 0x30, 0)), some),
			reason: errIndirect.Error()},
		{name: "with a critical entry", der: signList(t, root, entryWith(extension(99, true, 5, 0)), some),
			reason: errCritical.Error()},
		{name: "with an entry's remark", der: signList(t, root, entryWith(extension(99, false, 5, 0)), some), want: Good},
		{name: "delta", der: signList(t, root, with(extension(27, true, 2, 1, 1))), reason: errDelta.Error()},
		{name: "critical", der: signList(t, root, with(extension(99, true, 5, 0))), reason: errCritical.Error()},
		{name: "critical, and elsewhere", der: signList(t, root, with(pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3},
			Critical: true, Value: []byte{5, 0}})), reason: errCritical.Error()},
		{name: "where changes are", der: signList(t, root, with(extension(46, false, 0x30, 0))), want: Good},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cert, issuer := leaf.Certificate, root.Certificate
			if c.cert != nil {
				cert = c.cert.Certificate
			}
			if c.issuer != nil {
				issuer = c.issuer
			}
			if c.want == "" {
				c.want = Unknown
			}
			list, err := ReadCRL(iotest.OneByteReader(bytes.NewReader(c.der)), cert.SerialNumber)
			if err != nil {
				t.Fatal(err)
			}
			got := list.Judge(cert, issuer, certtest.Epoch)
			if got.Status != c.want || said(got) != c.reason || got.Source != CRL || got.ProducedAt.IsZero() {
				t.Errorf("%+v", got)
			}
			if at := certtest.Epoch.AddDate(0, 0, -1); c.want == Revoked && !got.RevokedAt.Equal(at) {
				t.Errorf("revoked at %v", got.RevokedAt)
			}
		})
	}
}

// Whatever bit is changed, the list is refused or says nothing.
func TestEveryBitOfACRLCounts(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{"www.example.com"})
	whole := signList(t, root, nil, leaf.SerialNumber)
	for i := range whole {
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1 << bit
			list, err := ReadCRL(bytes.NewReader(changed), leaf.SerialNumber)
			if err == nil {
				if v := list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch); v.Known() {
					t.Fatalf("octet %d, bit %d: %+v", i, bit, v)
				}
			}
		}
	}
	for n := range whole {
		if _, err := ReadCRL(bytes.NewReader(whole[:n]), leaf.SerialNumber); err == nil {
			t.Fatalf("the first %d octets are a list", n)
		}
	}
	if _, err := ReadCRL(bytes.NewReader(append(whole, 0)), leaf.SerialNumber); err == nil {
		t.Error("more than a list is one")
	}
}

func TestCRLSignatures(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ec := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key       crypto.Signer
		algorithm x509.SignatureAlgorithm
		err       error
	}{
		{rsaKey, x509.SHA256WithRSA, nil}, {rsaKey, x509.SHA384WithRSA, nil}, {rsaKey, x509.SHA512WithRSA, nil},
		{rsaKey, x509.SHA256WithRSAPSS, nil}, {rsaKey, x509.SHA384WithRSAPSS, nil}, {rsaKey, x509.SHA512WithRSAPSS, nil},
		{ec(elliptic.P256()), x509.ECDSAWithSHA256, nil}, {ec(elliptic.P384()), x509.ECDSAWithSHA384, nil},
		{ec(elliptic.P521()), x509.ECDSAWithSHA512, nil}, {edKey, x509.PureEd25519, errAlgorithm},
		{rsaKey, x509.SHA1WithRSA, errAlgorithm},
	} {
		t.Run(c.algorithm.String(), func(t *testing.T) {
			t.Parallel()
			root := certtest.Sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "Root"}, IsCA: true,
				BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCRLSign | x509.KeyUsageCertSign}, nil, c.key)
			leaf := certtest.Leaf(t, root, []string{"www.example.com"})
			der := signList(t, root, func(l *x509.RevocationList) { l.SignatureAlgorithm = c.algorithm }, leaf.SerialNumber)
			list, err := ReadCRL(bytes.NewReader(der), leaf.SerialNumber)
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if v := list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch); v.Status != Revoked {
				t.Errorf("%+v", v)
			}
			list.signature[len(list.signature)-1] ^= 1
			if v := list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch); said(v) != errListSignSelf.Error() {
				t.Errorf("with another signature: %+v", v)
			}
		})
	}
}

func TestNoCRL(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	sized := func(octets int) []byte {
		return []byte{0x30, 0x83, byte(octets >> 16), byte(octets >> 8), byte(octets)}
	}
	for name, c := range map[string]struct {
		from io.Reader
		want error
	}{
		"nothing":           {strings.NewReader(""), errNoList},
		"PEM":               {strings.NewReader("-----BEGIN X509 CRL-----"), errNoList},
		"a page":            {strings.NewReader("<!doctype html>"), errNoList},
		"indefinite length": {bytes.NewReader([]byte{0x30, 0x80, 0x30, 0}), errNoList},
		"padded length":     {bytes.NewReader([]byte{0x30, 0x81, 2, 0x30, 0}), errNoList},
		"length of lengths": {bytes.NewReader([]byte{0x30, 0x85, 1, 1, 1, 1, 1}), errNoList},
		"as long as may be": {io.MultiReader(bytes.NewReader(sized(MaxCRL-5)), zeros{}), errNoList},
		"longer":            {bytes.NewReader(sized(MaxCRL - 4)), errTooLong},
		"broken":            {iotest.ErrReader(broken), broken},
	} {
		if _, err := ReadCRL(c.from, big.NewInt(1)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// longList is a list of about so many octets.
func longList(t testing.TB, root *certtest.Cert, octets int) []byte {
	t.Helper()
	const entry = 48
	serials := make([]*big.Int, octets/entry)
	for i := range serials {
		serials[i] = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(int64(i)))
	}
	return signList(t, root, nil, serials...)
}

// A list of 3 MiB takes no memory to speak of: it is not kept.
func TestLongCRL(t *testing.T) {
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{"www.example.com"})
	der := longList(t, root, 3<<20)
	if len(der) < 3<<20 {
		t.Fatalf("%d octets", len(der))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := ReadCRL(bytes.NewReader(der), leaf.SerialNumber)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if v := list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch); v.Status != Good {
		t.Errorf("%+v", v)
	}
	if sum := after.TotalAlloc - before.TotalAlloc; sum > 1<<20 {
		t.Errorf("%d octets allocated", sum)
	}
}

func BenchmarkCRL(b *testing.B) {
	root := certtest.Root(b, "Root")
	leaf := certtest.Leaf(b, root, []string{"www.example.com"})
	der := longList(b, root, 3<<20)
	b.SetBytes(int64(len(der)))
	b.ReportAllocs()
	for b.Loop() {
		list, err := ReadCRL(bytes.NewReader(der), leaf.SerialNumber)
		if err != nil || list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch).Status != Good {
			b.Fatal(err)
		}
	}
}

// What the scanner takes, crypto/x509 takes too and finds the same in it.
func FuzzCRL(f *testing.F) {
	root := certtest.Root(f, "Root")
	leaf := certtest.Leaf(f, root, []string{"www.example.com"})
	f.Add(signList(f, root, nil, leaf.SerialNumber))
	f.Add(signList(f, root, with(issuedAt(pointURL, 0x84, 1, 255)), big.NewInt(5)))
	f.Fuzz(func(t *testing.T, der []byte) {
		list, err := ReadCRL(bytes.NewReader(der), leaf.SerialNumber)
		if err != nil {
			return
		}
		list.Judge(leaf.Certificate, root.Certificate, certtest.Epoch)
		theirs, err := x509.ParseRevocationList(der)
		if err != nil {
			return // which is stricter about what is not read here
		}
		found := false
		for _, e := range theirs.RevokedCertificateEntries {
			found = found || e.SerialNumber.Cmp(leaf.SerialNumber) == 0
		}
		if found != (list.found != nil) || !theirs.ThisUpdate.Equal(list.thisUpdate) ||
			!bytes.Equal(theirs.RawIssuer, list.issuer) {
			t.Errorf("%+v\n%+v", list, theirs)
		}
	})
}
