package dnsresolvercheck

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// ownNetwork has a zone example.com with so many name servers, ns1 at 93.184.216.1 and so on.
func ownNetwork(t *testing.T, servers int) (*egresstest.Network, []*egresstest.Resolver) {
	t.Helper()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN SOA ns1.example.net. hostmaster.example.com. 1 2 3 4 5",
		"www.example.com. 300 IN A 93.184.216.34", "alias.example.com. 300 IN CNAME www.example.net.")
	own := make([]*egresstest.Resolver, servers)
	for i := range own {
		n.Records(fmt.Sprintf("example.com. 300 IN NS NS%d.example.net.", i+1),
			fmt.Sprintf("ns%d.example.net. 300 IN A 93.184.216.%d", i+1, i+1))
		own[i] = n.NameServer(fmt.Sprintf("93.184.216.%d:53", i+1))
		own[i].Records("example.com. 300 IN SOA ns1.example.net. hostmaster.example.com. 1 2 3 4 5",
			"www.example.com. 300 IN A 93.184.216.34")
	}
	return n, own
}

func askOwn(t *testing.T, client *egress.Client, name, recordType string) *authority {
	t.Helper()
	domain, err := target.ParseDomain(name, true)
	if err != nil {
		t.Fatal(err)
	}
	return query{domain, recordType}.askAuthority(t.Context(), client)
}

// answers is what the tests of this file look at: "name address outcome code values alias" a server.
func answers(a *authority) []string {
	if a == nil {
		return nil
	}
	var lines []string
	for _, s := range a.Servers {
		text := func(p *string) string {
			if p == nil {
				return "-"
			}
			return *p
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %v %s", s.Name, text(s.Address), s.Outcome, text(s.ErrorCode),
			s.Values, text(s.Alias)))
		if (s.Reason != nil) != (s.Outcome == outcomeError) || s.Reason != nil && *s.Reason == "" {
			lines = append(lines, "an error and a reason go together")
		}
	}
	return lines
}

func TestAuthorityOfNames(t *testing.T) {
	t.Parallel()
	const first, second = "ns1.example.net 93.184.216.1 ", "ns2.example.net 93.184.216.2 "
	for name, test := range map[string]struct {
		name, recordType string
		own              func(r *egresstest.Resolver)
		each             string // what both servers answer; empty where none is to be found
	}{
		"a name in the zone":    {"www.example.com", "A", nil, "answer - [93.184.216.34] -"},
		"the zone itself":       {"example.com", "A", nil, "nodata - [] -"},
		"no such type":          {"www.example.com", "MX", nil, "nodata - [] -"},
		"no such name":          {"a.b.c.example.com", "A", nil, "nxdomain - [] -"},
		"an unregistered name":  {"unregistered.com", "A", nil, ""},
		"below a public suffix": {"unregistered.co.uk", "A", nil, ""},
		"an alias beyond the zone": {"alias.example.com", "A", func(r *egresstest.Resolver) {
			r.Records("alias.example.com. 300 IN CNAME www.example.net.")
		}, "answer - [] www.example.net"},
		"and what the server claims is there": {"alias.example.com", "A", func(r *egresstest.Resolver) {
			r.Records("alias.example.com. 300 IN CNAME www.example.net.", "www.example.net. 300 IN A 93.184.216.99")
		}, "answer - [] www.example.net"},
		"an alias within the zone": {"alias.example.com", "A", func(r *egresstest.Resolver) {
			r.Records("alias.example.com. 300 IN CNAME www.example.com.")
		}, "answer - [93.184.216.34] -"},
		"to a name that is not there": {"alias.example.com", "A", func(r *egresstest.Resolver) {
			r.Records("alias.example.com. 300 IN CNAME gone.example.com.")
		}, "nxdomain - [] -"},
		"into a zone below": {"alias.example.com", "A", func(r *egresstest.Resolver) {
			r.Handle("alias.example.com", func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetReply(q)
				m.Authoritative = true
				m.Answer = []dns.RR{rr("alias.example.com. 300 IN CNAME www.below.example.com.")}
				m.Ns = []dns.RR{rr("below.example.com. 300 IN NS ns.below.example.com.")}
				return m
			})
		}, "answer - [] www.below.example.com"},
		"the alias itself": {"alias.example.com", "CNAME", func(r *egresstest.Resolver) {
			r.Records("alias.example.com. 300 IN CNAME www.example.net.")
		}, "answer - [www.example.net] -"},
		"not theirs":      {"www.example.com", "A", answering(dns.RcodeSuccess, false), "error ELAME [] -"},
		"denied by heart": {"www.example.com", "A", answering(dns.RcodeNameError, false), "error ELAME [] -"},
		"refused":         {"www.example.com", "A", answering(dns.RcodeRefused, false), "error EREFUSED [] -"},
		"failing":         {"www.example.com", "A", answering(dns.RcodeServerFailure, true), "error ESERVFAIL [] -"},
		"another question": {"www.example.com", "A", func(r *egresstest.Resolver) {
			r.Handle("www.example.com", func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetReply(q)
				m.Question[0].Name, m.Authoritative, m.Rcode = "other.example.com.", true, dns.RcodeNameError
				return m
			})
		}, "error ETIMEOUT [] -"},
		"over TCP": {"www.example.com", "A", func(r *egresstest.Resolver) {
			r.HandleRaw("www.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
				m := r.Recursive(q)
				if w.LocalAddr().Network() == "udp" {
					m.Truncated, m.Answer = true, nil
				}
				_ = w.WriteMsg(m)
			})
		}, "answer - [93.184.216.34] -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, own := ownNetwork(t, 2)
			for _, server := range own {
				if test.own != nil {
					test.own(server)
				}
			}
			var want []string
			if test.each != "" {
				want = []string{first + test.each, second + test.each}
			}
			if diff := cmp.Diff(want, answers(askOwn(t, n.Client(nil), test.name, test.recordType))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func rr(line string) dns.RR {
	record, err := dns.NewRR(line)
	if err != nil {
		panic(err)
	}
	return record
}

func answering(rcode int, authoritative bool) func(r *egresstest.Resolver) {
	return func(r *egresstest.Resolver) {
		r.Handle("www.example.com", func(q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetRcode(q, rcode)
			m.Authoritative = authoritative
			return m
		})
	}
}

// Servers that are not to be queried are not, and no address of theirs is reported.
func TestAuthorityThatIsNotAsked(t *testing.T) {
	t.Parallel()
	limited := func(s *egress.Settings) {
		s.Charge = func(context.Context, netip.AddrPort) error {
			return fault.LimitedFor(time.Second, "ADDRESS_SHARE_USED")
		}
	}
	denied := func(s *egress.Settings) {
		var err error
		if s.Deny, err = target.ParseDenylist("93.184.216.0/24"); err != nil {
			t.Error(err)
		}
	}
	own := egress.WithOwnAddresses(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("93.184.216.1")} })
	for name, test := range map[string]struct {
		server   string // the name server, and the resolver's answer for it
		records  []string
		settings func(*egress.Settings)
		options  []egress.Option
		reason   string
	}{
		"a private address":     {"ns.example.net.", []string{"ns.example.net. 60 IN A 10.1.2.3"}, nil, nil, "Its address is not public, or this service may not query it."},
		"a private one beside":  {"ns.example.net.", []string{"ns.example.net. 60 IN A 10.1.2.3", "ns.example.net. 60 IN A 93.184.216.1"}, nil, nil, "Its address is not public, or this service may not query it."},
		"this host's own":       {"ns.example.net.", []string{"ns.example.net. 60 IN A 93.184.216.1"}, nil, []egress.Option{own}, "Its address is not public, or this service may not query it."},
		"denied":                {"ns.example.net.", []string{"ns.example.net. 60 IN A 93.184.216.1"}, denied, nil, "Its address is not public, or this service may not query it."},
		"no address":            {"ns.example.net.", nil, nil, nil, "It has no address."},
		"a private name":        {"ns.internal.", nil, nil, nil, "Its name is not a public hostname."},
		"no hostname":           {"a_b.", nil, nil, nil, "Its name is not a public hostname."},
		"an address for a name": {"93.184.216.1.", nil, nil, nil, "Its name is not a public hostname."},
		"the root for a name":   {".", nil, nil, nil, "Its name is not a public hostname."},
		"a limit":               {"ns.example.net.", []string{"ns.example.net. 60 IN A 93.184.216.1"}, limited, nil, "Too many of your requests went to this server's address. Try again in 1 second."},
		"another family": {"ns.example.net.", []string{"ns.example.net. 60 IN AAAA 2606:2800::1"}, nil,
			[]egress.Option{egress.WithFamilies(egress.Families{V4: true})},
			"This service has no connection for its address family."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("example.com. 300 IN NS " + test.server)
			n.Records(test.records...)
			n.NameServer("93.184.216.1:53").Records("example.com. 300 IN A 93.184.216.34")
			a := askOwn(t, n.Client(test.settings, test.options...), "example.com", "A")
			if a == nil || len(a.Servers) != 1 || a.Agreed {
				t.Fatalf("%+v", a)
			}
			s := a.Servers[0]
			if s.Outcome != outcomeError || s.Address != nil || s.ErrorCode != nil || s.Reason == nil ||
				*s.Reason != test.reason {
				t.Errorf("%v: reason %v", answers(a), *s.Reason)
			}
			if dials := n.Dials(); len(dials) > 0 {
				t.Errorf("dialled %v", dials)
			}
		})
	}
}

// Of many servers three are queried, at one address each, and each address is charged once.
func TestAuthorityIsBounded(t *testing.T) {
	t.Parallel()
	n, _ := ownNetwork(t, 8)
	for i := range 8 {
		n.Records(fmt.Sprintf("ns%d.example.net. 300 IN A 93.184.217.%d", i+1, i+1),
			fmt.Sprintf("ns%d.example.net. 300 IN AAAA 2606:2800::%d", i+1, i+1))
	}
	var mu sync.Mutex
	var charged []string
	client := n.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			mu.Lock()
			defer mu.Unlock()
			charged = append(charged, to.String())
			return nil
		}
	})
	a := askOwn(t, client, "www.example.com", "A")
	if len(a.Servers) != maxServers || !a.Agreed || !slices.Equal(a.Values, []string{"93.184.216.34"}) || *a.TTL != 300 {
		t.Errorf("%+v", a)
	}
	var dials []string
	for _, to := range n.Dials() {
		dials = append(dials, to.String())
	}
	slices.Sort(dials)
	slices.Sort(charged)
	want := []string{"93.184.216.1:53", "93.184.216.2:53", "93.184.216.3:53"}
	if !slices.Equal(dials, want) || !slices.Equal(charged, want) {
		t.Errorf("dialled %v, charged %v, want %v", dials, charged, want)
	}
	if asked := len(n.Queries()); asked != 3+2*maxServers { // two names and com, two families of each server
		t.Errorf("the operator's resolver was asked %d times", asked)
	}
}

// The questions have neither RD nor DO set, and those for the servers have CD set: a zone whose signatures fail has
// servers all the same.
func TestAuthorityQuestions(t *testing.T) {
	t.Parallel()
	n, own := ownNetwork(t, 1)
	var mu sync.Mutex
	seen := map[string]bool{}
	look := func(r *egresstest.Resolver, who, name string) {
		r.Handle(name, func(q *dns.Msg) *dns.Msg {
			mu.Lock()
			defer mu.Unlock()
			seen[fmt.Sprintf("%s %s rd=%t cd=%t do=%t", who, name, q.RecursionDesired, q.CheckingDisabled,
				q.IsEdns0().Do())] = true
			return r.Recursive(q)
		})
	}
	look(n.Resolver, "resolver", "example.com")
	look(n.Resolver, "resolver", "ns1.example.net")
	look(own[0], "server", "example.com")
	askOwn(t, n.Client(nil), "example.com", "MX")
	want := map[string]bool{"resolver example.com rd=true cd=true do=false": true,
		"resolver ns1.example.net rd=true cd=true do=false": true, "server example.com rd=false cd=false do=false": true}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// A server that is silent, or cannot be reached, ends as an error of its own within the time, and changes no status.
func TestAuthorityThatFails(t *testing.T) {
	t.Parallel()
	n, _ := ownNetwork(t, 3)
	n.Drop("93.184.216.1:53")
	n.Fail("93.184.216.2:53", syscall.ECONNREFUSED)
	for _, resolver := range publicResolvers {
		n.NameServer(resolver.server.String()).Records("www.example.com. 300 IN A 93.184.216.34")
	}
	domain, err := target.ParseDomain("www.example.com", true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := query{domain, "A"}.run(t.Context(), n.Client(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ns1.example.net 93.184.216.1 error ETIMEOUT [] -",
		"ns2.example.net 93.184.216.2 error ECONNREFUSED [] -",
		"ns3.example.net 93.184.216.3 answer - [93.184.216.34] -"}
	if diff := cmp.Diff(want, answers(r.Authoritative)); diff != "" {
		t.Error(diff)
	}
	if r.Status != statusAgree || !strings.HasSuffix(r.Summary, "The domain's own servers say the same.") {
		t.Errorf("%s: %s", r.Status, r.Summary)
	}
}

// A resolver that fails, or has no name servers, leaves nothing to report.
func TestAuthorityThatIsNotFound(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(q *dns.Msg) *dns.Msg{
		"it fails":   func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) },
		"it refuses": func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeRefused) },
		"a zone that is not above": func(q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetReply(q)
			m.Ns = []dns.RR{rr("www.example.com. 300 IN SOA ns. host. 1 2 3 4 5")}
			return m
		},
		"an alias": func(q *dns.Msg) *dns.Msg {
			m := new(dns.Msg).SetReply(q)
			m.Answer = []dns.RR{rr("www.example.com. 300 IN CNAME example.net."), rr("example.net. 300 IN NS ns1.example.net.")}
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("www.example.com", answer)
			if a := askOwn(t, n.Client(nil), "www.example.com", "A"); a != nil {
				t.Errorf("%+v", a)
			}
			if dials := n.Dials(); len(dials) > 0 {
				t.Errorf("dialled %v", dials)
			}
		})
	}
}

// Where the resolver fails for a name, the servers of the zone above it are queried; one that refers to a zone below
// shows that they are not the name's own.
func TestAuthorityOfTheZoneAbove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer func(r *egresstest.Resolver)
		found  bool
	}{
		"its own": {func(*egresstest.Resolver) {}, true},
		"of a zone below": {func(r *egresstest.Resolver) {
			r.Handle("www.example.com", func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetReply(q)
				m.Ns = []dns.RR{rr("www.example.com. 300 IN NS ns.example.org.")}
				return m
			})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, own := ownNetwork(t, 1)
			n.Handle("www.example.com", func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) })
			test.answer(own[0])
			if a := askOwn(t, n.Client(nil), "www.example.com", "A"); (a != nil) != test.found {
				t.Errorf("%v", answers(a))
			}
		})
	}
}

// Whatever the resolver says of zones, the search ends.
func FuzzZone(f *testing.F) {
	f.Add("www.example.com", "example.com.", false)
	f.Add("a.b.example.co.uk", ".", true)
	f.Add("a.b", "a.b.", false)
	f.Fuzz(func(t *testing.T, name, apex string, aliased bool) {
		soa := &dns.SOA{Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET}}
		answer := dnsclient.Answer{Authority: []dns.RR{soa}}
		for range len(name) + 1 {
			next := above(name, answer, aliased)
			if next == "" {
				return
			}
			if len(next) >= len(name) || !strings.HasSuffix(name, "."+next) {
				t.Fatalf("%q is not above %q", next, name)
			}
			name = next
		}
		t.Fatal("no end")
	})
}
