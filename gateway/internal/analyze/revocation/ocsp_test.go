package revocation

import (
	"crypto"
	"crypto/x509"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"

	"golang.org/x/crypto/ocsp"
)

// answer makes an OCSP answer about a certificate; a nil responder is the issuer itself.
func answer(
	t testing.TB, issuer, responder *certtest.Cert, about *x509.Certificate, mutate func(*ocsp.Response),
) []byte {
	t.Helper()
	template := ocsp.Response{Status: ocsp.Good, SerialNumber: about.SerialNumber,
		ThisUpdate: certtest.Epoch.Add(-time.Hour), NextUpdate: certtest.Epoch.Add(time.Hour)}
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

func TestOCSP(t *testing.T) {
	t.Parallel()
	root, twin, stranger := certtest.Root(t, "Root"), certtest.Root(t, "Twin"), certtest.Root(t, "Root")
	signs := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning} }
	leaf, other := certtest.Leaf(t, root, []string{"www.example.com"}), certtest.Leaf(t, root, nil)
	responder, past := certtest.Leaf(t, root, nil, signs), certtest.Leaf(t, root, nil, signs,
		certtest.Valid(certtest.Epoch.AddDate(-2, 0, 0), certtest.Epoch.AddDate(-1, 0, 0)))
	foreign := certtest.Leaf(t, stranger, nil, signs)
	window := func(this, next time.Duration) func(*ocsp.Response) {
		return func(r *ocsp.Response) {
			r.ThisUpdate, r.NextUpdate = certtest.Epoch.Add(this), certtest.Epoch.Add(next)
		}
	}
	about := leaf.Certificate
	// Of another authority, signed by a responder of this one.
	twinAnswer := func() []byte {
		template := ocsp.Response{Status: ocsp.Good, SerialNumber: about.SerialNumber, Certificate: responder.Certificate,
			ThisUpdate: certtest.Epoch, NextUpdate: certtest.Epoch.Add(time.Hour)}
		der, err := ocsp.CreateResponse(twin.Certificate, responder.Certificate, template, responder.Key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	for _, c := range []struct {
		name   string
		der    []byte
		want   Status
		reason string
	}{
		{"good", answer(t, root, nil, about, nil), Good, ""},
		{"good, by hashes of SHA-256", answer(t, root, nil, about, func(r *ocsp.Response) { r.IssuerHash = crypto.SHA256 }),
			Good, ""},
		{"revoked", answer(t, root, nil, about, func(r *ocsp.Response) {
			r.Status, r.RevokedAt, r.RevocationReason = ocsp.Revoked, certtest.Epoch.AddDate(0, 0, -1), ocsp.Superseded
		}), Revoked, "superseded"},
		{"not recorded", answer(t, root, nil, about, func(r *ocsp.Response) { r.Status = ocsp.Unknown }), Unknown,
			errNotRecorded.Error()},
		{"delegated", answer(t, root, responder, about, nil), Good, ""},
		{"delegated without the purpose", answer(t, root, other, about, nil), Unknown, errNoResponder.Error()},
		{"delegated, expired", answer(t, root, past, about, nil), Unknown, errNoResponder.Error()},
		{"delegated by a stranger", answer(t, root, foreign, about, nil), Unknown, errStranger.Error()},
		{"by a stranger", answer(t, stranger, nil, about, nil), Unknown, errStranger.Error()},
		{"about another certificate", answer(t, root, nil, other.Certificate, nil), Unknown, errOtherCert.Error()},
		{"about another authority's", twinAnswer(), Unknown, errOtherIssuer.Error()},
		{"at its end", answer(t, root, nil, about, window(-time.Hour, -skew)), Good, ""},
		{"late", answer(t, root, nil, about, window(-time.Hour, -skew-time.Second)), Unknown, errAnswerLate.Error()},
		{"at its begin", answer(t, root, nil, about, window(skew, time.Hour)), Good, ""},
		{"early", answer(t, root, nil, about, window(skew+time.Second, time.Hour)), Unknown, errAnswerEarly.Error()},
		{"without an end", answer(t, root, nil, about, func(r *ocsp.Response) { r.NextUpdate = time.Time{} }), Good, ""},
		{"try later", []byte{0x30, 3, 0x0a, 1, 3}, Unknown, errNotNow.Error()},
		{"garbage", []byte("garbage"), Unknown, errNoAnswer.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := JudgeOCSP(c.der, about, root.Certificate, OCSP, certtest.Epoch)
			if got.Status != c.want || said(got) != c.reason || got.Source != OCSP {
				t.Errorf("%+v", got)
			}
			if c.want == Revoked && !got.RevokedAt.Equal(certtest.Epoch.AddDate(0, 0, -1)) {
				t.Errorf("revoked at %v", got.RevokedAt)
			}
		})
	}
}

// said is the authority's reason, or the code of why the status is not known.
func said(v Verdict) string {
	if len(v.Why) > 0 {
		return v.Why[0].Code
	}
	return v.Reason
}

func TestKeep(t *testing.T) {
	t.Parallel()
	now := certtest.Epoch
	for _, c := range []struct {
		v    Verdict
		want time.Duration
	}{
		{Verdict{Status: Good, NextUpdate: now.Add(time.Hour)}, time.Hour},
		{Verdict{Status: Revoked, NextUpdate: now.Add(13 * time.Hour)}, 12 * time.Hour},
		{Verdict{Status: Good, NextUpdate: now.Add(-time.Minute)}, 0},
		{Verdict{Status: Good}, 0},
		{Verdict{Status: Unknown, NextUpdate: now.Add(time.Hour)}, 0},
	} {
		if got := c.v.Keep(now); got != c.want {
			t.Errorf("%+v: %v", c.v, got)
		}
	}
}

func FuzzOCSP(f *testing.F) {
	root := certtest.Root(f, "Root")
	leaf := certtest.Leaf(f, root, []string{"www.example.com"})
	f.Add(answer(f, root, nil, leaf.Certificate, nil))
	f.Fuzz(func(t *testing.T, der []byte) {
		JudgeOCSP(der, leaf.Certificate, root.Certificate, OCSP, certtest.Epoch)
	})
}
