package emaildnshealth

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

func TestBIMI(t *testing.T) {
	t.Parallel()
	const logo, complete = "https://post.com/logo.svg", "v=BIMI1; l=https://post.com/logo.svg; a=https://post.com/mark.pem"
	const reject = `_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:d@post.com"`
	at := func(domain, text string) string { return "default._bimi." + domain + ". 300 IN TXT \"" + text + `"` }
	for name, c := range map[string]struct {
		domain  string // post.com where empty
		records []string
		fails   bool
		found   string // where, empty for none
		logo    string
		codes   string
		summary string
		reason  string // a part
	}{
		"none":                {records: []string{reject}},
		"complete":            {records: []string{reject, at("post.com", complete)}, found: "post.com", logo: logo, summary: "The domain offers a logo, with a certificate for it; neither was fetched."},
		"without evidence":    {records: []string{reject, at("post.com", "v=BIMI1; l="+logo)}, found: "post.com", logo: logo, codes: "info BIMI_NO_EVIDENCE", summary: "The domain offers a logo, without a certificate for it."},
		"declined":            {records: []string{at("post.com", "v=BIMI1; l=; a=")}, found: "post.com", codes: "info BIMI_DECLINED", summary: "The domain asks for no logo to be shown beside its mail."},
		"no DMARC":            {records: []string{at("post.com", complete)}, found: "post.com", logo: logo, codes: "fail BIMI_DMARC_NOT_ENFORCED", summary: "The domain offers a logo that mail programs do not show."},
		"DMARC watches":       {records: []string{strings.Replace(reject, "reject", "none", 1), at("post.com", complete)}, found: "post.com", logo: logo, codes: "fail BIMI_DMARC_NOT_ENFORCED", summary: "The domain offers a logo that mail programs do not show."},
		"quarantine":          {records: []string{strings.Replace(reject, "reject", "quarantine", 1), at("post.com", complete)}, found: "post.com", logo: logo, summary: "The domain offers a logo, with a certificate for it; neither was fetched."},
		"subdomains are free": {records: []string{strings.Replace(reject, "reject", "reject; sp=none", 1), at("post.com", complete)}, found: "post.com", logo: logo, codes: "fail BIMI_DMARC_NOT_ENFORCED", summary: "The domain offers a logo that mail programs do not show."},
		"no https":            {records: []string{reject, at("post.com", "v=BIMI1; l=http://post.com/logo.svg; a=")}, found: "post.com", codes: "fail BIMI_LOGO_INVALID, info BIMI_NO_EVIDENCE", summary: "The domain offers a logo that mail programs do not show."},
		"the organization's":  {domain: "news.post.com", records: []string{reject, at("post.com", complete)}, found: "post.com", logo: logo, summary: "The domain offers a logo, with a certificate for it; neither was fetched."},
		"its own first":       {domain: "news.post.com", records: []string{reject, at("post.com", complete), at("news.post.com", "v=BIMI1; l=")}, found: "news.post.com", codes: "info BIMI_DECLINED", summary: "The domain asks for no logo to be shown beside its mail."},
		"its own is misspelt": {domain: "news.post.com", records: []string{reject, at("post.com", complete), at("news.post.com", "v=bimi1; l=")}, found: "post.com", logo: logo, summary: "The domain offers a logo, with a certificate for it; neither was fetched."},
		"misspelt":            {records: []string{reject, at("post.com", "v=bimi1; l="+logo)}, reason: "is not recognized as BIMI"},
		"several":             {records: []string{reject, at("post.com", complete), at("post.com", "v=BIMI1; l=")}, reason: "There are 2 BIMI records"},
		"several of its own":  {domain: "news.post.com", records: []string{reject, at("post.com", complete), at("news.post.com", complete), at("news.post.com", "v=BIMI1; l=")}, reason: "There are 2 BIMI records"},
		"the lookup fails":    {records: []string{reject}, fails: true, reason: "default._bimi.post.com could not be looked up: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("post.com. 300 IN TXT x", "news.post.com. 300 IN TXT x")
			n.Records(c.records...)
			if c.fails {
				n.Handle("default._bimi.post.com", toolstest.Failing(dns.RcodeServerFailure))
			}
			if c.domain == "" {
				c.domain = "post.com"
			}
			h := checkDomain(t, t.Context(), n, nil, c.domain, "s1")
			if (h.BIMIReason == nil) != (c.reason == "") || h.BIMIReason != nil && !strings.Contains(*h.BIMIReason, c.reason) {
				t.Errorf("reason %v, want %q", h.BIMIReason, c.reason)
			}
			if (h.BIMI == nil) != (c.found == "") {
				t.Fatalf("%+v", h.BIMI)
			}
			if b := h.BIMI; b != nil {
				holdBIMI(t, *b, bimiRecord{FoundAt: c.found, Summary: c.summary, Logo: &c.logo}, c.codes)
			}
			if len(n.Dials()) != 0 {
				t.Errorf("dialled %v", n.Dials())
			}
			holdTogether(t, h)
		})
	}
}

// holdBIMI takes an empty logo for none.
func holdBIMI(t *testing.T, got, want bimiRecord, issues string) {
	t.Helper()
	logo := ""
	if got.Logo != nil {
		logo = *got.Logo
	}
	if got.FoundAt != want.FoundAt || got.Summary != want.Summary || logo != *want.Logo ||
		codes(check{Issues: got.Issues}) != issues {
		t.Errorf("%+v, logo %q; want %+v, logo %q, %q", got, logo, want, *want.Logo, issues)
	}
}
