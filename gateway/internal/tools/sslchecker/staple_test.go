package sslchecker

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"

	"golang.org/x/crypto/ocsp"
)

// staple makes an OCSP response; a nil responder is the issuer itself.
func staple(t testing.TB, issuer, responder *certtest.Cert, leaf *x509.Certificate,
	mutate func(*ocsp.Response)) []byte {
	t.Helper()
	template := ocsp.Response{
		Status:       ocsp.Good,
		SerialNumber: leaf.SerialNumber,
		ThisUpdate:   certtest.Epoch.Add(-time.Hour),
		NextUpdate:   certtest.Epoch.Add(time.Hour),
	}
	if responder == nil {
		responder = issuer
	} else {
		template.Certificate = responder.Certificate
	}
	if mutate != nil {
		mutate(&template)
	}
	der, err := ocsp.CreateResponse(issuer.Certificate, responder.Certificate, template, responder.Key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// sctList makes the extension value that carries n timestamps.
func sctList(t testing.TB, n int) []byte {
	t.Helper()
	var entries []byte
	for range n {
		entries = append(binary.BigEndian.AppendUint16(entries, 3), "sct"...)
	}
	value, err := asn1.Marshal(append(binary.BigEndian.AppendUint16(nil, uint16(len(entries))), entries...))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSSLStaples(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	stranger := certtest.Root(t, "Stranger")
	responderFor := func(issuer *certtest.Cert, opts ...certtest.Option) *certtest.Cert {
		return certtest.Leaf(t, issuer, nil, append([]certtest.Option{func(c *x509.Certificate) {
			c.Subject.CommonName = "Responder"
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
		}}, opts...)...)
	}
	leaf := certtest.Leaf(t, root, []string{sslName})
	other := certtest.Leaf(t, root, []string{sslName})
	selfSigned := certtest.Leaf(t, nil, []string{sslName})
	past := certtest.Valid(certtest.Epoch.AddDate(-2, 0, 0), certtest.Epoch.AddDate(-1, 0, 0))
	window := func(this, next time.Duration) func(*ocsp.Response) {
		return func(r *ocsp.Response) {
			r.ThisUpdate, r.NextUpdate = certtest.Epoch.Add(this), certtest.Epoch.Add(next)
		}
	}
	const skew = 5 * time.Minute
	known := certtest.List(leaf, root)
	for _, c := range []struct {
		name    string
		der     []byte
		chain   []*x509.Certificate
		status  string // "" is null
		present bool
	}{
		{"none", nil, known, "", false},
		{"good", staple(t, root, nil, leaf.Certificate, nil), known, stapleGood, true},
		{"revoked", staple(t, root, nil, leaf.Certificate, func(r *ocsp.Response) {
			r.Status, r.RevokedAt = ocsp.Revoked, certtest.Epoch.AddDate(0, 0, -1)
		}), known, stapleRevoked, true},
		{"unknown", staple(t, root, nil, leaf.Certificate, func(r *ocsp.Response) { r.Status = ocsp.Unknown }), known, stapleUnknown, true},
		{"garbage", []byte("garbage"), known, stapleInvalid, true},
		{"try later", []byte{0x30, 0x03, 0x0a, 0x01, 0x03}, known, stapleInvalid, true},
		{"for another certificate", staple(t, root, nil, other.Certificate, nil), known, stapleInvalid, true},
		{"signed by a stranger", staple(t, stranger, nil, leaf.Certificate, nil), known, stapleInvalid, true},
		{"delegated", staple(t, root, responderFor(root), leaf.Certificate, nil), known, stapleGood, true},
		{"delegated without the purpose", staple(t, root, other, leaf.Certificate, nil), known, stapleInvalid, true},
		{"delegated to itself", staple(t, root, leaf, leaf.Certificate, nil), known, stapleInvalid, true},
		{"delegated by a stranger", staple(t, root, responderFor(stranger), leaf.Certificate, nil), known, stapleInvalid, true},
		{"delegated, expired", staple(t, root, responderFor(root, past), leaf.Certificate, nil), known, stapleInvalid, true},
		{"issuer not known", staple(t, root, nil, leaf.Certificate, nil), certtest.List(leaf), "", true},
		{"self-signed", staple(t, selfSigned, nil, selfSigned.Certificate, nil), certtest.List(selfSigned), stapleGood, true},
		{"ends at the edge", staple(t, root, nil, leaf.Certificate, window(-time.Hour, -skew)), known, stapleGood, true},
		{"ended", staple(t, root, nil, leaf.Certificate, window(-time.Hour, -skew-time.Second)), known, stapleInvalid, true},
		{"begins at the edge", staple(t, root, nil, leaf.Certificate, window(skew, time.Hour)), known, stapleGood, true},
		{"not yet", staple(t, root, nil, leaf.Certificate, window(skew+time.Second, time.Hour)), known, stapleInvalid, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := readStaple(c.der, c.chain, certtest.Epoch)
			status := ""
			if got.Status != nil {
				status = *got.Status
			}
			if got.Present != c.present || status != c.status {
				t.Errorf("present %v, status %q", got.Present, status)
			}
			if (status == stapleGood || status == stapleRevoked) && (got.ThisUpdate == nil || got.NextUpdate == nil) {
				t.Error("no times")
			}
		})
	}
}

// TestSSLStapleOverTheWire: staples and timestamps as servers send them, in both versions.
func TestSSLStapleOverTheWire(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		w := newWorld(t)
		leaf := certtest.Leaf(t, w.inter, []string{sslName}, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{
				{Id: oidTLSFeature, Value: []byte{0x30, 0x03, 0x02, 0x01, 0x05}},
				{Id: oidSCTsInCertificate, Value: sctList(t, 2)},
			}
		})
		cert := leaf.TLS(w.inter)
		cert.SignedCertificateTimestamps = [][]byte{[]byte("one")}
		cert.OCSPStaple = staple(t, w.inter, nil, leaf.Certificate, func(r *ocsp.Response) {
			r.Status, r.RevokedAt = ocsp.Revoked, certtest.Epoch
			r.ExtraExtensions = []pkix.Extension{{Id: oidSCTsInOCSP, Value: sctList(t, 1)}}
		})
		config := oneCertificate(cert)
		config.MaxVersion = version
		w.serve(sslServer, config)
		got := w.mustCheck(t, sslName)
		if s := got.OCSPStapling; !s.Present || s.Status == nil || *s.Status != stapleRevoked ||
			*s.ThisUpdate != "2026-06-15T11:00:00Z" {
			t.Errorf("%s: staple %+v", protocolName(version), s)
		}
		if !hasIssue(got, severityFail, "CERT_REVOKED") || hasIssue(got, severityWarn, "MUST_STAPLE_MISSING") ||
			!got.Certificate.MustStaple {
			t.Errorf("%s: issues %v", protocolName(version), issueCodes(got))
		}
		if got.SCTs.Count != 4 || len(got.SCTs.Sources) != 3 || hasIssue(got, severityInfo, "NO_SCTS") {
			t.Errorf("%s: scts %+v", protocolName(version), got.SCTs)
		}
	}
}

func TestSSLMustStapleMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leaf := certtest.Leaf(t, w.inter, []string{sslName}, func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: oidTLSFeature,
			Value: []byte{0x30, 0x06, 0x02, 0x01, 0x11, 0x02, 0x01, 0x05}}}
	})
	w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
	if got := w.mustCheck(t, sslName); !got.Certificate.MustStaple || !hasIssue(got, severityWarn, "MUST_STAPLE_MISSING") {
		t.Errorf("mustStaple %v, issues %v", got.Certificate.MustStaple, issueCodes(got))
	}
}

func TestSSLSCTsInExtension(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value []byte
		want  int
	}{
		"absent":          {nil, 0},
		"none":            {sctList(t, 0), 0},
		"three":           {sctList(t, 3), 3},
		"not DER":         {[]byte("x"), 0},
		"trailing":        {append(sctList(t, 1), 0), 0},
		"too long a list": {[]byte{4, 4, 0, 9, 0, 0}, 0},
		"empty entry":     {[]byte{4, 4, 0, 2, 0, 0}, 0},
		"short entry":     {[]byte{4, 5, 0, 3, 0, 2, 1}, 0},
		"half a length":   {[]byte{4, 3, 0, 1, 0}, 0},
	} {
		if got := sctsInExtension(c.value); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func FuzzSSLStaple(f *testing.F) {
	root := certtest.Root(f, "Root")
	leaf := certtest.Leaf(f, root, []string{sslName})
	f.Add(staple(f, root, nil, leaf.Certificate, nil), sctList(f, 2))
	f.Add([]byte{0x30, 0x03, 0x0a, 0x01, 0x03}, []byte{4, 4, 0, 2, 0, 0})
	good := staple(f, root, nil, leaf.Certificate, nil)
	f.Fuzz(func(t *testing.T, der, scts []byte) {
		got := readStaple(der, certtest.List(leaf, root), certtest.Epoch)
		if got.Status != nil && *got.Status == stapleGood && len(der) < len(good)/2 {
			t.Errorf("a forged staple is good: %x", der)
		}
		_ = readStaple(der, certtest.List(leaf), certtest.Epoch)
		_ = readStaple(der, nil, certtest.Epoch)
		if n := sctsInExtension(scts); n < 0 || n > len(scts)/3 {
			t.Errorf("%d timestamps in %d bytes", n, len(scts))
		}
	})
}
