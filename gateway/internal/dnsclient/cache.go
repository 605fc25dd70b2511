package dnsclient

import (
	"net/netip"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/miekg/dns"
)

// maxCacheBytes bounds the answers kept, as they would go over the wire. An answer may be of any size up to 64 KiB, and
// strangers choose the names, so counting entries alone would bound nothing.
const maxCacheBytes = 16 << 20

// cacheKey is one question to one server; the zero server stands for the operator's resolvers.
type cacheKey struct {
	server netip.AddrPort
	name   string
	qtype  uint16
	// judging is a question that hide asks for itself. Kept with the visitors' own it would show: their next answer about
	// a name inside would come from the cache, and about a name that does not exist it would not.
	judging bool
}

type keptAnswer struct {
	answer    Answer
	fetchedAt time.Time
	keep      time.Duration
}

// cache keeps answers as typed values: records are shared and their TTLs are shown less their age, which a store of
// bytes would have to decode and encode each time. Expiry is judged on reading, by the Client's own clock, so the
// library has no timer to run; the bound on size is the library's.
type cache struct {
	kept *otter.Cache[cacheKey, keptAnswer]
}

func newCache() (*cache, error) {
	kept, err := otter.New(&otter.Options[cacheKey, keptAnswer]{
		MaximumWeight: maxCacheBytes,
		Weigher:       func(k cacheKey, v keptAnswer) uint32 { return weight(k, v.answer) },
	})
	if err != nil {
		return nil, err
	}
	return &cache{kept: kept}, nil
}

// weight is the size of the records on the wire, doubled for what Go keeps around them, and a constant for the rest.
func weight(k cacheKey, a Answer) uint32 {
	size := 512 + len(k.name)
	for _, section := range [][]dns.RR{a.Records, a.Authority} {
		for _, rr := range section {
			size += 2*dns.Len(rr) + 64
		}
	}
	for _, e := range a.Extended {
		size += len(e.Text) + 64
	}
	return uint32(size)
}

func (c *cache) get(key cacheKey, now time.Time) (Answer, bool) {
	k, ok := c.kept.GetIfPresent(key)
	if !ok {
		return Answer{}, false
	}
	age := max(now.Sub(k.fetchedAt), 0)
	if age >= k.keep {
		return Answer{}, false
	}
	a := k.answer.aged(age)
	a.Cached, a.Age = true, age
	return a, true
}

func (c *cache) put(key cacheKey, a Answer, now time.Time) {
	if keep := a.keepFor(); keep > 0 {
		c.kept.Set(key, keptAnswer{answer: a, fetchedAt: now, keep: keep})
	}
}

func (c *cache) close() { c.kept.StopAllGoroutines() }
