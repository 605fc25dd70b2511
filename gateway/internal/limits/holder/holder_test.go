package holder_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/holder"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/limits/shares"
	"diagnostics/gateway/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buckets are token buckets as the gateway has them.
type buckets struct{ *ratelimit.Memory }

func (b buckets) Take(ctx context.Context, key string, size int, every time.Duration) (bool, time.Duration, error) {
	d, err := b.Memory.Take(ctx, ratelimit.Stage{{
		Key: key, Limit: ratelimit.Limit{Requests: size, Window: time.Duration(size) * every},
	}})
	if !d.Allowed {
		return false, d.RetryAfter, err
	}
	return true, d.ResetAfter, err
}

// caller is a client as the edge gives it to a run.
func caller(id clientip.Identity) tool.Caller {
	c := tool.Caller{Client: id.LimitKey(), Place: id.OfPlace()}
	if networks := id.Networks(); len(networks) > 0 {
		c.Network = networks[len(networks)-1].Key
	}
	return c
}

// shared are all that instances divide among clients: take takes one unit of a fresh one for a client and keeps it. The
// worker's slots are another module's (worker/internal/httpapi, TestSharesOfTheSlots).
var shared = map[string]func() (take func(context.Context, clientip.Identity) error){
	"slots": func() func(context.Context, clientip.Identity) error {
		s := shares.NewSlots(units, 2)
		return func(_ context.Context, id clientip.Identity) error {
			_, err := s.Acquire(id.Holders())
			return err
		}
	},
	"memory": func() func(context.Context, clientip.Identity) error {
		m := shares.NewMemory(units<<10, 4<<10)
		return func(_ context.Context, id clientip.Identity) error {
			return m.Acquire(id.Holders()).Grow(shares.Uncounted + 1<<10)
		}
	},
	"pace of a registry": func() func(context.Context, clientip.Identity) error {
		l := pace.New(buckets{ratelimit.NewMemory()})
		return func(ctx context.Context, id clientip.Identity) error {
			return l.Wait(ctx, "registry", pace.Pace{Burst: units - pace.MaxWaiting, Every: 100 * time.Millisecond}, caller(id))
		}
	},
	"target": func() func(context.Context, clientip.Identity) error {
		l := requests.New(ratelimit.NewMemory(), requests.Limits{Target: perHour(units)})
		return func(ctx context.Context, id clientip.Identity) error {
			_, err := l.AllowRun(ctx, id, "uptime", "example.com", 0)
			return err
		}
	},
	"target, further requests": func() func(context.Context, clientip.Identity) error {
		l := requests.New(ratelimit.NewMemory(), requests.Limits{Target: perHour(units)})
		return func(ctx context.Context, id clientip.Identity) error { return l.Extra(id, "example.com").Allow(ctx, 1) }
	},
	"address": func() func(context.Context, clientip.Identity) error {
		l := addresslimit.New(ratelimit.NewMemory(), units, time.Hour)
		return func(ctx context.Context, id clientip.Identity) error {
			ctx, _ = addresslimit.Begin(tool.WithCaller(ctx, caller(id)))
			return l.Allow(ctx, netip.MustParseAddrPort("192.0.2.1:443"))
		}
	},
}

const units = 40 // of each, in all

func perHour(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: time.Hour} }

// A place that names a new client and a new network for each request has half of every share. Clients of this instance
// have the rest.
func TestAPlaceWithEndlessClients(t *testing.T) {
	t.Parallel()
	for name, fresh := range shared {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				take := fresh()
				granted := func(n int, who func(i int) clientip.Identity) (got int, last error) {
					results := make(chan error, n)
					for i := range n {
						go func() { results <- take(t.Context(), who(i)) }()
						synctest.Wait() // a registry's token may come later; it is reserved now
					}
					for range n {
						if err := <-results; err == nil {
							got++
						} else {
							last = err
						}
					}
					return got, last
				}
				got, err := granted(20*units, func(i int) clientip.Identity {
					return clientip.Identity{Place: &clientip.PlaceClient{
						Place: "fra", Client: fmt.Sprintf("c%d", i), Group: fmt.Sprintf("g%d", i)}}
				})
				if got != units/2 || !fault.Is(err, fault.Busy) && !fault.Is(err, fault.Limited) {
					t.Errorf("the place gets %d of %d: %v", got, units, err)
				}
				got, _ = granted(units/2, func(i int) clientip.Identity {
					return clientip.Identity{Peer: netip.AddrFrom4([4]byte{11, 0, byte(i), 1})}
				})
				if got != units/2 {
					t.Errorf("others get %d of the other %d", got, units/2)
				}
			})
		})
	}
}

// What another place sends for a client of this one counts for both.
func TestAt(t *testing.T) {
	t.Parallel()
	id := clientip.Identity{Peer: netip.MustParseAddr("2001:db8:1:2::3")}
	want := "[{0 2001:db8:1:2::/64 1} {1 2001:db8:1::/56 4} {1 2001:db8:1::/48 16} {2 place fra 0}]"
	if got := fmt.Sprint(id.Holders().At("fra")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(holder.Of(caller(id))); got != "[{0 2001:db8:1:2::/64 1} {1 2001:db8:1::/48 16}]" {
		t.Error(got)
	}
}
