package dnsresolvercheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// fourResolvers are those that the tool queries, each with its own records.
type fourResolvers struct {
	*egresstest.Network
	each [4]*egresstest.Resolver
}

func newFourResolvers(t *testing.T) fourResolvers {
	t.Helper()
	r := fourResolvers{Network: egresstest.New(t)}
	for i, resolver := range publicResolvers {
		r.each[i] = r.NameServer(resolver.server.String())
	}
	return r
}

// all gives every resolver the same records.
func (r fourResolvers) all(records ...string) {
	for _, resolver := range r.each {
		resolver.Records(records...)
	}
}

func (r fourResolvers) check(t *testing.T, name, recordType string) Result {
	t.Helper()
	result, err := r.run(t.Context(), t, name, recordType)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (r fourResolvers) run(ctx context.Context, t *testing.T, name, recordType string) (Result, error) {
	t.Helper()
	job, err := New(r.Client(nil)).Parse(tool.Input{Text: name,
		Options: toolstest.Options(t, `{"recordType":"`+recordType+`"}`)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := job.Run(ctx)
	return result.(Result), err
}

// resolverTemper has a resolver of the table below answer in its own way.
type resolverTemper func(r fourResolvers, i int, recordType string)

func gives(values ...string) resolverTemper {
	return func(r fourResolvers, i int, recordType string) {
		for _, value := range values {
			r.each[i].Records("example.com. 300 IN " + recordType + " " + value)
		}
	}
}

func givesNothing(r fourResolvers, i int, _ string) {
	r.each[i].Records("example.com. 300 IN HINFO PDP-11 UNIX")
}

func denies(fourResolvers, int, string) {}

func silent(r fourResolvers, i int, _ string) {
	r.Fail(publicResolvers[i].server.String(), syscall.ETIMEDOUT)
}

func replies(rcode int, extended ...uint16) resolverTemper {
	return func(r fourResolvers, i int, _ string) {
		r.each[i].Handle("example.com", func(q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetRcode(q, rcode)
			m.SetEdns0(1232, true)
			for _, code := range extended {
				m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: code, ExtraText: "why"})
			}
			return m
		})
	}
}

func TestResolverCheckStatus(t *testing.T) {
	t.Parallel()
	one, other := gives("93.184.216.34"), gives("93.184.216.35")
	refuses := replies(dns.RcodeRefused)
	for name, test := range map[string]struct {
		recordType string // A where empty
		tempers    [4]resolverTemper
		status     string
		outcomes   string
		filtered   string // ids
		summary    string // a part of it, where TestSummaries has none like it
	}{
		"all the same":                  {"", [4]resolverTemper{one, one, one, one}, "agree", "answer answer answer answer", "", ""},
		"none exists":                   {"", [4]resolverTemper{denies, denies, denies, denies}, "agreeAbsent", "nxdomain nxdomain nxdomain nxdomain", "", "All four resolvers say that example.com does not exist."},
		"none has any":                  {"", [4]resolverTemper{givesNothing, givesNothing, givesNothing, givesNothing}, "agreeAbsent", "nodata nodata nodata nodata", "", ""},
		"none, for different reasons":   {"", [4]resolverTemper{denies, givesNothing, denies, denies}, "agreeAbsent", "nxdomain nodata nxdomain nxdomain", "", "does not exist (Cloudflare, Quad9 and OpenDNS), or it exists without such records (Google)"},
		"the same, one silent":          {"", [4]resolverTemper{one, one, one, silent}, "partial", "answer answer answer error", "", ""},
		"nothing, one refuses":          {"", [4]resolverTemper{refuses, denies, denies, denies}, "partial", "error nxdomain nxdomain nxdomain", "", ""},
		"two the same, two fail":        {"", [4]resolverTemper{refuses, one, one, silent}, "partial", "error answer answer error", "", ""},
		"some have some":                {"", [4]resolverTemper{one, denies, one, givesNothing}, "mixedPresence", "answer nxdomain answer nodata", "", ""},
		"presence before variation":     {"", [4]resolverTemper{one, other, one, denies}, "mixedPresence", "answer answer answer nxdomain", "", ""},
		"presence before errors":        {"", [4]resolverTemper{one, one, silent, denies}, "mixedPresence", "answer answer error nxdomain", "", ""},
		"addresses that vary":           {"", [4]resolverTemper{one, other, one, one}, "variation", "answer answer answer answer", "", ""},
		"IPv6 addresses that vary":      {"AAAA", [4]resolverTemper{gives("2606:2800::1"), gives("2606:2800::2"), gives("2606:2800::1"), gives("2606:2800::1")}, "variation", "answer answer answer answer", "", ""},
		"variation before errors":       {"", [4]resolverTemper{one, other, silent, refuses}, "variation", "answer answer error error", "", ""},
		"a subset varies":               {"", [4]resolverTemper{one, gives("93.184.216.34", "93.184.216.35"), one, one}, "variation", "answer answer answer answer", "", ""},
		"aliases vary too":              {"CNAME", [4]resolverTemper{gives("a.example.net."), gives("b.example.net."), gives("a.example.net."), gives("a.example.net.")}, "variation", "answer answer answer answer", "", ""},
		"others conflict":               {"MX", [4]resolverTemper{gives("10 a.example.com."), gives("10 b.example.com."), gives("10 a.example.com."), gives("10 a.example.com.")}, "conflict", "answer answer answer answer", "", ""},
		"conflict before errors":        {"NS", [4]resolverTemper{gives("a.example.com."), gives("b.example.com."), silent, refuses}, "conflict", "answer answer error error", "", ""},
		"an error never conflicts":      {"TXT", [4]resolverTemper{gives("a"), refuses, gives("a"), gives("a")}, "partial", "answer error answer answer", "", ""},
		"absence never conflicts":       {"TXT", [4]resolverTemper{gives("a"), denies, gives("a"), gives("a")}, "mixedPresence", "answer nxdomain answer answer", "", ""},
		"only one answers":              {"", [4]resolverTemper{silent, one, refuses, silent}, "inconclusive", "error answer error error", "", "Only Google answered, so there is nothing to compare its answer with. Cloudflare did not answer in time. Quad9 refused the query (REFUSED). OpenDNS did not answer in time."},
		"only one denies":               {"", [4]resolverTemper{silent, silent, denies, silent}, "inconclusive", "error error nxdomain error", "", ""},
		"no one answers":                {"", [4]resolverTemper{silent, silent, silent, silent}, "unavailable", "error error error error", "", ""},
		"no one answers usefully":       {"", [4]resolverTemper{refuses, replies(dns.RcodeServerFailure), replies(dns.RcodeNotImplemented), replies(dns.RcodeYXDomain)}, "unavailable", "error error error error", "", ""},
		"signatures that do not hold":   {"", [4]resolverTemper{replies(dns.RcodeServerFailure, 6), one, one, one}, "partial", "error answer answer answer", "", ""},
		"the last of the DNSSEC errors": {"", [4]resolverTemper{replies(dns.RcodeServerFailure, 12), one, one, one}, "partial", "error answer answer answer", "", ""},
		"the error after them":          {"", [4]resolverTemper{replies(dns.RcodeServerFailure, 13), one, one, one}, "partial", "error answer answer answer", "", ""},
		"Quad9 denies without a zone":   {"", [4]resolverTemper{one, one, replies(dns.RcodeNameError), one}, "mixedPresence", "answer answer nxdomain answer", "quad9", ""},
		"and others find no records":    {"", [4]resolverTemper{givesNothing, givesNothing, replies(dns.RcodeNameError), givesNothing}, "agreeAbsent", "nodata nodata nxdomain nodata", "quad9", ""},
		"and others deny too":           {"", [4]resolverTemper{denies, denies, replies(dns.RcodeNameError), denies}, "agreeAbsent", "nxdomain nxdomain nxdomain nxdomain", "", ""},
		"and others fail":               {"", [4]resolverTemper{silent, silent, replies(dns.RcodeNameError), refuses}, "inconclusive", "error error nxdomain error", "", ""},
		"only Quad9 denies like that":   {"", [4]resolverTemper{one, replies(dns.RcodeNameError), one, one}, "mixedPresence", "answer nxdomain answer answer", "", ""},
		"Quad9 denies with a zone":      {"", [4]resolverTemper{one, one, denies, one}, "mixedPresence", "answer answer nxdomain answer", "", ""},
		"OpenDNS gives its page":        {"", [4]resolverTemper{one, one, one, gives("146.112.61.104")}, "variation", "answer answer answer answer", "opendns", ""},
		"the last of its pages":         {"", [4]resolverTemper{one, one, one, gives("146.112.61.110")}, "variation", "answer answer answer answer", "opendns", ""},
		"the address before them":       {"", [4]resolverTemper{one, one, one, gives("146.112.61.103")}, "variation", "answer answer answer answer", "", ""},
		"the address after them":        {"", [4]resolverTemper{one, one, one, gives("146.112.61.111")}, "variation", "answer answer answer answer", "", ""},
		"its page over IPv6":            {"AAAA", [4]resolverTemper{denies, denies, denies, gives("::ffff:146.112.61.106")}, "mixedPresence", "nxdomain nxdomain nxdomain answer", "opendns", ""},
		"a page beside a true address":  {"", [4]resolverTemper{one, one, one, gives("146.112.61.104", "93.184.216.34")}, "variation", "answer answer answer answer", "", ""},
		"everybody gives that page":     {"", [4]resolverTemper{gives("146.112.61.104"), gives("146.112.61.104"), gives("146.112.61.104"), gives("146.112.61.104")}, "agree", "answer answer answer answer", "", ""},
		"the unspecified address":       {"", [4]resolverTemper{gives("0.0.0.0"), one, one, gives("0.0.0.0")}, "variation", "answer answer answer answer", "cloudflare opendns", ""},
		"the same of IPv6":              {"AAAA", [4]resolverTemper{gives("::"), gives("2606:2800::1"), gives("2606:2800::1"), gives("2606:2800::1")}, "variation", "answer answer answer answer", "cloudflare", ""},
		"two signs prove nothing":       {"", [4]resolverTemper{gives("0.0.0.0"), silent, replies(dns.RcodeNameError), gives("146.112.61.104")}, "mixedPresence", "answer error nxdomain answer", "", ""},
		"forged":                        {"", [4]resolverTemper{replies(dns.RcodeNameError, 4), one, one, one}, "mixedPresence", "nxdomain answer answer answer", "cloudflare", ""},
		"blocked":                       {"", [4]resolverTemper{one, replies(dns.RcodeNameError, 15), one, one}, "mixedPresence", "answer nxdomain answer answer", "google", ""},
		"censored":                      {"", [4]resolverTemper{replies(dns.RcodeNameError, 16), replies(dns.RcodeNameError, 16), denies, denies}, "agreeAbsent", "nxdomain nxdomain nxdomain nxdomain", "cloudflare google", "Cloudflare and Google may be filtering this name."},
		"filtered":                      {"", [4]resolverTemper{one, one, one, replies(dns.RcodeServerFailure, 17)}, "partial", "answer answer answer error", "opendns", ""},
		"prohibited":                    {"", [4]resolverTemper{replies(dns.RcodeRefused, 18), silent, silent, silent}, "unavailable", "error error error error", "cloudflare", ""},
		"the error before those":        {"", [4]resolverTemper{replies(dns.RcodeNameError, 14), one, one, one}, "mixedPresence", "nxdomain answer answer answer", "", ""},
		"the error after those":         {"", [4]resolverTemper{replies(dns.RcodeNameError, 19), one, one, one}, "mixedPresence", "nxdomain answer answer answer", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recordType := test.recordType
			if recordType == "" {
				recordType = "A"
			}
			r := newFourResolvers(t)
			for i, temper := range test.tempers {
				temper(r, i, recordType)
			}
			got := r.check(t, "example.com", recordType)
			var outcomes, filtered, order []string
			for _, a := range got.Resolvers {
				order = append(order, a.ID+" "+a.Address)
				outcomes = append(outcomes, a.Outcome)
				if a.FilteredSuspected {
					filtered = append(filtered, a.ID)
				}
				if (a.ErrorCode != nil) != (a.Outcome == "error") || (len(a.Values) > 0) != (a.Outcome == "answer") ||
					(a.TTL != nil) != (a.Outcome == "answer") {
					t.Errorf("%+v does not fit together", a)
				}
			}
			if got.Status != test.status || strings.Join(outcomes, " ") != test.outcomes ||
				strings.Join(filtered, " ") != test.filtered {
				t.Errorf("%s, outcomes %v, filtered %v, %q", got.Status, outcomes, filtered, got.Summary)
			}
			if !strings.Contains(got.Summary, test.summary) || strings.Contains(got.Summary, "  ") {
				t.Errorf("summary %q", got.Summary)
			}
			if diff := cmp.Diff([]string{"cloudflare 1.1.1.1", "google 8.8.8.8", "quad9 9.9.9.9", "opendns 208.67.222.222"},
				order); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Order, TTL, case and the ways to write one value make no difference.
func TestResolverCheckNormalises(t *testing.T) {
	t.Parallel()
	for recordType, test := range map[string]struct {
		a, b []string
		want []string
	}{
		"A":     {[]string{"93.184.216.35", "93.184.216.34"}, []string{"93.184.216.34", "93.184.216.35", "93.184.216.34"}, []string{"93.184.216.34", "93.184.216.35"}},
		"AAAA":  {[]string{"2606:2800:0:0::b", "2606:2800::A"}, []string{"2606:2800::a", "2606:2800::b"}, []string{"2606:2800::a", "2606:2800::b"}},
		"CNAME": {[]string{"Edge.Example.NET."}, []string{"edge.example.net."}, []string{"edge.example.net"}},
		"MX":    {[]string{"20 B.example.com.", "5 c.example.com.", "0 ."}, []string{"0 .", "5 C.example.com.", "20 b.example.com."}, []string{"0 .", "5 c.example.com", "20 b.example.com"}},
		"NS":    {[]string{"NS2.example.com.", "ns1.example.com."}, []string{"ns1.example.com.", "ns2.example.com."}, []string{"ns1.example.com", "ns2.example.com"}},
		"TXT":   {[]string{`"v=spf1 " "-all"`, `B`}, []string{`B`, `"v=spf1 -" "all"`}, []string{"B", "v=spf1 -all"}},
		"CAA":   {[]string{`0 ISSUE "letsencrypt.org"`, `128 iodef "mailto:a@example.com"`}, []string{`128 iodef "mailto:a@example.com"`, `0 issue "letsencrypt.org"`}, []string{`0 issue "letsencrypt.org"`, `128 iodef "mailto:a@example.com"`}},
	} {
		t.Run(recordType, func(t *testing.T) {
			t.Parallel()
			r := newFourResolvers(t)
			for i, resolver := range r.each {
				values := test.a
				if i%2 == 1 {
					values = test.b
				}
				for _, value := range values {
					resolver.Records(fmt.Sprintf("example.com. %d IN %s %s", 100+i, recordType, value))
				}
			}
			got := r.check(t, "example.com", recordType)
			if got.Status != "agree" {
				t.Errorf("%s: %+v", got.Status, got.Groups)
			}
			want := []resolverGroup{{Values: test.want, Resolvers: []string{"cloudflare", "google", "quad9", "opendns"}}}
			if diff := cmp.Diff(want, got.Groups); diff != "" {
				t.Error(diff)
			}
			for i, a := range got.Resolvers {
				if a.TTL == nil || *a.TTL != uint32(100+i) || !slices.Equal(a.Values, test.want) {
					t.Errorf("%+v", a)
				}
			}
		})
	}
}

// Case matters in text and in the values of CAA.
func TestResolverCheckKeepsCaseWhereItMatters(t *testing.T) {
	t.Parallel()
	for recordType, values := range map[string][2]string{"TXT": {"a", "A"},
		"CAA": {`0 issue "a.example"`, `0 issue "A.example"`}} {
		t.Run(recordType, func(t *testing.T) {
			t.Parallel()
			r := newFourResolvers(t)
			for i, resolver := range r.each {
				resolver.Records("example.com. 300 IN " + recordType + " " + values[i%2])
			}
			if got := r.check(t, "example.com", recordType); got.Status != "conflict" || len(got.Groups) != 2 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestResolverCheckGroups(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	tempers := [4]resolverTemper{denies, gives("93.184.216.34"), givesNothing, silent}
	for i, temper := range tempers {
		temper(r, i, "A")
	}
	want := []resolverGroup{
		{Values: []string{}, Resolvers: []string{"cloudflare", "quad9"}},
		{Values: []string{"93.184.216.34"}, Resolvers: []string{"google"}},
	}
	if diff := cmp.Diff(want, r.check(t, "example.com", "A").Groups); diff != "" {
		t.Error(diff)
	}
}

// changing gives one value the first time and another after, with a TTL that would outlive the second look in any
// cache.
func changing(first, then string) resolverTemper {
	return func(r fourResolvers, i int, recordType string) {
		var asked atomic.Int32
		r.each[i].Handle("example.com", func(q *dns.Msg) *dns.Msg {
			value := then
			if asked.Add(1) == 1 {
				value = first
			}
			m := new(dns.Msg).SetReply(q)
			rr, err := dns.NewRR("example.com. 300 IN " + recordType + " " + value)
			if err != nil {
				panic(err)
			}
			m.Answer = []dns.RR{rr}
			return m
		})
	}
}

func TestResolverCheckLooksTwiceBeforeItSaysConflict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		recordType string
		last       resolverTemper
		status     string
		asked      [4]int
		atLeast    time.Duration
	}{
		"it was being changed":     {"TXT", changing("old", "new"), "agree", [4]int{2, 2, 2, 2}, secondLookAfter},
		"it stays":                 {"TXT", gives("old"), "conflict", [4]int{2, 2, 2, 2}, secondLookAfter},
		"it changes into another":  {"TXT", changing("old", "older"), "conflict", [4]int{2, 2, 2, 2}, secondLookAfter},
		"addresses need no second": {"A", gives("93.184.216.99"), "variation", [4]int{1, 1, 1, 1}, 0},
		"nor does absence":         {"TXT", denies, "mixedPresence", [4]int{1, 1, 1, 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFourResolvers(t)
			value := map[string]string{"TXT": "new", "A": "93.184.216.34"}[test.recordType]
			for i := range r.each[:3] {
				gives(value)(r, i, test.recordType)
			}
			test.last(r, 3, test.recordType)
			began := time.Now()
			got := r.check(t, "example.com", test.recordType)
			took := time.Since(began)
			if got.Status != test.status || took < test.atLeast { // a bound below: a busy machine adds to it
				t.Errorf("%s after %v", got.Status, took)
			}
			for i, a := range got.Resolvers {
				if asked := r.each[i].QueriesFor("example.com", dns.StringToType[test.recordType]); asked != test.asked[i] ||
					a.Cached {
					t.Errorf("%s was asked %d times: %+v", a.ID, asked, a)
				}
			}
		})
	}
}

// A resolver that fails at the second look has failed, and who failed at the first is not queried again.
func TestResolverCheckSecondLookFails(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	gives("new")(r, 0, "TXT")
	gives("new")(r, 1, "TXT")
	silent(r, 2, "TXT")
	var asked atomic.Int32
	r.each[3].Handle("example.com", func(q *dns.Msg) *dns.Msg {
		if asked.Add(1) > 1 {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		m := new(dns.Msg).SetReply(q)
		m.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeTXT, Class: dns.ClassINET,
			Ttl: 300}, Txt: []string{"old"}}}
		return m
	})
	got := r.check(t, "example.com", "TXT")
	if got.Status != "partial" || got.Resolvers[3].Outcome != "error" || *got.Resolvers[3].ErrorCode != "ESERVFAIL" ||
		*got.Resolvers[2].ErrorCode != "ETIMEOUT" {
		t.Errorf("%+v", got)
	}
	var dials int
	for _, to := range r.Dials() {
		if to == publicResolvers[2].server {
			dials++
		}
	}
	if dials != 2 { // the tries of one lookup
		t.Errorf("the silent one was dialled %d times", dials)
	}
}

func TestResolverCheckEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	for i := range r.each {
		gives([]string{"a", "b"}[i%2])(r, i, "TXT")
	}
	ctx, cancel := context.WithTimeout(t.Context(), secondLookAfter/4)
	defer cancel()
	if _, err := r.run(ctx, t, "example.com", "TXT"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	for i := range r.each {
		if asked := r.each[i].QueriesFor("example.com", dns.TypeTXT); asked > 1 {
			t.Errorf("%d queries", asked)
		}
	}
}

// The second run is answered from the cache, and says so.
func TestResolverCheckCache(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	r.all("example.com. 300 IN A 93.184.216.34")
	client := r.Client(nil)
	for run := range 2 {
		job, err := New(client).Parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, `null`)})
		if err != nil {
			t.Fatal(err)
		}
		result, err := job.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range result.(Result).Resolvers {
			// To take a kept answer takes less than the half microsecond that rounds to none.
			kept := run == 1
			if a.Cached != kept || kept && a.AgeMs <= 0 || a.DurationMs < 0 || !kept && a.DurationMs == 0 {
				t.Errorf("run %d: %+v", run, a)
			}
		}
	}
	toolstest.WantDials(t, r.Network, "1.1.1.1:53", "8.8.8.8:53", "9.9.9.9:53", "208.67.222.222:53")
	if asked := len(r.Queries()); asked != 1 { // for the name servers of example.com, of which there are none
		t.Errorf("the operator's resolver was asked %d times", asked)
	}
}

// Long answers come over TCP, with DO and AD requested.
func TestResolverCheckLongAnswersAndDNSSEC(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	for i := range 200 {
		r.all(fmt.Sprintf("example.com. 300 IN A 93.184.%d.%d", i/100, i%100))
	}
	var asked atomic.Int32
	r.each[0].HandleRaw("example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		if q.AuthenticatedData && q.IsEdns0().Do() {
			asked.Add(1)
		}
		m := r.each[0].Recursive(q)
		m.AuthenticatedData = true
		if w.LocalAddr().Network() == "udp" {
			m.Truncate(1232)
		}
		_ = w.WriteMsg(m)
	})
	got := r.check(t, "example.com", "A")
	if got.Status != "agree" || len(got.Resolvers[0].Values) != 200 || !got.Resolvers[0].Authenticated ||
		got.Resolvers[1].Authenticated || asked.Load() != 2 {
		t.Errorf("%s, %d values, asked rightly %d times", got.Status, len(got.Resolvers[0].Values), asked.Load())
	}
	for i, resolver := range r.each {
		if n := resolver.QueriesFor("example.com", dns.TypeA); n != 2 {
			t.Errorf("resolver %d: %d queries, want one over UDP and one over TCP", i, n)
		}
	}
}

// TestResolverCheckShape holds the names and types of the contract.
func TestResolverCheckShape(t *testing.T) {
	t.Parallel()
	r := newFourResolvers(t)
	gives("93.184.216.34")(r, 0, "A")
	replies(dns.RcodeNameError, 15)(r, 1, "A")
	replies(dns.RcodeRefused)(r, 2, "A")
	givesNothing(r, 3, "A")
	got := r.check(t, "example.com", "A")
	for i := range got.Resolvers {
		if got.Resolvers[i].DurationMs <= 0 {
			t.Errorf("%+v", got.Resolvers[i])
		}
		got.Resolvers[i].DurationMs = 1.5
	}
	got.Report = finding.NewReport(finding.Conclusion{State: finding.OK, Code: "A", Message: "b"})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const rest = `"authenticated":false,"durationMs":1.5,"filteredSuspected":%t,"cached":false,"ageMs":0,"extendedErrors":%s,"matchesAuthoritative":null}`
	want := `{"conclusion":{"state":"ok","code":"A","message":"b","brief":"","meaning":null,"args":null},"findings":[],"domain":"example.com","recordType":"A","status":"mixedPresence","summary":"Cloudflare returns A records for example.com; Google and OpenDNS do not. Quad9 refused the query (REFUSED). Google may be filtering this name.","resolvers":[` +
		`{"id":"cloudflare","name":"Cloudflare","address":"1.1.1.1","outcome":"answer","errorCode":null,"values":["93.184.216.34"],"ttl":300,` + fmt.Sprintf(rest, false, "[]") + `,` +
		`{"id":"google","name":"Google","address":"8.8.8.8","outcome":"nxdomain","errorCode":null,"values":[],"ttl":null,` + fmt.Sprintf(rest, true, `[{"code":15,"name":"Blocked","text":"why"}]`) + `,` +
		`{"id":"quad9","name":"Quad9","address":"9.9.9.9","outcome":"error","errorCode":"EREFUSED","values":[],"ttl":null,` + fmt.Sprintf(rest, false, "[]") + `,` +
		`{"id":"opendns","name":"OpenDNS","address":"208.67.222.222","outcome":"nodata","errorCode":null,"values":[],"ttl":null,` + fmt.Sprintf(rest, false, "[]") + `],` +
		`"groups":[{"values":[],"resolvers":["google","opendns"]},{"values":["93.184.216.34"],"resolvers":["cloudflare"]}],"failure":null,"changing":null,"cause":null,"authoritative":null}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzResolverCheckValues(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34})
	f.Add([]byte{0, 1, 1, 0, 1, 0, 0, 0, 60, 0, 10, 0, 5, 'I', 's', 'S', 'u', 'e', '"', '\\', 0xff})
	f.Add([]byte{0, 0, 15, 0, 1, 0, 0, 0, 60, 0, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, packet []byte) {
		var records []dns.RR
		for at := 0; at < len(packet); {
			rr, next, err := dns.UnpackRR(packet, at)
			if err != nil || rr == nil || next <= at {
				break
			}
			records, at = append(records, rr), next
		}
		values := normalValues(records)
		slices.Reverse(records)
		if again := normalValues(records); !slices.Equal(values, again) || len(values) > len(records) {
			t.Errorf("%q in another order is %q", values, again)
		}
	})
}
