package sslchecker

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// answersWith answers every question about a name with a code.
func answersWith(rcode int) func(*dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, rcode) }
}

func TestCAA(t *testing.T) {
	t.Parallel()
	const at = ". 300 IN CAA "
	for _, c := range []struct {
		name      string
		records   []string
		failing   string // a name whose lookups fail
		names     []string
		issuer    string
		found     string
		permitted string
		shown     []string
		issue     string
		says      string
	}{
		{name: "none", permitted: "true"},
		{name: "at the host", records: []string{sslName + at + `0 issue "letsencrypt.org"`}, found: sslName,
			permitted: "true", shown: []string{`0 issue "letsencrypt.org"`}},
		{name: "above", records: []string{"example.com" + at + `0 issue "pki.goog"`}, found: "example.com",
			permitted: "false", shown: []string{`0 issue "pki.goog"`}, issue: "info CAA_NOT_PERMITTED", says: "only pki.goog"},
		{name: "at the top", records: []string{"com" + at + `0 issue "letsencrypt.org"`}, found: "com", permitted: "true",
			shown: []string{`0 issue "letsencrypt.org"`}},
		{name: "the lowest holds", records: []string{"example.com" + at + `0 issue "letsencrypt.org"`,
			sslName + at + `0 issue ";"`}, found: sslName, permitted: "false", shown: []string{`0 issue ";"`},
			issue: "info CAA_NOT_PERMITTED", says: "no authority"},
		{name: "of an alias", records: []string{sslName + ". 300 IN CNAME cdn.example.net.",
			"cdn.example.net. 300 IN A 93.184.216.34", "cdn.example.net" + at + `0 issue "letsencrypt.org"`,
			"example.com" + at + `0 issue ";"`}, found: sslName, permitted: "true",
			shown: []string{`0 issue "letsencrypt.org"`}},
		{name: "not above an alias", records: []string{sslName + ". 300 IN CNAME cdn.example.net.",
			"cdn.example.net. 300 IN A 93.184.216.34", "example.net" + at + `0 issue ";"`,
			"example.com" + at + `0 issue "letsencrypt.org"`}, found: "example.com", permitted: "true",
			shown: []string{`0 issue "letsencrypt.org"`}},
		{name: "with parameters", records: []string{sslName + at +
			`128 issue "letsencrypt.org; accounturi=https://a.example/1; validationmethods=dns-01"`}, found: sslName,
			permitted: "true", shown: []string{
				`128 issue "letsencrypt.org; accounturi=https://a.example/1; validationmethods=dns-01"`}},
		{name: "mail is another matter", records: []string{sslName + at + `0 issuemail ";"`}, found: sslName,
			permitted: "true", shown: []string{`0 issuemail ";"`}},
		{name: "wildcards are for wildcards", records: []string{sslName + at + `0 issuewild ";"`}, found: sslName,
			permitted: "true", shown: []string{`0 issuewild ";"`}},
		{name: "a wildcard certificate", names: []string{"*.example.com"}, records: []string{
			"example.com" + at + `0 issue "letsencrypt.org"`, "example.com" + at + `0 issuewild "pki.goog"`},
			found: "example.com", permitted: "false",
			shown: []string{`0 issue "letsencrypt.org"`, `0 issuewild "pki.goog"`}, issue: "info CAA_NOT_PERMITTED",
			says: "wildcard certificates"},
		{name: "a wildcard's name", names: []string{"*.example.com"}, records: []string{sslName + at + `0 issue ";"`,
			"example.com" + at + `0 issue "letsencrypt.org"`}, found: "example.com", permitted: "true",
			shown: []string{`0 issue "letsencrypt.org"`}},
		{name: "the host beside a wildcard", names: []string{"*.example.com", sslName}, records: []string{
			sslName + at + `0 issue "letsencrypt.org"`, sslName + at + `0 issuewild ";"`}, found: sslName, permitted: "true",
			shown: []string{`0 issue "letsencrypt.org"`, `0 issuewild ";"`}},
		{name: "an issuer that is not listed", issuer: "Acme Trust", records: []string{sslName + at + `0 issue "pki.goog"`},
			found: sslName, permitted: "null", shown: []string{`0 issue "pki.goog"`}},
		{name: "nobody, and not listed", issuer: "Acme Trust", records: []string{sslName + at + `0 issue ";"`},
			found: sslName, permitted: "false", shown: []string{`0 issue ";"`}, issue: "info CAA_NOT_PERMITTED"},
		{name: "critical", records: []string{sslName + at + `0 issue "letsencrypt.org"`, sslName + at + `128 tbs "x"`},
			found: sslName, permitted: "false", shown: []string{`0 issue "letsencrypt.org"`, `128 tbs "x"`},
			issue: "info CAA_NOT_PERMITTED"},
		{name: "failing above", failing: "example.com", permitted: "null", issue: "info CAA_NOT_KNOWN",
			says: "authorities issue no certificate"},
		{name: "failing above what is found", failing: "com", records: []string{"example.com" + at + `0 issue "pki.goog"`},
			found: "example.com", permitted: "false", shown: []string{`0 issue "pki.goog"`},
			issue: "info CAA_NOT_PERMITTED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			names, issuer := []string{sslName}, "Let's Encrypt"
			if c.names != nil {
				names = c.names
			}
			if c.issuer != "" {
				issuer = c.issuer
			}
			if len(c.records) > 0 && strings.Contains(c.records[0], "CNAME") {
				w.Handle(sslName, aliasOf(w, c.records))
			} else {
				w.Records(c.records...)
			}
			if c.failing != "" {
				w.Handle(c.failing, answersWith(dns.RcodeServerFailure))
				if c.failing != "com" {
					w.Records("com. 300 IN NS a.gtld-servers.net.")
				}
			}
			inter := certtest.Intermediate(t, w.root, "E1", func(c *x509.Certificate) {
				c.Subject = pkix.Name{CommonName: "E1", Organization: []string{issuer}}
			})
			leaf := certtest.Leaf(t, inter, names)
			w.serve(sslServer, oneCertificate(leaf.TLS(inter)))
			got := w.mustCheck(t, sslName)
			permitted := "null"
			if got.CAA.Permitted != nil {
				permitted = fmt.Sprint(*got.CAA.Permitted)
			}
			if c.shown == nil {
				c.shown = []string{}
			}
			d := cmp.Diff(c.shown, got.CAA.Records)
			if d != "" || orEmpty(got.CAA.Found) != c.found || permitted != c.permitted {
				t.Errorf("found %q, permitted %s %s", orEmpty(got.CAA.Found), permitted, d)
			}
			var codes []string
			for _, i := range got.Issues {
				if strings.HasPrefix(i.Code, "CAA_") {
					codes = append(codes, i.Severity+" "+i.Code)
					if !strings.Contains(i.Message, c.says) {
						t.Errorf("%q does not say %q", i.Message, c.says)
					}
				}
			}
			if s := strings.Join(codes, ","); s != c.issue {
				t.Errorf("issues %q, want %q", s, c.issue)
			}
			if !got.Authorized {
				t.Error("not authorized")
			}
		})
	}
}

// aliasOf answers for sslName with its alias and what that leads to.
func aliasOf(w *world, lines []string) func(*dns.Msg) *dns.Msg {
	var all []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			panic(err)
		}
		all = append(all, rr)
	}
	w.Records(lines[1:]...)
	return func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.Answer = append(m.Answer, all[0])
		target := all[0].(*dns.CNAME).Target
		for _, rr := range all[1:] {
			if rr.Header().Name == target && rr.Header().Rrtype == q.Question[0].Qtype {
				m.Answer = append(m.Answer, rr)
			}
		}
		return m
	}
}

// An address has neither, and nothing is looked up.
func TestNoRecordsOfAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leaf := certtest.Leaf(t, w.inter, []string{"93.184.216.34"})
	w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
	got := w.mustCheck(t, "93.184.216.34")
	if got.CAA.Found != nil || got.CAA.Permitted != nil || got.CAA.Records == nil || got.TLSA == nil ||
		len(got.CAA.Records)+len(got.TLSA)+len(w.Queries()) > 0 {
		t.Errorf("%+v, %+v, %v", got.CAA, got.TLSA, w.Queries())
	}
}

func TestTLSA(t *testing.T) {
	t.Parallel()
	digest := func(octets []byte) string {
		sum := sha256.Sum256(octets)
		return hex.EncodeToString(sum[:])
	}
	for _, c := range []struct {
		name          string
		records       func(leaf, inter *certtest.Cert) []string
		authenticated bool
		rcode         int
		want          []string // usage, matches, authenticated
		issue         string
	}{
		{name: "none", want: nil},
		{name: "of the key", authenticated: true, records: func(leaf, _ *certtest.Cert) []string {
			return []string{"3 1 1 " + digest(leaf.RawSubjectPublicKeyInfo)}
		}, want: []string{"3 true true"}},
		{name: "of the authority, and of another", authenticated: true, records: func(_, inter *certtest.Cert) []string {
			return []string{"2 0 1 " + digest(inter.Raw), "3 1 1 " + digest(nil)}
		}, want: []string{"2 true true", "3 false true"}},
		{name: "of another", authenticated: true, records: func(_, _ *certtest.Cert) []string {
			return []string{"3 1 1 " + digest(nil)}
		}, want: []string{"3 false true"}, issue: "warn TLSA_MATCHES_NOTHING"},
		{name: "not authenticated", records: func(_, _ *certtest.Cert) []string { return []string{"3 1 1 " + digest(nil)} },
			want: []string{"3 false false"}, issue: "info TLSA_NOT_AUTHENTICATED"},
		{name: "failing", rcode: dns.RcodeServerFailure, issue: "info TLSA_LOOKUP_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			leaf := certtest.Leaf(t, w.inter, []string{sslName})
			const name = "_443._tcp." + sslName + "."
			if c.records != nil || c.rcode != 0 {
				w.Handle(name, func(q *dns.Msg) *dns.Msg {
					m := new(dns.Msg).SetRcode(q, c.rcode)
					m.AuthenticatedData = c.authenticated
					if c.records != nil {
						for _, data := range c.records(leaf, w.inter) {
							rr, err := dns.NewRR(name + " 300 IN TLSA " + data)
							if err != nil {
								panic(err)
							}
							m.Answer = append(m.Answer, rr)
						}
					}
					return m
				})
			}
			w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
			got := w.mustCheck(t, sslName)
			var list []string
			for _, a := range got.TLSA {
				list = append(list, fmt.Sprint(a.Usage, " ", a.Matches, " ", a.Authenticated))
			}
			slices.Sort(list)
			if d := cmp.Diff(c.want, list); d != "" || got.TLSA == nil {
				t.Error(d)
			}
			codes := strings.Join(issueCodes(got), ",")
			if !strings.Contains(codes, c.issue) || c.issue == "" && strings.Contains(codes, "TLSA") {
				t.Errorf("issues %s", codes)
			}
		})
	}
}
