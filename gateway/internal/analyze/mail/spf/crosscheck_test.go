package spf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	peer "blitiri.com.ar/go/spf"
)

// peerResolver shows a zone to the other implementation.
type peerResolver struct{ *zone }

func peerError(name string, err error) error {
	if err == nil {
		return nil
	}
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (r peerResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	txt, err := r.TXT(ctx, name)
	return txt, peerError(name, err)
}

func (r peerResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	names, err := r.MX(ctx, name)
	var list []*net.MX
	for _, n := range names {
		list = append(list, &net.MX{Host: n})
	}
	return list, peerError(name, err)
}

func (r peerResolver) LookupIPAddr(ctx context.Context, name string) ([]net.IPAddr, error) {
	addresses, err := r.Addresses(ctx, name)
	var list []net.IPAddr
	for _, a := range addresses {
		list = append(list, net.IPAddr{IP: a.AsSlice()})
	}
	return list, peerError(name, err)
}

func (r peerResolver) LookupAddr(context.Context, string) ([]string, error) { return nil, nil }

const plenty = 200

// peerNeeds is the least limit at which the other implementation gets to the end for a sender that matches nothing,
// which is its count of the worst case.
func peerNeeds(t *testing.T, z *zone, limited error, option func(uint) peer.Option, other peer.Option) int {
	t.Helper()
	for limit := range uint(plenty) {
		_, err := peer.CheckHostWithSender(net.IPv4(203, 0, 113, 9), home, "x@"+home, peer.WithResolver(peerResolver{z}),
			option(limit), other)
		if !errors.Is(err, limited) {
			return int(limit)
		}
	}
	t.Fatal("no limit is enough")
	return 0
}

// grow makes a record with random terms for the name, and those that it includes below it. It keeps to what both
// implementations count alike: no macros, no ptr, no loops, no exists that matches every sender, and no include without
// a record (whose lookup we count as void).
func grow(r *rand.Rand, z *zone, name string, depth int) {
	record := "v=spf1"
	for i := range r.IntN(4) {
		below := fmt.Sprintf("n%d.%s", i, name)
		switch kind := r.IntN(8); {
		case kind == 0:
			record += " a:host.com"
		case kind == 1:
			record += " mx:mail.com/24"
		case kind == 2:
			record += " A:void.com//64"
		case kind == 3:
			record += " ~mx:void.com"
		case kind == 4:
			record += " ip4:192.31.196.0/24 ip6:2620:4f:8000::/48"
		case kind == 5:
			record += " ?exists:void.com"
		case depth > 0:
			record += " include:" + below
			grow(r, z, below, depth-1)
		}
	}
	switch r.IntN(4) {
	case 0:
		if depth > 0 {
			below := "r." + name
			record += " redirect=" + below
			grow(r, z, below, depth-1)
		}
	case 1:
		record += " ~all redirect=void.com"
	case 2:
		record += " -all a:host.com include:void.com"
	default:
		record += " exp=e.com unknown=%{c} ?all"
	}
	z.txt[name] = []string{record}
}

// TestCountsAgreeWithAnotherImplementation holds the counts of random trees against blitiri.com.ar/go/spf.
func TestCountsAgreeWithAnotherImplementation(t *testing.T) {
	t.Parallel()
	lookups, void := 0, 0
	for seed := range uint64(300) {
		z := &zone{
			txt: map[string][]string{"e.com": {"sorry"}}, mx: map[string][]string{"mail.com": {"host.com"}},
			ip: map[string][]string{"host.com": {"192.0.43.8"}},
		}
		grow(rand.New(rand.NewPCG(seed, 1)), z, home, 3)
		report := Check(t.Context(), z, home)
		if report.Issues.HasCode("SPF_TARGET_WITHOUT_RECORD") {
			t.Fatalf("seed %d: %v", seed, report.Issues)
		}
		if w := peerNeeds(t, z, peer.ErrLookupLimitReached, peer.OverrideLookupLimit,
			peer.OverrideVoidLookupLimit(plenty)); w != report.Tree.Lookups {
			t.Errorf("seed %d: %d lookups, the other says %d: %v", seed, report.Tree.Lookups, w, z.txt)
		}
		if w := peerNeeds(t, z, peer.ErrVoidLookupLimitReached, peer.OverrideVoidLookupLimit,
			peer.OverrideLookupLimit(plenty)); w != report.Tree.VoidLookups {
			t.Errorf("seed %d: %d void lookups, the other says %d: %v", seed, report.Tree.VoidLookups, w, z.txt)
		}
		lookups, void = max(lookups, report.Tree.Lookups), max(void, report.Tree.VoidLookups)
	}
	if lookups <= MaxLookups || void <= MaxVoidLookups {
		t.Errorf("the trees are too small to prove anything: at most %d lookups, %d void", lookups, void)
	}
}
