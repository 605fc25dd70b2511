package egress_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// The addresses of a message are judged and charged by what the server is for.
func TestExchange(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("93.184.216.53"), netip.MustParseAddr("10.0.0.53")
	for name, c := range map[string]struct {
		to      egress.NameServer
		kind    fault.Kind // of the refusal, 0 where the server answers
		charged int
	}{
		"a domain's own":                      {egress.NameServer{Name: "ns.example.com", Address: public}, 0, 1},
		"of a top-level zone":                 {egress.NameServer{Address: public, Uncharged: true}, 0, 0},
		"of the hints file":                   {egress.NameServer{Address: private, Uncharged: true}, 0, 0},
		"a domain's own, in the hints file":   {egress.NameServer{Address: private}, fault.Refused, 0},
		"of a top-level zone, private":        {egress.NameServer{Address: netip.MustParseAddr("10.0.0.54"), Uncharged: true}, fault.Refused, 0},
		"with a name that is denied":          {egress.NameServer{Name: "ns.denied.com", Address: public}, fault.Refused, 0},
		"at an address that is denied":        {egress.NameServer{Address: netip.MustParseAddr("93.184.217.1")}, fault.Refused, 0},
		"of a top-level zone, address denied": {egress.NameServer{Address: netip.MustParseAddr("93.184.217.1"), Uncharged: true}, fault.Refused, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.ZoneServer([]string{public.String(), private.String()}, "example.com. IN SOA ns hostmaster 1 2 3 4 5\n")
			charged := 0
			client := n.Client(func(s *egress.Settings) {
				s.RootServers = []netip.Addr{private}
				s.Deny, _ = target.ParseDenylist("denied.com,93.184.217.0/24")
				s.Charge = func(context.Context, netip.AddrPort) error { charged++; return nil }
			})
			for _, transport := range []string{"udp", "tcp"} {
				got, err := client.Exchange(t.Context(), c.to, transport, new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA))
				switch {
				case c.kind != 0:
					if !fault.Is(err, c.kind) {
						t.Errorf("%s: %v", transport, err)
					}
				case err != nil || len(got.Answer) != 1 || !got.Authoritative || got.Took <= 0 || got.Cut:
					t.Errorf("%s: %+v, %v", transport, got, err)
				}
			}
			if charged != 2*c.charged {
				t.Errorf("charged %d times for two messages", charged)
			}
			if c.kind != 0 && len(n.Dials()) != 0 {
				t.Errorf("dialled %v", n.Dials())
			}
		})
	}
}

func TestExchangeFailures(t *testing.T) {
	t.Parallel()
	const address = "93.184.216.53"
	server := egress.NameServer{Address: netip.MustParseAddr(address)}
	for name, c := range map[string]struct {
		answer func(q *dns.Msg) *dns.Msg
		code   string
	}{
		"another id":       {func(q *dns.Msg) *dns.Msg { m := new(dns.Msg).SetReply(q); m.Id++; return m }, dnsclient.CodeTimeout},
		"another question": {func(*dns.Msg) *dns.Msg { return new(dns.Msg).SetReply(new(dns.Msg).SetQuestion("x.com.", 1)) }, dnsclient.CodeTimeout},
		"silence":          {func(*dns.Msg) *dns.Msg { return nil }, dnsclient.CodeTimeout},
		"nobody":           {nil, dnsclient.CodeConnRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			if c.answer != nil {
				n.NameServer(address+":53").Handle("example.com", c.answer)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := n.Client(nil).Exchange(ctx, server, "udp", new(dns.Msg).SetQuestion("example.com.", dns.TypeA))
			if err == nil || dnsclient.CodeOf(err) != c.code {
				t.Errorf("%v", err)
			}
		})
	}
}

// A long message is kept in part, with its OPT record.
func TestExchangeOfALongMessage(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.NameServer("93.184.216.53:53").Handle("example.com", func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		m.Compress = true
		for range 2000 {
			rr, _ := dns.NewRR("example.com. IN NS ns.example.com.")
			m.Answer = append(m.Answer, rr)
		}
		m.SetEdns0(1232, true)
		return m
	})
	server := egress.NameServer{Address: netip.MustParseAddr("93.184.216.53")}
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeNS)
	got, err := n.Client(nil).Exchange(t.Context(), server, "tcp", query)
	if err != nil || !got.Cut || len(got.Answer) == 0 || len(got.Answer) > 400 || got.IsEdns0() == nil {
		t.Errorf("%d records, cut %t, %v", len(got.Answer), got.Cut, err)
	}
}

func TestPermitAlias(t *testing.T) {
	t.Parallel()
	client := egresstest.New(t).Client(func(s *egress.Settings) { s.Deny, _ = target.ParseDenylist("denied.com") })
	for name, ok := range map[string]bool{
		"www.example.com": true, "_x.example.com": true, "db.internal": false, "x.denied.com": false, "localhost": false,
	} {
		err := client.PermitAlias(name)
		var refused *fault.Error
		if (err == nil) != ok || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
