package emaildnshealth

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestCommonSelectors(t *testing.T) {
	t.Parallel()
	if len(commonSelectors) != maxSearched {
		t.Errorf("%d selectors, and the bound is for %d", len(commonSelectors), maxSearched)
	}
	if total := maxMailQueries + maxAside; total != 215 {
		t.Errorf("a run asks %d questions at most, and docs/security.md says 215", total)
	}
	for i, selector := range commonSelectors {
		if parsed, err := parseSelector(selector); err != nil || parsed != selector ||
			slices.Contains(commonSelectors[:i], selector) {
			t.Errorf("%s: %q, %v", selector, parsed, err)
		}
	}
}

// keyAt is a record line for a selector of post.com.
func keyAt(selector, text string) string {
	return fmt.Sprintf("%s._domainkey.post.com. 300 IN TXT %q", selector, text)
}

func TestDKIMSearch(t *testing.T) {
	t.Parallel()
	const other = "v=DKIM1; k=ed25519; p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name, c := range map[string]struct {
		records []string
		failing []string
		all     func(q *dns.Msg) *dns.Msg // answers for every selector without a record
		found   []string
		codes   string // beside DKIM_SELECTOR_NEEDED
		said    string // a part of the last issue
		tried   int    // all where 0
	}{
		"nothing":             {},
		"a key":               {records: []string{keyAt("google", goodKey)}, found: []string{"google  ed25519 256"}},
		"in the list's order": {records: []string{keyAt("k1", goodKey), keyAt("selector2", goodKey)}, found: []string{"selector2  ed25519 256", "k1  ed25519 256"}},
		"an alias": {records: []string{"k2._domainkey.post.com. 300 IN CNAME dkim2.host.net.", `dkim2.host.net. 300 IN CNAME keys.host.net.`, `keys.host.net. 300 IN TXT "` + goodKey + `"`},
			found: []string{"k2 dkim2.host.net ed25519 256"}},
		"an alias of nothing": {records: []string{"k2._domainkey.post.com. 300 IN CNAME gone.host.net."}, codes: "info DKIM_ALIAS_DEAD",
			said: "k2._domainkey.post.com is an alias (CNAME) of gone.host.net, where there is no key."},
		"an alias of a name without texts": {records: []string{"k2._domainkey.post.com. 300 IN CNAME a.host.net.", "a.host.net. 300 IN A 93.184.216.40"}, codes: "info DKIM_ALIAS_DEAD"},
		"a revoked key":                    {records: []string{keyAt("s1", "v=DKIM1; p=")}, codes: "info DKIM_KEY_REVOKED", said: "At the selector s1: The p tag is empty"},
		"a broken key":                     {records: []string{keyAt("s1", "v=DKIM1; p=*")}, codes: "info DKIM_KEY_INVALID"},
		"no key":                           {records: []string{keyAt("s1", "v=spf1 -all")}},
		"a wildcard":                       {all: answering(goodKey), codes: "info DKIM_WILDCARD", said: "Every selector answers with the same record"},
		"a key beside a wildcard":          {all: answering(goodKey), records: []string{keyAt("google", other)}, found: []string{"google  ed25519 256"}, codes: "info DKIM_WILDCARD"},
		"a wildcard that is an alias": {all: func(q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetReply(q)
			m.Answer = append(m.Answer, &dns.CNAME{Hdr: header(q, dns.TypeCNAME), Target: "www.post.com."})
			return m
		}, codes: "info DKIM_WILDCARD", said: "is an alias (CNAME) of www.post.com, where there is no key"},
		"one fails": {records: []string{keyAt("google", goodKey)}, failing: []string{"k1"}, found: []string{"google  ed25519 256"}, codes: "info DKIM_SEARCH_INCOMPLETE",
			said: "Of the 45 selectors that large senders use, 1 could not be looked up", tried: len(commonSelectors) - 1},
		"whether all answer is not known": {records: []string{keyAt("google", goodKey)}, failing: []string{wildcardProbe}, found: []string{"google  ed25519 256"}, codes: "info DKIM_SEARCH_INCOMPLETE",
			said: "Whether every selector answers with a key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40")
			n.Records(c.records...)
			for _, selector := range c.failing {
				n.Handle(selector+"._domainkey.post.com", toolstest.Failing(dns.RcodeServerFailure))
			}
			if c.all != nil {
				for _, selector := range append([]string{wildcardProbe}, commonSelectors...) {
					if !slices.ContainsFunc(c.records, func(line string) bool { return strings.HasPrefix(line, selector+".") }) {
						n.Handle(selector+"._domainkey.post.com", c.all)
					}
				}
			}
			got := checkDomain(t, t.Context(), n, nil, "post.com", "").Checks.DKIM
			if got.Status != mailInfo || got.Selector != nil || !strings.Contains(got.Summary, "A selector is needed") {
				t.Errorf("%s, %q", got.Status, got.Summary)
			}
			for _, find := range c.found { // a key that is shown is not denied
				selector, _, _ := strings.Cut(find, " ")
				if !strings.Contains(got.Summary, selector) || !strings.Contains(got.Issues[0].Message, selector) {
					t.Errorf("%s is missing in %q, %q", selector, got.Summary, got.Issues[0].Message)
				}
			}
			want := "info DKIM_SELECTOR_NEEDED"
			if c.codes != "" {
				want = strings.Join(slices.Sorted(slices.Values([]string{want, c.codes})), ", ")
			}
			if codes(got.check) != want || !strings.Contains(got.Issues[len(got.Issues)-1].Message, c.said) {
				t.Errorf("%q, want %q\n%+v", codes(got.check), want, got.Issues)
			}
			found := []string{}
			for _, f := range got.Found {
				cname := ""
				if f.CNAME != nil {
					cname = *f.CNAME
				}
				found = append(found, fmt.Sprintf("%s %s %s %d", f.Selector, cname, f.KeyType, f.KeyBits))
			}
			if diff := cmp.Diff(append([]string{}, c.found...), found); diff != "" {
				t.Error(diff)
			}
			if c.tried == 0 {
				c.tried = len(commonSelectors)
			}
			if len(got.Tried) != c.tried {
				t.Errorf("%d selectors were tried, want %d", len(got.Tried), c.tried)
			}
		})
	}
}

func header(q *dns.Msg, rrtype uint16) dns.RR_Header {
	return dns.RR_Header{Name: q.Question[0].Name, Rrtype: rrtype, Class: dns.ClassINET, Ttl: 300}
}

func answering(text string) func(q *dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.Answer = append(m.Answer, &dns.TXT{Hdr: header(q, dns.TypeTXT), Txt: []string{text}})
		return m
	}
}

// With a selector, and for a domain that accepts no mail, nothing is searched.
func TestDKIMSearchOnlyWithoutASelector(t *testing.T) {
	t.Parallel()
	for _, c := range []testCase{{}, {selector: "-", zone: map[string]string{"mx": "post.com. 300 IN MX 0 ."}}} {
		h, n := c.run(t)
		if n.QueriesFor("google._domainkey.post.com", dns.TypeTXT) != 0 || len(h.Checks.DKIM.Tried) != 0 ||
			h.Checks.DKIM.Tried == nil || h.Checks.DKIM.Found == nil {
			t.Errorf("%+v", h.Checks.DKIM.dkimSearch)
		}
	}
}

// A few are queried at once, and servers that answer nothing are left alone.
func TestDKIMSearchIsFairToServers(t *testing.T) {
	t.Parallel()
	var asked, under, most atomic.Int32
	all := commonSelectors
	ask := func(err error) func(string) reply {
		return func(string) reply {
			asked.Add(1)
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			return reply{err: err}
		}
	}
	s := search{ask: ask(nil)}
	s.run(all)
	if n := asked.Load(); n != int32(1+len(all)) || most.Load() > asideSlots {
		t.Errorf("asked %d, %d at once", n, most.Load())
	}
	asked.Store(0)
	s = search{ask: ask(&mail.LookupError{Code: "ETIMEOUT"})}
	s.run(all)
	if n := asked.Load(); n < maxSilent || n >= 2*maxSilent {
		t.Errorf("asked %d times in vain", n)
	}
	c := newDKIMCheck(newCheck(), "")
	c.report(s, "post.com")
	if len(c.Tried) != 0 || c.facts[1].Args["failure"] != "LOOKUP_NOT_ANSWERED" {
		t.Errorf("%+v", c)
	}
}

func TestDKIMAliasOfTheSelector(t *testing.T) {
	t.Parallel()
	dead := "s1._domainkey.post.com. 300 IN CNAME gone.host.net."
	for name, c := range map[string]testCase{
		"an alias of nothing":     {zone: map[string]string{"dkim": dead}, status: mailMissing, codes: "warn DKIM_ALIAS_DEAD"},
		"an alias of a key":       {zone: map[string]string{"dkim": "s1._domainkey.post.com. 300 IN CNAME k.host.net.\nk.host.net. 300 IN TXT \"" + goodKey + `"`}, status: mailPass, codes: "info DKIM_ED25519"},
		"every name is one":       {zone: map[string]string{"dkim": dead + "\n" + wildcardProbe + "._domainkey.post.com. 300 IN CNAME gone.host.net."}, status: mailMissing, codes: "warn DKIM_KEY_MISSING"},
		"every name is another's": {zone: map[string]string{"dkim": dead + "\n" + wildcardProbe + "._domainkey.post.com. 300 IN CNAME www.host.net."}, status: mailMissing, codes: "warn DKIM_ALIAS_DEAD"},
	} {
		h, _ := c.run(t)
		if got := h.Checks.DKIM.check; got.Status != c.status || codes(got) != c.codes {
			t.Errorf("%s: %s, %q", name, got.Status, codes(got))
		}
		holdTogether(t, h)
	}
}
