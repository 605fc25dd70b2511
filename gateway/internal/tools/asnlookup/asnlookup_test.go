package asnlookup

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

const (
	cymruOrigin = "31.108.90.216.origin"
	cymruPeer   = "31.108.90.216.peer"
)

func asnJob(t *testing.T, n *egresstest.Network, query string) tool.Job {
	t.Helper()
	job, err := New(toolstest.ASNClient(t, n.Client(nil))).Parse(tool.Input{Text: query})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func asnAnswer(t *testing.T, job tool.Job) Result {
	t.Helper()
	result, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result.(Result)
}

// asnJSON is a result as the page sees it, without its report and the moment of its source, which must be there.
func asnJSON(t *testing.T, result Result) string {
	t.Helper()
	for i := range result.Sources {
		if len(result.Sources[i].FetchedAt) != len("2026-11-21T09:00:00Z") {
			t.Errorf("fetched at %q", result.Sources[i].FetchedAt)
		}
		result.Sources[i].FetchedAt = "then"
	}
	out, err := json.Marshal(result)
	if err != nil || result.Conclusion.Code == "" {
		t.Fatal(err, result.Conclusion)
	}
	_, rest, _ := strings.Cut(string(out), `"query":`)
	return `{"query":` + rest
}

func TestASNLookup(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		toolstest.ASNLine(cymruOrigin, "23028 701 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		toolstest.ASNLine(cymruOrigin, "1239 | 216.90.0.0/16 |  |  | "),
		toolstest.ASNLine(cymruPeer, "7132 3561 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		toolstest.ASNLine("as23028", "23028 | US | arin | 2002-01-04 | TEAM-CYMRU - Team Cymru | Inc., US"),
		toolstest.ASNLine("as701", "701 | US | arin | 1990-08-03 | UUNET, US"),
		toolstest.ASNLine("8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.origin6",
			"15169 | 2001:4860::/32 | US | arin | 2005-03-14"),
		toolstest.ASNLine("as15169", "15169 | US | arin | 2000-03-30 | GOOGLE, US"),
	)
	const from = `,"notes":[],"sources":[{"name":"Team Cymru","zone":"asn.cymru.com","fetchedAt":"then","cached":false}]}`
	for query, want := range map[string]string{
		"216.90.108.31": `{"query":"216.90.108.31","queryType":"ip","records":[` +
			`{"asn":701,"name":"UUNET, US","prefix":"216.90.108.0/24","country":"US","registry":"arin","allocated":"1998-09-25"},` +
			`{"asn":23028,"name":"TEAM-CYMRU - Team Cymru | Inc., US","prefix":"216.90.108.0/24","country":"US","registry":"arin","allocated":"1998-09-25"},` +
			`{"asn":1239,"name":null,"prefix":"216.90.0.0/16","country":null,"registry":null,"allocated":null}],` +
			`"peers":[3561,7132],"announced":true,"summary":"AS701 and AS23028 announce 216.90.108.0/24 at the same time: normal for anycast and migrations, otherwise a mistake or a hijack."` + from,
		"2001:4860:4860::8888": `{"query":"2001:4860:4860::8888","queryType":"ip","records":[` +
			`{"asn":15169,"name":"GOOGLE, US","prefix":"2001:4860::/32","country":"US","registry":"arin","allocated":"2005-03-14"}],` +
			`"peers":[],"announced":true,"summary":"AS15169 (GOOGLE, US) announces 2001:4860:4860::8888, as part of 2001:4860::/32."` + from,
		"198.41.0.4": `{"query":"198.41.0.4","queryType":"ip","records":[],"peers":[],"announced":false,"summary":"No network announces 198.41.0.4, according to the ASN service, so packets cannot reach it."` + from,
		"as15169": `{"query":"AS15169","queryType":"asn","records":[` +
			`{"asn":15169,"name":"GOOGLE, US","prefix":null,"country":"US","registry":"arin","allocated":"2000-03-30"}],"peers":[],"announced":true,"summary":"AS15169 is allocated to GOOGLE, US."` + from,
		"399999": `{"query":"AS399999","queryType":"asn","records":[],"peers":[],"announced":false,"summary":"The ASN service does not know AS399999; it may not be allocated."` + from,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, asnJSON(t, asnAnswer(t, asnJob(t, n, query)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASNLookupCached(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(toolstest.ASNLine(cymruOrigin, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		toolstest.ASNLine("as23028", "23028 | US | arin | 2002-01-04 | TEAM-CYMRU, US"))
	job := asnJob(t, n, "216.90.108.31")
	first := asnAnswer(t, job)
	asked := len(n.Queries())
	second := asnAnswer(t, job)
	if first.Sources[0].Cached || !second.Sources[0].Cached ||
		first.Sources[0].FetchedAt != second.Sources[0].FetchedAt || len(n.Queries()) != asked {
		t.Errorf("%+v, then %+v after %d questions and %d", first.Sources, second.Sources, asked, len(n.Queries()))
	}
}

// A prefix of just now beside a name of a cache: one source, as old as the name, and the same in the next answer.
func TestASNLookupOfWhatIsKeptInPart(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(toolstest.ASNLine(cymruOrigin, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		toolstest.ASNLine("as23028", "23028 | US | arin | 2002-01-04 | TEAM-CYMRU, US"))
	tl := New(toolstest.ASNClient(t, n.Client(nil)))
	ask := func(query string) []registration.Source {
		job, err := tl.Parse(tool.Input{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		return asnAnswer(t, job).Sources
	}
	number := ask("AS23028")
	address, again := ask("216.90.108.31"), ask("216.90.108.31")
	if len(number) != 1 || number[0].Cached || len(address) != 1 || !address[0].Cached ||
		address[0].FetchedAt != number[0].FetchedAt || !slices.Equal(address, again) {
		t.Errorf("%+v, then %+v and %+v", number, address, again)
	}
}

func TestASNLookupFailures(t *testing.T) {
	t.Parallel()
	const origin = "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"
	for name, test := range map[string]struct {
		query   string
		arrange func(n *egresstest.Network)
		kind    fault.Kind
	}{
		"origins, SERVFAIL": {"216.90.108.31", func(n *egresstest.Network) {
			n.Handle(cymruOrigin+".asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, fault.Upstream},
		"origins, REFUSED": {"216.90.108.31", func(n *egresstest.Network) {
			n.Handle(cymruOrigin+".asn.cymru.com", toolstest.Failing(dns.RcodeRefused))
		}, fault.Upstream},
		"origins, unreadable": {"216.90.108.31", func(n *egresstest.Network) { n.Records(toolstest.ASNLine(cymruOrigin, "<html>")) }, fault.Upstream},
		"origins, silence":    {"216.90.108.31", func(n *egresstest.Network) { n.Fail(egresstest.ResolverAddr.String(), syscall.ETIMEDOUT) }, fault.Timeout},
		"names, unreadable": {"216.90.108.31", func(n *egresstest.Network) {
			n.Records(toolstest.ASNLine(cymruOrigin, origin), toolstest.ASNLine("as23028", "?"))
		}, fault.Upstream},
		"peers, unreadable": {"216.90.108.31", func(n *egresstest.Network) {
			n.Records(toolstest.ASNLine(cymruOrigin, origin), toolstest.ASNLine(cymruPeer, "?"))
		}, fault.Upstream},
		"a number, SERVFAIL": {"AS23028", func(n *egresstest.Network) {
			n.Handle("as23028.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, fault.Upstream},
		"a number, unreadable": {"AS23028", func(n *egresstest.Network) { n.Records(toolstest.ASNLine("as23028", "23028 | US")) }, fault.Upstream},
		"a number, silence":    {"AS23028", func(n *egresstest.Network) { n.Fail(egresstest.ResolverAddr.String(), syscall.ETIMEDOUT) }, fault.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			test.arrange(n)
			if result, err := asnJob(t, n, test.query).Run(t.Context()); !fault.Is(err, test.kind) {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// Names and peers are beside the question: an answer without them is better than none, and says so.
func TestASNLookupWithoutNamesAndPeers(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(toolstest.ASNLine(cymruOrigin, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	n.Handle(cymruPeer+".asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
	n.Handle("as23028.asn.cymru.com", toolstest.Failing(dns.RcodeRefused))
	got := asnAnswer(t, asnJob(t, n, "216.90.108.31"))
	if diff := cmp.Diff([]string{
		rows.Sentence(registration.CodeNamesMissing, nil), rows.Sentence(codePeersMissing, nil),
	}, got.Notes); diff != "" ||
		len(got.Records) != 1 || got.Records[0].Name != nil || !got.Announced || len(got.Sources) != 1 {
		t.Errorf("%+v %s", got, diff)
	}
}

func TestASNLookupEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(toolstest.ASNLine(cymruOrigin, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	ctx, cancel := context.WithCancel(t.Context())
	n.Handle(cymruPeer+".asn.cymru.com", func(*dns.Msg) *dns.Msg {
		cancel()
		return nil
	})
	if _, err := asnJob(t, n, "216.90.108.31").Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
