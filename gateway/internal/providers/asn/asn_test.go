package asn_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

var (
	v4 = netip.MustParseAddr("216.90.108.31")
	v6 = netip.MustParseAddr("2001:4860:4860::8888")
)

const (
	originV4 = "31.108.90.216.origin.asn.cymru.com"
	peerV4   = "31.108.90.216.peer.asn.cymru.com"
	originV6 = "8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.origin6.asn.cymru.com"
)

var (
	sameAddrs = cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})
	noTimes   = cmpopts.IgnoreFields(asn.Source{}, "FetchedAt")
)

// memory is a store whose time the test moves.
func memory(t testing.TB) (*cache.Memory, func(time.Duration)) {
	t.Helper()
	var passed atomic.Int64
	began := time.Now()
	store := cache.NewMemory(1<<20, cache.WithClock(func() time.Time { return began.Add(time.Duration(passed.Load())) }))
	t.Cleanup(store.Close)
	return store, func(d time.Duration) { passed.Add(int64(d)) }
}

func client(t testing.TB, n *egresstest.Network) *asn.Client {
	t.Helper()
	store, _ := memory(t)
	return asn.New(n.Client(nil), "", store)
}

// txt is a zone-file line.
func txt(name, text string) string { return fmt.Sprintf("%s. 300 IN TXT %q", name, text) }

func record(number uint32, prefix, country, registry, allocated string) asn.Record {
	return asn.Record{ASN: number, Prefix: netip.MustParsePrefix(prefix), Country: country, Registry: registry,
		Allocated: allocated}
}

// hostile is a store that panics on the keys that hold a part.
type hostile struct {
	cache.Store
	part string
}

func (h hostile) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if strings.Contains(key, h.part) {
		panic("boom")
	}
	return h.Store.Get(ctx, key)
}

// A panic crosses two goroutines here: that of the one number or hop, and that of the shared load.
func TestAPanicOfALookupReachesTheCaller(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(txt(originV4, "23028 701 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	store, _ := memory(t)
	for what, lookup := range map[string]func(*asn.Client){
		"the names of networks": func(c *asn.Client) { _, _ = c.Announcements(t.Context(), v4) },
		"the hops of a trace":   func(c *asn.Client) { c.HopOrigins(t.Context(), []netip.Addr{v6, v4}) },
	} {
		// The lowest number is the one that a hop is named after.
		p := parallel.Catch(func() { lookup(asn.New(n.Client(nil), "", hostile{store, ":as701."})) })
		if p == nil || p.Value != "boom" {
			t.Errorf("%s: caught %v", what, p)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		addr  netip.Addr
		texts []string
		want  []asn.Record
	}{
		"one":  {v4, []string{"23028 | 216.90.108.0/24 | US | arin | 1998-09-25"}, []asn.Record{record(23028, "216.90.108.0/24", "US", "arin", "1998-09-25")}},
		"IPv6": {v6, []string{"15169 | 2001:4860::/32 | US | arin | 2005-03-14"}, []asn.Record{record(15169, "2001:4860::/32", "US", "arin", "2005-03-14")}},
		"several origins in one field": {v4, []string{"64500 23028 | 216.90.108.0/24 | US | arin | 1998-09-25"}, []asn.Record{
			record(23028, "216.90.108.0/24", "US", "arin", "1998-09-25"),
			record(64500, "216.90.108.0/24", "US", "arin", "1998-09-25"),
		}},
		"several records, longest prefix first": {
			v4,
			[]string{"701 | 216.90.0.0/16 | US | arin | 1998-09-25", "23028 | 216.90.108.0/24 | US | arin | 1998-09-25",
				"1239 | 216.0.0.0/8 | US | arin |"},
			[]asn.Record{
				record(23028, "216.90.108.0/24", "US", "arin", "1998-09-25"),
				record(701, "216.90.0.0/16", "US", "arin", "1998-09-25"), record(1239, "216.0.0.0/8", "US", "arin", ""),
			},
		},
		"an AS_SET":                  {v4, []string{"{701,1239} | 216.90.108.0/24 | US | arin | 1998-09-25"}, []asn.Record{record(701, "216.90.108.0/24", "US", "arin", "1998-09-25"), record(1239, "216.90.108.0/24", "US", "arin", "1998-09-25")}},
		"repeats":                    {v4, []string{"701 701 | 216.90.108.0/24 | US | arin | 1998-09-25"}, []asn.Record{record(701, "216.90.108.0/24", "US", "arin", "1998-09-25")}},
		"nothing but the prefix":     {v4, []string{"701 | 216.90.108.0/24 |  |  | "}, []asn.Record{record(701, "216.90.108.0/24", "", "", "")}},
		"cases and spaces":           {v4, []string{"  701|216.90.108.0/24|us|RIPENCC|1998-09-25  "}, []asn.Record{record(701, "216.90.108.0/24", "US", "ripencc", "1998-09-25")}},
		"Namibia is a country":       {v4, []string{"701 | 216.90.108.0/24 | NA | afrinic | 1998-09-25"}, []asn.Record{record(701, "216.90.108.0/24", "NA", "afrinic", "1998-09-25")}},
		"ZZ is none":                 {v4, []string{"701 | 216.90.108.0/24 | ZZ | other | 0000-00-00"}, []asn.Record{record(701, "216.90.108.0/24", "", "other", "")}},
		"what is not in its form":    {v4, []string{"701 | 216.90.108.0/24 | <b> | ../../etc | yesterday"}, []asn.Record{record(701, "216.90.108.0/24", "", "", "")}},
		"host bits in the prefix":    {v4, []string{"701 | 216.90.108.31/24 | US | arin | 1998-09-25"}, []asn.Record{record(701, "216.90.108.0/24", "US", "arin", "1998-09-25")}},
		"the greatest number":        {v4, []string{"4294967295 | 216.90.108.0/24 | US | arin | 1998-09-25"}, []asn.Record{record(4294967295, "216.90.108.0/24", "US", "arin", "1998-09-25")}},
		"a registry of 16 letters":   {v4, []string{"1 | 216.90.108.0/24 | US | " + strings.Repeat("a", 16) + " | "}, []asn.Record{record(1, "216.90.108.0/24", "US", strings.Repeat("a", 16), "")}},
		"a registry of 17 letters":   {v4, []string{"1 | 216.90.108.0/24 | US | " + strings.Repeat("a", 17) + " | "}, []asn.Record{record(1, "216.90.108.0/24", "US", "", "")}},
		"not announced (NXDOMAIN)":   {v4, nil, nil},
		"nothing there (NODATA), v6": {v6, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			owner := map[netip.Addr]string{v4: originV4, v6: originV6}[test.addr]
			for _, text := range test.texts {
				n.Records(txt(owner, text))
			}
			if strings.Contains(name, "NODATA") {
				n.Records(owner + ". 300 IN A 127.0.0.1")
			}
			got, source, err := client(t, n).Origins(t.Context(), test.addr)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, sameAddrs, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asn.Source{Name: "Team Cymru", Zone: "asn.cymru.com"}, source, noTimes); diff != "" ||
				time.Since(source.FetchedAt) > time.Minute { // a moment, no duration
				t.Errorf("source %+v", source)
			}
			if asked := n.QueriesFor(owner, dns.TypeTXT); asked != 1 {
				t.Errorf("%d questions at %s: %v", asked, owner, n.Queries())
			}
		})
	}
}

// An answer that is not in the format is the service's failure, and never half an answer.
func TestUnreadableOrigins(t *testing.T) {
	t.Parallel()
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("%d | 216.90.108.0/24 | US | arin | ", i+1)
	}
	for name, texts := range map[string][]string{
		"HTML":                      {"<html><body>Sign in to the network</body></html>"},
		"another kind of record":    {"v=spf1 -all"},
		"empty":                     {""},
		"bars alone":                {"||||"},
		"four fields":               {"23028 | 216.90.108.0/24 | US | arin"},
		"six fields":                {"23028 | 216.90.108.0/24 | US | arin | 1998-09-25 | x"},
		"truncated":                 {"23028 | 216.90.10"},
		"no number":                 {" | 216.90.108.0/24 | US | arin | 1998-09-25"},
		"a word for a number":       {"NA | 216.90.108.0/24 | US | arin | 1998-09-25"},
		"a negative number":         {"-1 | 216.90.108.0/24 | US | arin | 1998-09-25"},
		"a number too great":        {"4294967296 | 216.90.108.0/24 | US | arin | 1998-09-25"},
		"a prefix with 33 bits":     {"23028 | 216.90.108.0/33 | US | arin | 1998-09-25"},
		"an address for a prefix":   {"23028 | 216.90.108.0 | US | arin | 1998-09-25"},
		"another address's prefix":  {"23028 | 216.90.109.0/24 | US | arin | 1998-09-25"},
		"another family's prefix":   {"23028 | 2001:db8::/32 | US | arin | 1998-09-25"},
		"one good and one bad":      {"23028 | 216.90.108.0/24 | US | arin | 1998-09-25", "nonsense"},
		"too many records":          many,
		"too many origins":          {strings.Trim(strings.Repeat("1 ", 65), " ") + " | 216.90.108.0/24 | US | arin | "},
		"a text without end":        {"23028 | 216.90.108.0/24 | US | arin | " + strings.Repeat("x", 5000)},
		"an AS_SET with nothing in": {"{} | 216.90.108.0/24 | US | arin | 1998-09-25"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			serve(n, originV4, texts...)
			c := client(t, n)
			for range 2 {
				_, _, err := c.Origins(t.Context(), v4)
				if !fault.Is(err, fault.Upstream) || !errors.Is(err, asn.ErrUnreadable) {
					t.Fatalf("got %v", err)
				}
			}
			if asked := n.QueriesFor(originV4, dns.TypeTXT); asked < 2 {
				t.Error("a failure was kept")
			}
		})
	}
}

// serve scripts TXT records of any length at a name.
func serve(n *egresstest.Network, name string, texts ...string) {
	n.HandleRaw(name, func(w dns.ResponseWriter, q *dns.Msg) {
		m := message(q, texts...)
		if w.LocalAddr().Network() == "udp" {
			m.Truncate(dns.MinMsgSize)
		}
		_ = w.WriteMsg(m)
	})
}

func message(q *dns.Msg, texts ...string) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	for _, text := range texts {
		rr := &dns.TXT{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}}
		for len(text) > 255 {
			rr.Txt, text = append(rr.Txt, text[:255]), text[255:]
		}
		rr.Txt = append(rr.Txt, text)
		m.Answer = append(m.Answer, rr)
	}
	return m
}

func TestFailures(t *testing.T) {
	t.Parallel()
	rcode := func(code int) func(n *egresstest.Network) {
		return func(n *egresstest.Network) {
			n.Handle(originV4, func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, code) })
		}
	}
	for name, test := range map[string]struct {
		arrange func(n *egresstest.Network)
		kind    fault.Kind
	}{
		"SERVFAIL":    {rcode(dns.RcodeServerFailure), fault.Upstream},
		"REFUSED":     {rcode(dns.RcodeRefused), fault.Upstream},
		"NOTIMP":      {rcode(dns.RcodeNotImplemented), fault.Upstream},
		"no resolver": {func(n *egresstest.Network) { n.Fail(egresstest.ResolverAddr.String(), syscall.ECONNREFUSED) }, fault.Upstream},
		"a loop": {func(n *egresstest.Network) {
			n.Handle(originV4, func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetReply(q)
				m.Answer = []dns.RR{&dns.CNAME{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeCNAME,
					Class: dns.ClassINET}, Target: q.Question[0].Name}}
				return m
			})
		}, fault.Upstream},
		"silence": {func(n *egresstest.Network) { n.Fail(egresstest.ResolverAddr.String(), syscall.ETIMEDOUT) }, fault.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			test.arrange(n)
			_, _, err := client(t, n).Origins(t.Context(), v4)
			if !fault.Is(err, test.kind) || errors.Is(err, asn.ErrUnreadable) {
				t.Fatalf("got %v", err)
			}
			var f *fault.Error
			if errors.As(err, &f); f.Sentence() == "" || strings.Contains(f.Sentence(), "cymru") ||
				strings.Contains(f.Sentence(), "192.0.2.53") {
				t.Errorf("sentence %q", f.Sentence())
			}
		})
	}
}

func TestACallerThatLeaves(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle(originV4, func(*dns.Msg) *dns.Msg { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := client(t, n).Origins(ctx, v4); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPeers(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		txt(peerV4, "7132 701 1239 3549 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		txt(peerV4, "701 3561 | 216.90.0.0/16 | US | arin | 1998-09-25"),
	)
	c := client(t, n)
	peers, source, ok, err := c.Peers(t.Context(), v4)
	if diff := cmp.Diff([]uint32{701, 1239, 3549, 3561, 7132}, peers); diff != "" || err != nil || !ok ||
		source.Zone != "asn.cymru.com" {
		t.Errorf("%v %v %s", ok, err, diff)
	}
	if peers, _, ok, err := c.Peers(t.Context(), netip.MustParseAddr("216.90.108.32")); len(peers) != 0 || !ok ||
		err != nil {
		t.Errorf("no peers: %v %v %v", peers, ok, err)
	}
	before := len(n.Queries())
	if peers, _, ok, err := c.Peers(t.Context(), v6); len(peers) != 0 || ok || err != nil || len(n.Queries()) != before {
		t.Errorf("IPv6: %v %v %v", peers, ok, err)
	}
	serve(n, "33.108.90.216.peer.asn.cymru.com", "hello")
	if _, _, ok, err := c.Peers(t.Context(), netip.MustParseAddr("216.90.108.33")); ok ||
		!errors.Is(err, asn.ErrUnreadable) {
		t.Errorf("unreadable: %v %v", ok, err)
	}
	many := strings.Repeat("1 ", 1025) + "| 216.90.108.0/24 | US | arin | "
	serve(n, "34.108.90.216.peer.asn.cymru.com", many)
	if _, _, _, err := c.Peers(t.Context(), netip.MustParseAddr("216.90.108.34")); !errors.Is(err, asn.ErrUnreadable) {
		t.Errorf("too many: %v", err)
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		want  *asn.System
		bad   bool
	}{
		"usual":               {texts: []string{"23028 | US | arin | 2002-01-04 | TEAM-CYMRU - Team Cymru Inc., US"}, want: &asn.System{ASN: 23028, Country: "US", Registry: "arin", Allocated: "2002-01-04", Name: "TEAM-CYMRU - Team Cymru Inc., US"}},
		"bars in the name":    {texts: []string{"23028 | BR | lacnic | 2002-01-04 | ACME | Net | , BR"}, want: &asn.System{ASN: 23028, Country: "BR", Registry: "lacnic", Allocated: "2002-01-04", Name: "ACME | Net | , BR"}},
		"nothing given":       {texts: []string{"23028 |  |  |  | "}, want: &asn.System{ASN: 23028}},
		"no UTF-8":            {texts: []string{"23028 | DE | ripencc | 2002-01-04 | M\xfcnchen, DE"}, want: &asn.System{ASN: 23028, Country: "DE", Registry: "ripencc", Allocated: "2002-01-04", Name: "München, DE"}},
		"control characters":  {texts: []string{"23028 | DE | ripencc | 2002-01-04 | A\x00\x1b[31mB\r\nC\u202eD"}, want: &asn.System{ASN: 23028, Country: "DE", Registry: "ripencc", Allocated: "2002-01-04", Name: "A[31mB  CD"}},
		"a name without end":  {texts: []string{"23028 |  |  |  | " + strings.Repeat("é", 300)}, want: &asn.System{ASN: 23028, Name: strings.Repeat("é", 256)}},
		"several, one order":  {texts: []string{"23028 | US | arin | 2002-01-04 | B", "23028 | US | arin | 2002-01-04 | A"}, want: &asn.System{ASN: 23028, Country: "US", Registry: "arin", Allocated: "2002-01-04", Name: "A"}},
		"unknown":             {},
		"another number":      {texts: []string{"23029 | US | arin | 2002-01-04 | OTHER"}, bad: true},
		"no number":           {texts: []string{"AS23028 | US | arin | 2002-01-04 | OTHER"}, bad: true},
		"four fields":         {texts: []string{"23028 | US | arin | 2002-01-04"}, bad: true},
		"HTML":                {texts: []string{"<!doctype html>"}, bad: true},
		"too long":            {texts: []string{"23028 |  |  |  | " + strings.Repeat("x", 4096)}, bad: true},
		"good with a bad one": {texts: []string{"23028 | US | arin | 2002-01-04 | A", "x"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			if test.texts != nil {
				serve(n, "AS23028.asn.cymru.com", test.texts...)
			}
			got, _, err := client(t, n).System(t.Context(), 23028)
			if test.bad != errors.Is(err, asn.ErrUnreadable) || !test.bad && err != nil {
				t.Fatalf("got %+v, %v", got, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnotherZone(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(txt("31.108.90.216.origin.asn.example.net", "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	store, _ := memory(t)
	out := n.Client(nil)
	records, source, err := asn.New(out, "asn.example.net", store).Origins(t.Context(), v4)
	if err != nil || len(records) != 1 || source.Zone != "asn.example.net" || source.Name == "Team Cymru" {
		t.Errorf("%+v, %+v, %v", records, source, err)
	}
	if records, _, err := asn.New(out, "", store).Origins(t.Context(), v4); err != nil || len(records) != 0 {
		t.Errorf("zones share what is kept: %+v, %v", records, err)
	}
}

// Instances with one store share what is kept, for half an hour and not longer.
func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(n *egresstest.Network){
		"an origin": func(n *egresstest.Network) {
			n.Records(txt(originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
		},
		"no announcement": func(*egresstest.Network) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			arrange(n)
			store, pass := memory(t)
			one, two := asn.New(n.Client(nil), "", store), asn.New(n.Client(nil), "", store)
			first, fetched, err := one.Origins(t.Context(), v4)
			if err != nil || fetched.Cached {
				t.Fatalf("%+v, %v", fetched, err)
			}
			pass(asn.KeepFor - time.Second)
			kept, source, err := two.Origins(t.Context(), v4)
			if err != nil || !source.Cached || !source.FetchedAt.Equal(fetched.FetchedAt) {
				t.Errorf("kept: %+v, %v", source, err)
			}
			if diff := cmp.Diff(first, kept, sameAddrs); diff != "" {
				t.Error(diff)
			}
			pass(time.Second)
			if _, source, err := two.Origins(t.Context(), v4); err != nil || source.Cached {
				t.Errorf("afterwards: %+v, %v", source, err)
			}
			if asked := n.QueriesFor(originV4, dns.TypeTXT); asked != 2 {
				t.Errorf("%d questions", asked)
			}
		})
	}
}

// A failure leaves what comes next alone, however long its own records said that they live.
func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	serve(n, originV4, "nonsense")
	c := client(t, n)
	if _, _, err := c.Origins(t.Context(), v4); !fault.Is(err, fault.Upstream) {
		t.Fatal(err)
	}
	serve(n, originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25")
	if records, source, err := c.Origins(t.Context(), v4); err != nil || len(records) != 1 || source.Cached {
		t.Errorf("%+v, %+v, %v", records, source, err)
	}
}

// What another writer left in a shared store under our keys is not used where it cannot be an answer, and is fetched
// anew.
func TestAPoisonedStore(t *testing.T) {
	t.Parallel()
	fresh := record(23028, "216.90.108.0/24", "US", "arin", "1998-09-25")
	for name, texts := range map[string][]string{
		"nonsense":              {"nonsense"},
		"another's answer":      {"15169 | 8.8.8.0/24 | US | arin | 2023-12-28"},
		"a number of no system": {"99999999999 | 216.90.108.0/24 | US | arin | 1998-09-25"},
		"a long text":           {strings.Repeat("1", 1<<16)},
		"many texts":            slices.Repeat([]string{"1 | 216.90.108.0/24 | US | arin | 1998-09-25"}, 1000),
	} {
		n := egresstest.New(t)
		serve(n, originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25")
		store, _ := memory(t)
		cache.NewTyped[[]string](store, "asn-texts", asn.KeepFor).Keep(t.Context(), originV4, texts, time.Hour)
		records, source, err := asn.New(n.Client(nil), "", store).Origins(t.Context(), v4)
		if err != nil || source.Cached || len(records) != 1 || records[0] != fresh {
			t.Errorf("%s: %+v, %+v, %v", name, records, source, err)
		}
	}
	for name, records := range map[string][]asn.Record{
		"no prefix":       {{ASN: 1}},
		"another's block": {record(15169, "8.8.8.0/24", "US", "arin", "2023-12-28")},
		"no country":      {record(1, "216.90.108.0/24", "<b>", "arin", "2023-12-28")},
		"no registry":     {record(1, "216.90.108.0/24", "US", "a\nb", "2023-12-28")},
		"no date":         {record(1, "216.90.108.0/24", "US", "arin", "tomorrow")},
		"out of order": {record(1, "216.90.0.0/16", "US", "arin", "1998-09-25"),
			record(1, "216.90.108.0/24", "US", "arin", "1998-09-25")},
		"too many": slices.Repeat([]asn.Record{record(1, "216.90.108.0/24", "US", "arin", "1998-09-25")}, 65),
	} {
		n := egresstest.New(t)
		serve(n, originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25")
		store, _ := memory(t)
		cache.NewTyped[[]asn.Record](store, "asn-blocks", asn.KeepFor).
			Keep(t.Context(), asn.DefaultZone+" 216.90.108.0/24", records, time.Hour)
		origin, ok, err := asn.New(n.Client(nil), "", store).Origin(t.Context(), v4)
		if err != nil || !ok || origin.ASN != 23028 {
			t.Errorf("%s: %+v, %t, %v", name, origin, ok, err)
		}
	}
}

func TestAnnouncements(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		txt(originV4, "701 23028 | 216.90.108.0/24 | US | arin | 1998-09-25"),
		txt(originV4, "701 64999 | 216.90.0.0/16 | US | arin | 1998-09-25"),
		txt("as701.asn.cymru.com", "701 | US | arin | 1990-08-03 | UUNET, US"),
		txt("as23028.asn.cymru.com", "23028 | US | arin | 2002-01-04 | TEAM-CYMRU, US"),
	)
	got, err := client(t, n).Announcements(t.Context(), v4)
	if err != nil || got.NamesMissing {
		t.Fatalf("%+v, %v", got, err)
	}
	want := []asn.Announcement{
		{Record: record(701, "216.90.108.0/24", "US", "arin", "1998-09-25"), Name: "UUNET, US"},
		{Record: record(23028, "216.90.108.0/24", "US", "arin", "1998-09-25"), Name: "TEAM-CYMRU, US"},
		{Record: record(701, "216.90.0.0/16", "US", "arin", "1998-09-25"), Name: "UUNET, US"},
		{Record: record(64999, "216.90.0.0/16", "US", "arin", "1998-09-25")},
	}
	if diff := cmp.Diff(want, got.Records, sameAddrs); diff != "" {
		t.Error(diff)
	}
	if asked := n.QueriesFor("as701.asn.cymru.com", dns.TypeTXT); asked != 1 {
		t.Errorf("one name was asked for %d times", asked)
	}
	if got, err := client(t, egresstest.New(t)).Announcements(t.Context(), v4); err != nil || len(got.Records) != 0 ||
		len(got.Sources) != 1 || got.Sources[0].Zone == "" {
		t.Errorf("not announced: %+v, %v", got, err)
	}
}

func TestAnnouncementsWithoutAName(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(txt(originV4, "701 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	n.Handle("as701.asn.cymru.com", func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) })
	c := client(t, n)
	got, err := c.Announcements(t.Context(), v4)
	if err != nil || !got.NamesMissing || len(got.Records) != 1 || got.Records[0].Name != "" {
		t.Errorf("%+v, %v", got, err)
	}
	serve(n, "as701.asn.cymru.com", "nonsense")
	if _, err := c.Announcements(t.Context(), v4); !errors.Is(err, asn.ErrUnreadable) {
		t.Errorf("an unreadable name: %v", err)
	}
	serve(n, "as701.asn.cymru.com", "701 | US | arin | 1990-08-03 | UUNET, US")
	got, err = c.Announcements(t.Context(), v4)
	if err != nil || got.NamesMissing || got.Records[0].Name != "UUNET, US" {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
	// The announcement was kept, the name is new: one source, cached in part.
	if diff := cmp.Diff([]bool{true}, cachedOnes(got.Sources)); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
	got, err = c.Announcements(t.Context(), v4)
	if err != nil || !slices.Equal(cachedOnes(got.Sources), []bool{true}) {
		t.Errorf("all kept: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Announcements(ctx, v4); !errors.Is(err, context.Canceled) {
		t.Errorf("left: %v", err)
	}
}

// Several questions go out at once, but not all that an answer may cause.
func TestNamesAreAskedForInParallel(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	var numbers []string
	var now, most atomic.Int32
	for i := 1; i <= 40; i++ {
		numbers = append(numbers, fmt.Sprint(i))
		text := fmt.Sprintf("%d | US | arin | 1990-08-03 | N%d", i, i)
		n.Handle(fmt.Sprintf("as%d.asn.cymru.com", i), func(q *dns.Msg) *dns.Msg {
			running := now.Add(1)
			defer now.Add(-1)
			for seen := most.Load(); running > seen && !most.CompareAndSwap(seen, running); seen = most.Load() {
			}
			time.Sleep(5 * time.Millisecond) // so that queries overlap: how many did is what is tested
			return message(q, text)
		})
	}
	serve(n, originV4, strings.Join(numbers, " ")+" | 216.90.108.0/24 | US | arin | ")
	got, err := client(t, n).Announcements(t.Context(), v4)
	if err != nil || len(got.Records) != 40 || got.Records[39].Name != "N40" {
		t.Fatalf("%+v, %v", got, err)
	}
	if most.Load() < 2 || most.Load() > 8 {
		t.Errorf("%d at once", most.Load())
	}
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestHopOrigins(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		txt("1.0.115.62.origin.asn.cymru.com", "1299 | 62.115.0.0/16 | EU | ripencc | 2000-01-01"),
		txt("9.0.115.62.origin.asn.cymru.com", "1 | 62.115.0.0/16 | EU | ripencc | 2000-01-01"), // never queried
		txt("1.1.115.62.origin.asn.cymru.com", "1299 | 62.115.0.0/16 | EU | ripencc | 2000-01-01"),
		txt("as1299.asn.cymru.com", "1299 | SE | ripencc | 1994-01-01 | TWELVE99 Arelion, SE"),
		txt("1.2.0.193.origin.asn.cymru.com", "3333 | 193.0.2.0/25 | NL | ripencc | "),
		txt("200.2.0.193.origin.asn.cymru.com", "4444 | 193.0.2.128/25 | NL | ripencc | "),
		txt(originV6, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"),
		txt("as15169.asn.cymru.com", "15169 | US | arin | 2000-03-30 | GOOGLE, US"),
	)
	serve(n, "1.9.115.62.origin.asn.cymru.com", "nonsense")
	c := client(t, n)
	hops := []netip.Addr{
		addr("62.115.0.1"), addr("62.115.1.1"), addr("193.0.2.1"), v6, addr("2001:4860:4860::1"), addr("62.115.9.1"),
		addr("198.41.0.4"),
	}
	if _, ok, err := c.Origin(t.Context(), hops[0]); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	if _, ok, err := c.Origin(t.Context(), v6); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	arelion := asn.Origin{ASN: 1299, Name: "TWELVE99 Arelion, SE", Prefix: netip.MustParsePrefix("62.115.0.0/16")}
	google := asn.Origin{ASN: 15169, Name: "GOOGLE, US", Prefix: netip.MustParsePrefix("2001:4860::/32")}
	want := map[netip.Addr]asn.Origin{
		addr("62.115.0.1"): arelion, addr("62.115.0.9"): arelion, addr("62.115.1.1"): arelion,
		// A block that is split after all: each address by itself.
		addr("193.0.2.1"):   {ASN: 3333, Prefix: netip.MustParsePrefix("193.0.2.0/25")},
		addr("193.0.2.200"): {ASN: 4444, Prefix: netip.MustParsePrefix("193.0.2.128/25")},
		v6:                  google, addr("2001:4860:4860::1"): google,
	}
	for range 2 {
		got := c.HopOrigins(t.Context(), append(hops, addr("62.115.0.9"), addr("193.0.2.200")))
		if diff := cmp.Diff(want, got, sameAddrs); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for name, times := range map[string]int{
		"1.0.115.62.origin.asn.cymru.com": 1, "9.0.115.62.origin.asn.cymru.com": 0, "1.1.115.62.origin.asn.cymru.com": 1, "as1299.asn.cymru.com": 1, originV6: 1,
	} {
		if asked := n.QueriesFor(name, dns.TypeTXT); asked != times {
			t.Errorf("%s: %d questions, want %d", name, asked, times)
		}
	}
	if got := c.HopOrigins(t.Context(), nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// A block is kept no longer than the lookup that it came from.
func TestBlocksExpireWithTheirLookup(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(txt(originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	store, pass := memory(t)
	c := asn.New(n.Client(nil), "", store)
	if _, ok, err := c.Origin(t.Context(), v4); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	pass(asn.KeepFor)
	if _, ok, err := c.Origin(t.Context(), v4); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	if asked := n.QueriesFor(originV4, dns.TypeTXT); asked != 2 {
		t.Errorf("%d questions", asked)
	}
}

func TestNothingIsDialledButTheResolver(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(txt(originV4, "23028 | 216.90.108.0/24 | US | arin | 1998-09-25"))
	if _, err := client(t, n).Announcements(t.Context(), v4); err != nil || len(n.Dials()) != 0 {
		t.Errorf("%v, %v", err, n.Dials())
	}
}
