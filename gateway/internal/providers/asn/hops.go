package asn

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"diagnostics/shared/parallel"
)

// The longest prefixes that the world's networks take from each other. All addresses of such a block have the same
// origin, so that one lookup serves them; where a longer prefix turns up all the same, its block is looked up address
// by address.
const (
	blockBits4 = 24
	blockBits6 = 48
)

// Origin is the network that an address belongs to, as a trace shows it.
type Origin struct {
	ASN    uint32
	Name   string // empty where it is not known
	Prefix netip.Prefix
	Others []uint32 // that announce the same prefix
}

// Origin gives the network that announces an address with the longest prefix (the lowest number where several do), by
// one kept lookup for all addresses of a block. ok is false where no one announces it. A name that cannot be had is
// empty. Errors are those of Origins.
func (c *Client) Origin(ctx context.Context, addr netip.Addr) (origin Origin, ok bool, err error) {
	records, err := c.blockOrigins(ctx, addr)
	if err != nil || len(records) == 0 {
		return Origin{}, false, err
	}
	origin = Origin{ASN: records[0].ASN, Prefix: records[0].Prefix}
	for _, r := range records[1:] {
		if r.Prefix == origin.Prefix {
			origin.Others = append(origin.Others, r.ASN)
		}
	}
	if system, _, err := c.System(ctx, origin.ASN); err == nil && system != nil {
		origin.Name = system.Name
	}
	return origin, true, nil
}

// HopOrigins gives the Origin of each of the public addresses that has one and that the service answers for before ctx
// ends, looked up in parallel. It never fails: a trace is complete without it.
func (c *Client) HopOrigins(ctx context.Context, addrs []netip.Addr) map[netip.Addr]Origin {
	var mu sync.Mutex
	origins := make(map[netip.Addr]Origin, len(addrs))
	parallel.Each(len(addrs), maxParallel, func(i int) {
		origin, ok, err := c.Origin(ctx, addrs[i])
		if err != nil || !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		origins[addrs[i]] = origin
	})
	return origins
}

func (c *Client) blockOrigins(ctx context.Context, addr netip.Addr) ([]Record, error) {
	block := blockOf(addr)
	load := func(ctx context.Context) ([]Record, time.Duration, error) {
		records, source, err := c.Origins(ctx, addr)
		return records, left(source.FetchedAt, time.Now()), err
	}
	entry, err := c.blocks.Get(ctx, c.zone+" "+block.String(), announce(block), load)
	if err != nil {
		return nil, err
	}
	if len(entry.Value) > 0 && entry.Value[0].Prefix.Bits() > block.Bits() {
		records, _, err := c.Origins(ctx, addr)
		return records, err
	}
	return entry.Value, nil
}

// left is for how long an answer may still be kept that was kept for a while before it became its block's. An answer
// from the time to come has an unknown age, since a clock was set, or another instance's differs: it is not
// kept.
func left(fetchedAt, now time.Time) time.Duration {
	age := now.Sub(fetchedAt)
	if age < 0 {
		return 0
	}
	return max(KeepFor-age, 0)
}

// announce judges what is kept of a block as the service's own answer was: a shared store may hold anything.
func announce(block netip.Prefix) func([]Record) bool {
	return func(records []Record) bool {
		return len(records) <= maxOrigins && slices.IsSortedFunc(records, compareRecords) &&
			!slices.ContainsFunc(records, func(r Record) bool {
				return !r.Prefix.IsValid() || r.Prefix.Masked() != r.Prefix || !r.Prefix.Overlaps(block) ||
					readCountry(r.Country) != r.Country || readRegistry(r.Registry) != r.Registry ||
					readDate(r.Allocated) != r.Allocated
			})
	}
}

func blockOf(addr netip.Addr) netip.Prefix {
	bits := blockBits6
	if addr.Is4() {
		bits = blockBits4
	}
	// The error is that of a number of bits that the family does not have.
	block, _ := addr.Prefix(bits)
	return block
}
