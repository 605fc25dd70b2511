package addresslimit

import (
	"net/netip"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
)

// The clients of one place have at most half of an address; other clients have the rest.
func TestAPlaceHasHalfOfAnAddress(t *testing.T) {
	t.Parallel()
	const requests = 20
	l := New(ratelimit.NewMemory(), requests, time.Hour)
	to := netip.MustParseAddrPort("192.0.2.1:443")
	allowed := func(place string) (n int, last error) {
		for i := range requests {
			ctx, _ := Begin(tool.WithCaller(t.Context(), tool.Caller{Client: place + "/" + string(rune('a'+i)), Place: place}))
			if last = l.Allow(ctx, to); last == nil {
				n++
			}
		}
		return n, last
	}
	n, err := allowed("fra")
	if n != requests/2 || !fault.Is(err, fault.Limited) {
		t.Errorf("fra: %d, %v", n, err)
	}
	if n, _ := allowed(""); n != requests/2 {
		t.Errorf("clients of this place: %d", n)
	}
}
