package dnsclient_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/memory"

	"github.com/miekg/dns"
)

// A large answer counts for the run that asked, as what came and what is kept of it; a small one, and one from the
// cache, as its copies alone.
func TestAnswersAreCounted(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	long := strings.Repeat(strings.Repeat("x", 60)+".", 4)
	for i := range 150 {
		n.Records(fmt.Sprintf("large.example.com. 300 IN NS n%d.%s", i, long))
	}
	n.Records("small.example.com. 300 IN A 93.184.216.34")
	c := newClient(t, n)
	ask := func(name string, qtype uint16) int {
		var counted atomic.Int64
		ctx := memory.WithCounter(t.Context(), func(bytes int) { counted.Add(int64(bytes)) })
		if a := c.Query(ctx, name, qtype); a.Code != "" {
			t.Fatalf("%s: %s", name, a.Code)
		}
		return int(counted.Load())
	}
	const copies = 150 * 96
	if got := ask("large.example.com", dns.TypeNS); got < 150*(len(long)+96)+copies || got > 150*3*(len(long)+96)+copies {
		t.Errorf("a large answer counts as %d bytes", got)
	}
	if got := ask("large.example.com", dns.TypeNS); got != copies {
		t.Errorf("one from the cache counts as %d bytes", got)
	}
	if got := ask("small.example.com", dns.TypeA); got > 1000 {
		t.Errorf("a small answer counts as %d bytes", got)
	}
}
