package dnsclient_test

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/cache/clocktest"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
)

// Ages and TTLs go by the time that has passed, and not by a wall clock that is set meanwhile.
func TestAgesWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		n := egresstest.New(t)
		n.Records("example.com. 50 IN A 93.184.216.34")
		clock := clocktest.New()
		c := newClient(t, n, brisk, func(s *dnsclient.Settings) { s.Now = clock.Now })
		c.Query(t.Context(), "example.com", dns.TypeA)
		clock.Step(step)
		clock.Pass(20 * time.Second)
		if a := c.Query(t.Context(), "example.com", dns.TypeA); !a.Cached || a.Age != 20*time.Second || a.TTL != 30 {
			t.Errorf("set by %v: %+v", step, a)
		}
		clock.Pass(30 * time.Second)
		if a := c.Query(t.Context(), "example.com", dns.TypeA); a.Cached || a.TTL != 50 {
			t.Errorf("set by %v, past its time: %+v", step, a)
		}
	}
}
