package shares

import (
	"fmt"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/holder"
)

func client(addr string) holder.List {
	return clientip.Identity{Peer: netip.MustParseAddr(addr)}.Holders()
}

// A client has its share, a /56 four and a /48 sixteen; zero lifts all three.
func TestSharesOfNetworks(t *testing.T) {
	t.Parallel()
	type step struct {
		addr string
		full scope
	}
	tests := []struct {
		name                 string
		all, perClient, most int64
		taken                map[string]int // by address
		steps                []step
	}{
		{"an IPv4 address is alone", 100, 2, 100, map[string]int{"192.0.2.1": 2},
			[]step{{"192.0.2.1", scopeClient}, {"192.0.2.2", scopeNone}}},
		{"one /64", 100, 2, 100, map[string]int{"2001:db8::1": 1},
			[]step{{"2001:db8::2", scopeNone}, {"2001:db8::3", scopeClient}, {"2001:db8:0:1::1", scopeNone}}},
		{"one /56", 100, 2, 100,
			map[string]int{"2001:db8::1": 2, "2001:db8:0:1::1": 2, "2001:db8:0:2::1": 2, "2001:db8:0:ff::1": 1},
			[]step{{"2001:db8:0:a::1", scopeNone}, {"2001:db8:0:b::1", scopeNetwork}, {"2001:db8:0:100::1", scopeNone}}},
		{"one /48", 100, 1, 100,
			map[string]int{"2001:db8:0:100::1": 1, "2001:db8:0:101::1": 1, "2001:db8:0:102::1": 1, "2001:db8:0:103::1": 1,
				"2001:db8:0:200::1": 1, "2001:db8:0:201::1": 1, "2001:db8:0:202::1": 1, "2001:db8:0:203::1": 1,
				"2001:db8:0:300::1": 1, "2001:db8:0:301::1": 1, "2001:db8:0:302::1": 1, "2001:db8:0:303::1": 1,
				"2001:db8:0:400::1": 1, "2001:db8:0:401::1": 1, "2001:db8:0:402::1": 1},
			[]step{{"2001:db8::1", scopeNone}, {"2001:db8:0:500::1", scopeNetwork}, {"2001:db8:1::1", scopeNone}}},
		{"no network has more than the most", 8, 2, 4, map[string]int{"2001:db8::1": 2, "2001:db8:0:1::1": 1},
			[]step{{"2001:db8:0:2::1", scopeNone}, {"2001:db8:0:3::1", scopeNetwork}, {"192.0.2.1", scopeNone}}},
		{"the instance", 3, 2, 3, map[string]int{"192.0.2.1": 2},
			[]step{{"192.0.2.2", scopeNone}, {"192.0.2.3", scopeInstance}, {"192.0.2.1", scopeClient}}},
		{"zero lifts the limits of clients and networks", 6, 0, 1, map[string]int{"2001:db8::1": 5},
			[]step{{"2001:db8::1", scopeNone}, {"2001:db8::1", scopeInstance}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShares(tt.all, tt.perClient, tt.most)
			for addr, n := range tt.taken {
				for range n {
					if full := s.take(client(addr), 1, 1); full != scopeNone {
						t.Fatalf("%s: %d", addr, full)
					}
				}
			}
			for _, step := range tt.steps {
				if full := s.take(client(step.addr), 1, 1); full != step.full {
					t.Errorf("%s: %d, want %d", step.addr, full, step.full)
				}
				if step.full == scopeNone {
					defer s.give(client(step.addr), 1)
				}
			}
		})
	}
}

// Both sides of each bound on bytes; what a request holds at most counts once, whatever it was before.
func TestMemory(t *testing.T) {
	t.Parallel()
	account := NewMemory(800, 100)
	open := func(addr string) *MemoryLease { return account.Acquire(client(addr)) }
	kind := func(err error) fault.Kind {
		for _, k := range []fault.Kind{fault.Limited, fault.Busy} {
			if fault.Is(err, k) {
				return k
			}
		}
		return 0
	}
	want := func(what string, err error, k fault.Kind, total int64) {
		t.Helper()
		if kind(err) != k || account.Total() != total {
			t.Errorf("%s: %v, %d bytes; want kind %d, %d bytes", what, err, account.Total(), k, total)
		}
	}
	a := open("192.0.2.1")
	want("what is small", a.Become(Uncounted), 0, 0)
	want("one byte more", a.Become(Uncounted+1), 0, 1)
	want("a client's share", a.Become(Uncounted+100), 0, 100)
	want("one byte over it", a.Become(Uncounted+101), fault.Limited, 100)
	b := open("192.0.2.1")
	if b.Fits(Uncounted + 1) {
		t.Error("what can be left out has no second share")
	}
	want("a run may go over it for a moment", b.Grow(Uncounted+100), 0, 200)
	want("but not over two", b.Grow(1), fault.Limited, 200)
	a.Release()
	want("closed", nil, 0, 100)
	want("no one's", a.Grow(1<<30), 0, 100)
	want("an answer in the run's place", b.Become(Uncounted+40), 0, 40)
	b.Release()
	b.Release()

	// Half of all for one network: two /56 of a /48 have four shares each.
	var network []*MemoryLease
	for i := range 4 {
		network = append(network, open(fmt.Sprintf("2001:db8:0:%x::1", i<<8)))
		want("a /64", network[i].Become(Uncounted+100), 0, int64(100*(i+1)))
	}
	want("half of all", open("2001:db8:0:500::1").Become(Uncounted+1), fault.Limited, 400)
	for i := range 4 {
		want("others", open(fmt.Sprintf("192.0.2.%d", i)).Become(Uncounted+100), 0, int64(500+100*i))
	}
	want("all", open("192.0.2.9").Become(Uncounted+1), fault.Busy, 800)
	want("what is small always passes", open("192.0.2.9").Become(Uncounted), 0, 800)
}

// Without a limit for clients the instance's own holds.
func TestSlotsWithoutAPerClientLimit(t *testing.T) {
	t.Parallel()
	s := NewSlots(2, 0)
	for range 2 {
		if _, err := s.Acquire((clientip.Identity{}).Holders()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Acquire((clientip.Identity{}).Holders()); !fault.Is(err, fault.Busy) {
		t.Errorf("got %v, want Busy", err)
	}
}
