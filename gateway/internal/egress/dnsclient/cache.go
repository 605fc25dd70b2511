package dnsclient

import (
	"net/netip"
	"time"

	"github.com/maypok86/otter/v2"
)

// maxCacheBytes bounds the answers kept, by what they take in memory: an answer of 64 KiB may be megabytes there, and
// strangers choose the names, so that neither entries nor bytes of the wire would bound anything.
const maxCacheBytes = 16 << 20

// cacheKey is one question to one server; the zero server stands for the operator's resolvers.
type cacheKey struct {
	server netip.AddrPort
	name   string
	qtype  uint16
	// judging is a question that hide sends itself. Kept with the clients' own it would show: their next answer about
	// a name inside would come from the cache, and about a name that does not exist it would not.
	judging bool
	// unchecked is a question for what DNSSEC may find to fail, whose answer is only for callers that requested that.
	unchecked bool
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
		// #nosec G115 -- an answer is a few hundred KiB at most
		Weigher: func(k cacheKey, v keptAnswer) uint32 { return uint32(v.answer.Weight() + len(k.name)) },
	})
	if err != nil {
		return nil, err
	}
	return &cache{kept: kept}, nil
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
