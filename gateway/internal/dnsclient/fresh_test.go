package dnsclient_test

import (
	"context"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestFreshQueriesPassTheCache(t *testing.T) {
	t.Parallel()
	const server = "9.9.9.9:53"
	for name, ask := range map[string]struct {
		kept, fresh func(context.Context, *dnsclient.Client) dnsclient.Answer
	}{
		"the operator's resolvers": {
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.Query(ctx, "example.com", dns.TypeA)
			},
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryFresh(ctx, "example.com", dns.TypeA)
			},
		},
		"one server": {
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryServer(ctx, netip.MustParseAddrPort(server), "example.com", dns.TypeA)
			},
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryServerFresh(ctx, netip.MustParseAddrPort(server), "example.com", dns.TypeA)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			answers := make(chan string, 2)
			answers <- "example.com. 300 IN A 93.184.216.34"
			answers <- "example.com. 300 IN A 93.184.216.35"
			script := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeSuccess, <-answers) }
			n.Handle("example.com", script)
			n.NameServer(server).Handle("example.com", script)
			c := newClient(t, n)
			ask.kept(t.Context(), c)
			want := []string{"example.com. 300 IN A 93.184.216.35"}
			fresh := ask.fresh(t.Context(), c)
			if diff := cmp.Diff(want, texts(fresh.Records)); diff != "" || fresh.Cached || fresh.Duration <= 0 {
				t.Errorf("fresh: %+v %s", fresh, diff)
			}
			fresh.Records[0].Header().Ttl = 7 // what the caller does to its records is nobody else's business
			if after := ask.kept(t.Context(), c); !after.Cached || after.TTL != 300 ||
				after.Records[0].(*dns.A).A.String() != "93.184.216.35" {
				t.Errorf("kept afterwards: %+v", after)
			}
		})
	}
}

func TestFreshQueriesEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("silent.example.com", func(*dns.Msg) *dns.Msg { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := newClient(t, n).QueryFresh(ctx, "silent.example.com", dns.TypeA); a.Code != dnsclient.CodeTimeout {
		t.Errorf("a caller that has left: %+v", a)
	}
}
