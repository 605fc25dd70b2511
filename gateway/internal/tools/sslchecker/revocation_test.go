package sslchecker

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"

	"golang.org/x/crypto/ocsp"
)

const (
	authorityServer = "93.184.216.99:80"
	listURL         = "http://crl.example.net/1.crl"
	responderURL    = "http://ocsp.example.net"
)

// authority is a server of lists and of OCSP answers.
type authority struct {
	lists, answers atomic.Int32 // requests
	list           func(w http.ResponseWriter, r *http.Request)
	answer         func(w http.ResponseWriter, r *http.Request)
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Host, "ocsp.") {
		a.answers.Add(1)
		a.answer(w, r)
		return
	}
	a.lists.Add(1)
	a.list(w, r)
}

func sends(octets []byte) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(octets) }
}

func statusOf(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func newAuthority(w *world) *authority {
	a := &authority{list: statusOf(404), answer: statusOf(404)}
	w.Records("crl.example.net. 300 IN A 93.184.216.99", "ocsp.example.net. 300 IN A 93.184.216.99",
		"inside.example.net. 300 IN A 10.0.0.1")
	w.Serve(authorityServer, a)
	return a
}

func signedList(t *testing.T, issuer *certtest.Cert, revoked ...*certtest.Cert) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: certtest.Epoch.Add(-time.Hour),
		NextUpdate: certtest.Epoch.Add(time.Hour)}
	for _, c := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{
			SerialNumber: c.SerialNumber, RevocationTime: certtest.Epoch.AddDate(0, 0, -1), ReasonCode: 1})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, issuer.Certificate, issuer.Key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func revocable(lists, responders []string) certtest.Option {
	return func(c *x509.Certificate) { c.CRLDistributionPoints, c.OCSPServer = lists, responders }
}

func TestRevocation(t *testing.T) {
	t.Parallel()
	both := revocable([]string{listURL}, []string{responderURL})
	revoke := func(r *ocsp.Response) { r.Status, r.RevokedAt = ocsp.Revoked, certtest.Epoch.AddDate(0, 0, -1) }
	type given struct {
		w    *world
		a    *authority
		leaf *certtest.Cert
	}
	for _, c := range []struct {
		name           string
		urls           certtest.Option
		set            func(t *testing.T, g given)
		staple         func(t *testing.T, g given) []byte
		want           revocation.Status
		source, reason string
		lists, answers int32
		issue          string
	}{
		{name: "good by a list", set: func(t *testing.T, g given) { g.a.list = sends(signedList(t, g.w.inter)) },
			want: "good", source: "crl", lists: 1},
		{name: "revoked by a list", set: func(t *testing.T, g given) { g.a.list = sends(signedList(t, g.w.inter, g.leaf)) },
			want: "revoked", source: "crl", reason: "keyCompromise", lists: 1, issue: "fail CERT_REVOKED"},
		{name: "good by a responder", set: func(t *testing.T, g given) {
			g.a.answer = sends(staple(t, g.w.inter, nil, g.leaf.Certificate, nil))
		}, want: "good", source: "ocsp", lists: 1, answers: 1},
		{name: "revoked by a responder", set: func(t *testing.T, g given) {
			g.a.answer = sends(staple(t, g.w.inter, nil, g.leaf.Certificate, revoke))
		}, want: "revoked", source: "ocsp", lists: 1, answers: 1, issue: "fail CERT_REVOKED"},
		{name: "good by the handshake, in place of a responder", staple: func(t *testing.T, g given) []byte {
			return staple(t, g.w.inter, nil, g.leaf.Certificate, nil)
		}, want: "good", source: "staple", lists: 1},
		{name: "good by the handshake, revoked by a list", set: func(t *testing.T, g given) {
			g.a.list = sends(signedList(t, g.w.inter, g.leaf))
		}, staple: func(t *testing.T, g given) []byte { return staple(t, g.w.inter, nil, g.leaf.Certificate, nil) },
			want: "revoked", source: "crl", reason: "keyCompromise", lists: 1, issue: "fail CERT_REVOKED"},
		{name: "revoked by the handshake", staple: func(t *testing.T, g given) []byte {
			return staple(t, g.w.inter, nil, g.leaf.Certificate, revoke)
		}, want: "revoked", source: "staple", issue: "fail CERT_REVOKED"},
		{name: "signed by a stranger", set: func(t *testing.T, g given) {
			g.a.list = sends(signedList(t, certtest.Intermediate(t, g.w.root, "Test Intermediate")))
			g.a.answer = sends(staple(t, certtest.Root(t, "Stranger"), nil, g.leaf.Certificate, nil))
		}, want: "unknown", source: "crl", reason: "not signed by", lists: 1, answers: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "nobody there", set: func(_ *testing.T, g given) { g.w.Records("gone.example.net. 300 IN A 93.184.216.98") },
			urls: revocable([]string{"http://gone.example.net/"}, nil), want: "unknown", source: "crl",
			reason: "refused the connection", issue: "info REVOCATION_UNKNOWN"},
		{name: "not found", want: "unknown", source: "crl", reason: "answered HTTP 404", lists: 1, answers: 1,
			issue: "info REVOCATION_UNKNOWN"},
		{name: "a redirect", urls: revocable([]string{"http://crl.example.net/moved"}, nil),
			set: func(t *testing.T, g given) {
				list := signedList(t, g.w.inter)
				g.a.list = func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/moved" {
						http.Redirect(w, r, listURL, http.StatusFound)
						return
					}
					_, _ = w.Write(list)
				}
			}, want: "good", source: "crl", lists: 2},
		{name: "two redirects", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, listURL+"?", http.StatusFound) }
		}, want: "unknown", source: "crl", reason: "redirects twice", lists: 2, issue: "info REVOCATION_UNKNOWN"},
		{name: "a redirect to another port", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://crl.example.net:8080/", http.StatusFound)
			}
		}, want: "unknown", source: "crl", reason: "does not query", lists: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "a redirect to a private address", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
			}
		}, want: "unknown", source: "crl", reason: "does not query", lists: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "a redirect to a private name", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://inside.example.net/", http.StatusFound)
			}
		}, want: "unknown", source: "crl", reason: "does not connect to the address", lists: 1,
			issue: "info REVOCATION_UNKNOWN"},
		{name: "at a private name", urls: revocable([]string{"http://inside.example.net/"}, nil), want: "unknown",
			source: "crl", reason: "does not connect to the address", issue: "info REVOCATION_UNKNOWN"},
		{name: "at a private address, another port or scheme", urls: revocable([]string{"http://10.0.0.1/",
			"http://crl.example.net:81/", "ldap://crl.example.net/"}, []string{"http://[::1]/"}), want: "unknown",
			reason: "can be used", issue: "info REVOCATION_UNKNOWN"},
		{name: "at the port of another scheme", urls: revocable([]string{"http://crl.example.net:443/"}, nil),
			want: "unknown", source: "crl", reason: "refused the connection", issue: "info REVOCATION_UNKNOWN"},
		{name: "encoded", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write([]byte("x"))
			}
		}, want: "unknown", source: "crl", reason: "content encoding", lists: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "too long", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = sends([]byte{0x30, 0x84, 0x01, 0, 0, 0, 0, 0})
		}, want: "unknown", source: "crl", reason: "longer than 4 MiB", lists: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "slow", urls: revocable([]string{listURL}, nil), set: func(_ *testing.T, g given) {
			g.a.list = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		}, want: "unknown", source: "crl", reason: sentenceOf(codeTime), lists: 1, issue: "info REVOCATION_UNKNOWN"},
		{name: "only the first two lists", urls: revocable([]string{listURL, listURL + "?2", listURL + "?3"}, nil),
			want: "unknown", source: "crl", lists: 2, issue: "info REVOCATION_UNKNOWN"},
		{name: "the second list", urls: revocable([]string{listURL + "?1", listURL}, nil), set: func(t *testing.T, g given) {
			list := signedList(t, g.w.inter)
			g.a.list = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery == "" {
					_, _ = w.Write(list)
				}
			}
		}, want: "good", source: "crl", lists: 2},
		{name: "no URL", urls: revocable(nil, nil), want: "notChecked", reason: sentenceOf(codeNoURLs),
			issue: "info REVOCATION_NOT_CHECKED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			urls := both
			if c.urls != nil {
				urls = c.urls
			}
			g := given{w, newAuthority(w), certtest.Leaf(t, w.inter, []string{sslName}, urls)}
			if c.set != nil {
				c.set(t, g)
			}
			sent := g.leaf.TLS(w.inter)
			if c.staple != nil {
				sent.OCSPStaple = c.staple(t, g)
			}
			w.serve(sslServer, oneCertificate(sent))
			check := w.checker(t)
			if c.reason == sentenceOf(codeTime) {
				check.revoking = 300 * time.Millisecond
			}
			got, err := check.run(t.Context(), toolstest.HostPort(t, sslName))
			if err != nil {
				t.Fatal(err)
			}
			r := got.Revocation
			if r.Status != c.want || orEmpty(r.Source) != c.source || !strings.Contains(orEmpty(r.Reason), c.reason) ||
				c.want == "good" && orEmpty(r.Reason) != "" {
				t.Errorf("%s by %s: %s", r.Status, orEmpty(r.Source), orEmpty(r.Reason))
			}
			if (r.URL == nil) != (c.source == "" || c.source == "staple") {
				t.Errorf("url %s", orEmpty(r.URL))
			}
			if lists, answers := g.a.lists.Load(), g.a.answers.Load(); lists != c.lists || answers != c.answers {
				t.Errorf("%d requests for lists, %d for answers", lists, answers)
			}
			if codes := strings.Join(issueCodes(got), ","); !strings.Contains(codes, c.issue) ||
				c.issue == "" && strings.Contains(codes, "REVO") {
				t.Errorf("issues %s", codes)
			}
			revoked := c.want == "revoked"
			if got.Authorized == revoked || (orEmpty(got.AuthorizationError) == "CERT_REVOKED") != revoked ||
				(r.RevokedAt != nil) != revoked || got.Endpoints[0].Authorized == revoked {
				t.Errorf("authorized %t, %s, revoked at %s", got.Authorized, orEmpty(got.AuthorizationError), orEmpty(r.RevokedAt))
			}
			if revoked && (r.ProducedAt == nil || r.NextUpdate == nil || got.Conclusion.State != "fail") {
				t.Errorf("%+v, %+v", r, got.Conclusion)
			}
		})
	}
}

func sentenceOf(code string) string { return rows.Sentence(code, nil) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// What else is wrong with a certificate goes before that it was revoked, and nothing is checked of one without a
// trusted root.
func TestRevocationOfWhatIsRefused(t *testing.T) {
	t.Parallel()
	urls := revocable([]string{listURL}, []string{responderURL})
	w := newWorld(t)
	a := newAuthority(w)
	leaf := certtest.Leaf(t, w.inter, []string{"other.example.com"}, urls)
	a.list = sends(signedList(t, w.inter, leaf))
	w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
	got := w.mustCheck(t, sslName)
	if orEmpty(got.AuthorizationError) != "ERR_TLS_CERT_ALTNAME_INVALID" || !hasIssue(got, severityFail, "CERT_REVOKED") {
		t.Errorf("%s, %v", orEmpty(got.AuthorizationError), issueCodes(got))
	}

	w = newWorld(t)
	a = newAuthority(w)
	stranger := certtest.Root(t, "Stranger")
	leaf = certtest.Leaf(t, stranger, []string{sslName}, urls)
	w.serve(sslServer, oneCertificate(leaf.TLS(stranger)))
	got = w.mustCheck(t, sslName)
	if got.Revocation.Status != "notChecked" || orEmpty(got.Revocation.Reason) != sentenceOf(codeUntrusted) ||
		a.lists.Load()+a.answers.Load() > 0 {
		t.Errorf("%+v, %d requests", got.Revocation, a.lists.Load()+a.answers.Load())
	}
}

// A finding names the reasons of two sources, but only one server.
func TestReasonsOfTwoSources(t *testing.T) {
	t.Parallel()
	late, unsigned := revocation.Why{Code: "CRL_OUT_OF_DATE"}, revocation.Why{Code: "OCSP_UNREADABLE"}
	status := func(host string) revocation.Why {
		return revocation.Why{Code: "REVOCATION_STATUS", Args: finding.Args{"host": host, "status": 404}}
	}
	for _, c := range []struct {
		why            []revocation.Why
		finding, field string
	}{
		{[]revocation.Why{late, unsigned}, "out of date. The authority's answer is not", "out of date. The authority's answer is not"},
		{[]revocation.Why{late, late}, "revoked. The list of revoked certificates is out of date.", "is out of date."},
		{[]revocation.Why{late, status("b")}, "out of date. b answered HTTP 404", "out of date. b answered"},
		{[]revocation.Why{status("a"), status("b")}, "revoked. a answered HTTP 404", "b answered HTTP 404"},
	} {
		v := revocation.Verdict{Status: revocation.Unknown, Why: c.why}
		got := rows.Sentence("REVOCATION_UNKNOWN", reasons(v))
		if !strings.Contains(got, c.finding) || strings.Count(got, "HTTP") > 1 {
			t.Errorf("%v: %s", c.why, got)
		}
		if got := reasonIn(v); !strings.HasSuffix(got, ".") || !strings.Contains(got, c.field) {
			t.Errorf("%v: %s", c.why, got)
		}
	}
}

// A revoked intermediate is named; the leaf's own status stays.
func TestRevokedIntermediate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := newAuthority(w)
	inter := certtest.Intermediate(t, w.root, "Careless Authority", revocable([]string{listURL + "?root"}, nil))
	leaf := certtest.Leaf(t, inter, []string{sslName}, revocable([]string{listURL}, nil))
	lists := map[string][]byte{"root": signedList(t, w.root, inter), "": signedList(t, inter)}
	a.list = func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(lists[r.URL.RawQuery]) }
	w.serve(sslServer, oneCertificate(leaf.TLS(inter)))
	got := w.mustCheck(t, sslName)
	if said := messages(got.Issues, "INTERMEDIATE_REVOKED"); len(said) != 1 ||
		!strings.Contains(said[0], "CN=Careless Authority") || !strings.HasPrefix(said[0], severityFail) {
		t.Errorf("%q", said)
	}
	if got.Revocation.Status != "good" || !got.Authorized || got.Conclusion.State != "fail" {
		t.Errorf("%+v, %+v", got.Revocation, got.Conclusion)
	}
}

// A run asks at most four addresses, two for a certificate, the leaf's first.
func TestURLsOfARun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ has, want string }{
		{"2", "2"}, {"3", "2"}, {"1 2", "1 2"}, {"2 2", "2 2"}, {"2 2 2", "2 1 1"}, {"0 2 2", "0 2 2"},
		{"2 1 2", "2 1 1"}, {"1 2 2 2", "1 1 1 1"}, {"2 0 2", "2 0 2"}, {"2 1 1 1", "2 1 1 0"}, {"0 2 2 2", "0 2 1 1"},
	} {
		var checks []*certificateCheck
		for n := range strings.FieldsSeq(c.has) {
			checks = append(checks, &certificateCheck{points: make([]point, n[0]-'0')})
		}
		allot(checks)
		var got []string
		for _, one := range checks {
			got = append(got, fmt.Sprint(one.allowed))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.has, s, c.want)
		}
	}
}

// What an authority has said is kept until its next update, for the same point alone, and is no step then.
func TestVerdictsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := newAuthority(w)
	leaf := certtest.Leaf(t, w.inter, []string{sslName}, revocable([]string{listURL}, nil))
	a.list = sends(signedList(t, w.inter, leaf))
	w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
	check := w.checker(t)
	now := certtest.Epoch
	check.now = func() time.Time { return now }
	run := func(want revocation.Status, requests int32, step bool) {
		t.Helper()
		feed := &progress.Feed{}
		got, err := check.run(progress.With(t.Context(), feed), toolstest.HostPort(t, sslName))
		if err != nil || got.Revocation.Status != want || a.lists.Load() != requests {
			t.Errorf("%+v, %v after %d requests", got.Revocation, err, a.lists.Load())
		}
		stepped := false
		for position, ok := uint64(0), true; ok; {
			var s progress.Step
			if s, position, ok, _ = feed.Next(position); ok && s.Kind == "revocation" {
				stepped = true
			}
		}
		if stepped != step {
			t.Errorf("a step: %t, want %t", stepped, step)
		}
	}
	run("revoked", 1, true)
	run("revoked", 1, false)
	now = certtest.Epoch.Add(time.Hour)
	run("revoked", 2, true) // the kept verdict is past its next update, the list within what clocks may differ by
	now = certtest.Epoch.Add(2 * time.Hour)
	run("unknown", 3, true)
	run("unknown", 4, true) // which is not kept
}

// The hosts that a certificate names are charged as any other that the input led to.
func TestAuthoritiesAreCharged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := newAuthority(w)
	leaf := certtest.Leaf(t, w.inter, []string{sslName}, revocable([]string{listURL}, nil))
	a.list = sends(signedList(t, w.inter))
	w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
	check := w.checker(t)
	var charged atomic.Int32
	check.egress = w.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			if to.String() == authorityServer {
				charged.Add(1)
			}
			return nil
		}
	})
	if _, err := check.run(t.Context(), toolstest.HostPort(t, sslName)); err != nil || charged.Load() != 1 {
		t.Errorf("charged %d times, %v", charged.Load(), err)
	}
}
