package dnsclient_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// A large answer counts for every run that requested it, whichever run began the lookup and wherever it came from: each
// keeps it in memory for as long as it goes on. A small one counts as its copies alone.
func TestAnswersAreCounted(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	long := strings.Repeat(strings.Repeat("x", 60)+".", 4)
	for i := range 150 {
		n.Records(fmt.Sprintf("large.example.com. 300 IN NS n%d.%s", i, long))
	}
	n.Records("small.example.com. 300 IN A 93.184.216.34")
	c := newClient(t, n)
	server := netip.MustParseAddrPort("9.9.9.9:53")
	n.NameServer(server.String()).HandleRaw("large.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		m := n.Recursive(q)
		if m.Truncated = w.LocalAddr().Network() == "udp"; m.Truncated {
			m.Answer = nil
		}
		_ = w.WriteMsg(m)
	})
	ask := func(query func(context.Context, string, uint16) dnsclient.Answer, name string, qtype uint16) int {
		var counted atomic.Int64
		ctx := memory.WithCounter(t.Context(), func(bytes int) { counted.Add(int64(bytes)) })
		if a := query(ctx, name, qtype); a.Code != "" {
			t.Errorf("%s: %s", name, a.Code)
		}
		return int(counted.Load())
	}
	var first, joined *parallel.Pending[int]
	first = parallel.Start(func() int { return ask(c.Query, "large.example.com", dns.TypeNS) })
	joined = parallel.Start(func() int { return ask(c.Query, "large.example.com", dns.TypeNS) })
	const copies = 150 * 96
	for way, got := range map[string]int{
		"the first":      first.Wait(),
		"one beside it":  joined.Wait(),
		"from the cache": ask(c.Query, "large.example.com", dns.TypeNS),
		"fresh":          ask(c.QueryFresh, "large.example.com", dns.TypeNS),
		"fresh of a server": ask(func(ctx context.Context, name string, qtype uint16) dnsclient.Answer {
			return c.QueryServerFresh(ctx, server, name, qtype)
		}, "large.example.com", dns.TypeNS),
	} {
		if got < 150*(len(long)+96)+copies || got > 150*3*(len(long)+96)+copies {
			t.Errorf("%s: a large answer counts as %d bytes", way, got)
		}
	}
	if got := ask(c.Query, "small.example.com", dns.TypeA); got > 1000 {
		t.Errorf("a small answer counts as %d bytes", got)
	}
}
