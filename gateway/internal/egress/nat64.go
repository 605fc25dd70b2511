package egress

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// maxPrefixes is how many translation prefixes of one resolver count (RFC 7050).
const maxPrefixes = 8

// What this service looks up for itself is looked up again after the TTL of the answers, within these bounds.
const (
	leastLookupTime = time.Minute
	mostLookupTime  = time.Hour
)

// translation is the prefixes by which this host's network translates IPv6 addresses to IPv4 (RFC 6052): those of
// Settings.NAT64 and those found.
type translation struct {
	all atomic.Pointer[[]netip.Prefix] // sorted, each once
	// found are the prefixes by resolver. Only discover uses it.
	found map[netip.AddrPort][]netip.Prefix
}

// TranslationPrefixes returns the known prefixes, sorted.
func (c *Client) TranslationPrefixes() []netip.Prefix { return slices.Clone(c.translationPrefixes()) }

func (c *Client) translationPrefixes() []netip.Prefix {
	if all := c.translation.all.Load(); all != nil {
		return *all
	}
	return c.settings.NAT64
}

// WatchTranslation searches for the network's prefixes now and whenever the answers have expired, until Close, and logs
// each change. The channel is closed after the first search.
func (c *Client) WatchTranslation(log *slog.Logger) (first <-chan struct{}) {
	return c.watch(func(ctx context.Context) time.Duration { return c.discover(ctx, log) })
}

// discover queries every resolver for the addresses of ipv4only.arpa, which has no IPv6 address: what comes was
// synthesised with the network's prefix. A resolver that does not answer keeps the prefixes that it gave before. It
// returns when to query again.
func (c *Client) discover(ctx context.Context, log *slog.Logger) time.Duration {
	wait := mostLookupTime
	found := make(map[netip.AddrPort][]netip.Prefix)
	for _, answer := range c.dns.QueryEach(ctx, netpolicy.IPv4Only, dns.TypeAAAA) {
		if !answer.Conclusive() {
			found[answer.Resolver], wait = c.translation.found[answer.Resolver], leastLookupTime
			continue
		}
		prefixes := netpolicy.TranslationPrefixes(dnsclient.Addresses(answer.Records))
		found[answer.Resolver] = prefixes[:min(len(prefixes), maxPrefixes)]
		wait = min(wait, time.Duration(answer.TTL)*time.Second)
	}
	c.translation.found = found
	all := slices.Clone(c.settings.NAT64)
	for _, prefixes := range found {
		all = append(all, prefixes...)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	all = slices.Compact(all)
	if !slices.Equal(all, c.translationPrefixes()) {
		c.translation.all.Store(&all)
		log.Info("the network's NAT64 prefixes have changed", "prefixes", all)
	}
	return max(wait, leastLookupTime)
}

// embedded returns every IPv4 address that a known prefix translates the address to, that of the longest prefix first.
func (c *Client) embedded(a netip.Addr) []netip.Addr {
	var below []netip.Prefix
	for _, p := range c.translationPrefixes() {
		if p.Contains(a) {
			below = append(below, p)
		}
	}
	slices.SortStableFunc(below, func(p, q netip.Prefix) int { return cmp.Compare(q.Bits(), p.Bits()) })
	var all []netip.Addr
	for _, p := range below {
		if v4, ok := netpolicy.Embedded(p, a); ok {
			all = append(all, v4)
		}
	}
	return all
}

// CountedAddress returns the address that limits count for one that is dialled: where the network translates it, the
// IPv4 address that packets reach.
func (c *Client) CountedAddress(a netip.Addr) netip.Addr {
	if v4 := c.embedded(a); len(v4) > 0 {
		return v4[0]
	}
	return a
}

// CountedKey is CountedAddress for a key that may be an address; others are returned as they are.
func (c *Client) CountedKey(key string) string {
	a, err := netip.ParseAddr(key)
	if err != nil {
		return key
	}
	return c.CountedAddress(a).String()
}

// WithoutSynthesised returns v6 without the addresses that a DNS64 resolver made of v4: those of the well-known prefix
// where there is any IPv4 address, and those below a known prefix that embed one of v4.
func (c *Client) WithoutSynthesised(v4, v6 []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(v6), func(a netip.Addr) bool {
		return len(v4) > 0 && netpolicy.NAT64(a) ||
			slices.ContainsFunc(c.embedded(a), func(e netip.Addr) bool { return slices.Contains(v4, e) })
	})
}
