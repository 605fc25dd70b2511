package egress

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// ownName is the addresses of this service's public name. A container cannot see the public addresses of its host, and
// a host behind NAT does not have them.
type ownName struct {
	all atomic.Pointer[[]netip.Addr] // sorted, each once; nil before the first lookup
	// found has an entry for every answer so far. Only lookUpOwnName uses it.
	found map[ownAnswer][]netip.Addr
}

// ownAnswer identifies an answer about the name.
type ownAnswer struct {
	resolver netip.AddrPort
	qtype    uint16
}

// ownNameRetry is the pause after a query that has never been answered.
const ownNameRetry = 5 * time.Second

// WatchOwnName looks up the addresses of this service's public name now and whenever the answers have expired, until
// Close. They are refused as this host's own. It logs each change. The channel is closed after the first lookup.
func (c *Client) WatchOwnName(name string, log *slog.Logger) (first <-chan struct{}) {
	return c.watch(func(ctx context.Context) time.Duration { return c.lookUpOwnName(ctx, name, log) })
}

// lookUpOwnName queries every resolver for both types of addresses. A query that fails keeps the addresses of the last
// answer to it. It returns when to query again.
func (c *Client) lookUpOwnName(ctx context.Context, name string, log *slog.Logger) time.Duration {
	qtypes := []uint16{dns.TypeA, dns.TypeAAAA}
	answers := make([][]dnsclient.Answer, len(qtypes))
	parallel.Each(len(qtypes), len(qtypes), func(i int) { answers[i] = c.dns.QueryEach(ctx, name, qtypes[i]) })
	if ctx.Err() != nil {
		return mostLookupTime
	}
	wait := mostLookupTime
	found := make(map[ownAnswer][]netip.Addr)
	for i, qtype := range qtypes {
		for _, answer := range answers[i] {
			key := ownAnswer{answer.Resolver, qtype}
			if answer.Conclusive() {
				found[key] = dnsclient.Addresses(answer.Records)
				wait = min(wait, max(time.Duration(answer.TTL)*time.Second, leastLookupTime))
			} else if known, ok := c.ownName.found[key]; ok {
				found[key], wait = known, min(wait, leastLookupTime)
			} else {
				wait = ownNameRetry
			}
		}
	}
	c.ownName.found = found
	var all []netip.Addr
	for _, addresses := range found {
		all = append(all, addresses...)
	}
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	if len(all) == 0 { // the operator is likely to add the record
		wait = min(wait, leastLookupTime)
	}
	if last := c.ownName.all.Swap(&all); last != nil && slices.Equal(all, *last) {
		return wait
	}
	if len(all) == 0 {
		log.Warn("no address of PUBLIC_DOMAIN is known: visitors may reach this host through this service; give the " +
			"name an address in the DNS, or list the host's in HOST_ADDRESSES")
		return wait
	}
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.String()
	}
	log.Info("the addresses of PUBLIC_DOMAIN are refused as this host's own", "addresses", strings.Join(texts, ","))
	return wait
}

// isOwnName reports whether the service's public name leads to the address.
func (c *Client) isOwnName(a netip.Addr) bool {
	all := c.ownName.all.Load()
	return all != nil && slices.Contains(*all, a)
}

// watch calls look now and again after each time that it returns, until Close. The channel is closed after the first
// call.
func (c *Client) watch(look func(context.Context) time.Duration) (first <-chan struct{}) {
	life, cancel := context.WithCancel(context.Background())
	looked := make(chan struct{})
	watch := parallel.Start(func() struct{} {
		wait := func() time.Duration {
			defer close(looked)
			return look(life)
		}()
		for {
			select {
			case <-life.Done():
				return struct{}{}
			case <-time.After(wait):
				wait = look(life)
			}
		}
	})
	c.ends = append(c.ends, func() {
		cancel()
		watch.Wait()
	})
	return looked
}
