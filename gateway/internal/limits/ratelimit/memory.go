package ratelimit

import (
	"container/heap"
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultMaxBuckets is how many buckets Memory holds by default: about 30 MB.
	DefaultMaxBuckets = 1 << 18

	shardCount = 64
	// sweepAtMost bounds the buckets that one Take clears away, so that no request pays for a whole shard.
	sweepAtMost = 32
	// shrinkFrom is how many buckets a table must have held before it is made anew with less room.
	shrinkFrom = 64
)

// Memory is a Limiter in this process. It holds a bounded number of buckets. A bucket that is full again is removed,
// which changes nothing. When there is no room left, the bucket that would be full again soonest is removed. To
// remove a bucket that refuses them, a client must therefore fill the store with buckets that are emptier still, each
// at the price of as many requests; fresh keys only displace fresh keys. Keys are kept as 128 bits of two hashes with
// secret seeds, so that a client cannot aim at a shard or at another's bucket, and long keys cost nothing.
type Memory struct {
	now    func() time.Time
	start  time.Time
	seeds  [2]maphash.Seed
	shards [shardCount]shard
	// distinct are the buckets of distinct values.
	distinct *distinct
	// next is the shard that the next Take sweeps beside its own: quiet shards are cleared too.
	next atomic.Uint32
}

// MemoryOption changes a default.
type MemoryOption func(*Memory)

// WithClock replaces time.Now.
func WithClock(now func() time.Time) MemoryOption { return func(m *Memory) { m.now = now } }

// WithMaxBuckets replaces DefaultMaxBuckets; it is rounded up to a multiple of 64.
func WithMaxBuckets(n int) MemoryOption {
	return func(m *Memory) { m.setRoom(n) }
}

// NewMemory makes an empty Limiter.
func NewMemory(opts ...MemoryOption) *Memory {
	m := &Memory{
		now: time.Now, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, distinct: newDistinct(maxDistinct),
	}
	m.setRoom(DefaultMaxBuckets)
	for _, opt := range opts {
		opt(m)
	}
	m.start = m.now()
	return m
}

func (m *Memory) setRoom(n int) {
	for i := range m.shards {
		m.shards[i] = shard{room: max((n+shardCount-1)/shardCount, 1), byID: map[id]*entry{}}
	}
}

// Take charges the buckets one after another. It never fails.
func (m *Memory) Take(_ context.Context, stages ...Stage) (Decision, error) {
	// The monotonic clock: a step of the wall clock is no refill.
	now := m.now().Sub(m.start).Microseconds()
	d, err := chain(stages, func(stage Stage) (Decision, error) { return m.stage(stage, now), nil })
	m.shards[m.next.Add(1)%shardCount].sweep(now)
	return d, err
}

func (m *Memory) stage(stage Stage, now int64) Decision {
	tightest := Decision{Allowed: true}
	for _, c := range stage {
		if c.counts() {
			tightest = tightest.with(m.charge(c, now))
		}
	}
	return tightest
}

func (m *Memory) charge(c Charge, now int64) (d Decision) {
	key := id{maphash.String(m.seeds[0], c.Key), maphash.String(m.seeds[1], c.Key)}
	if c.Item != 0 {
		d = m.distinct.take(key, c, now)
	} else {
		d = m.shards[key[0]%shardCount].take(key, c, now)
	}
	d.Key = c.Key
	return d
}

type shard struct {
	mu   sync.Mutex
	room int
	byID map[id]*entry
	// most is how many byID has held.
	most int
	// soonest has the same entries by when they are full again.
	soonest queue
}

func (s *shard) take(key id, c Charge, now int64) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(now)
	e := s.byID[key]
	if e == nil {
		e = s.add(key, now)
	}
	var d Decision
	e.bucket, d = e.bucket.take(c.Limit, c.times(), now)
	e.fullAt = now + d.ResetAfter.Microseconds()
	heap.Fix(&s.soonest, e.place)
	return d
}

func (s *shard) add(key id, now int64) *entry {
	if len(s.soonest) >= s.room {
		s.drop()
	}
	e := &entry{id: key, bucket: bucket{at: now}, fullAt: now}
	heap.Push(&s.soonest, e)
	s.byID[key] = e
	s.most = max(s.most, len(s.byID))
	return e
}

func (s *shard) sweep(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(now)
}

// clear forgets buckets that are full again.
func (s *shard) clear(now int64) {
	for range sweepAtMost {
		if len(s.soonest) == 0 || s.soonest[0].fullAt > now {
			break
		}
		s.drop()
	}
	if fallen(len(s.byID), s.most) {
		s.byID, s.most = remade(s.byID), len(s.byID)
		s.soonest = slices.Clone(s.soonest)
	}
}

// fallen reports whether so few buckets are left of the most that there were that their table is worth making anew:
// tables keep the memory of all that they ever held. What is left to copy is little, and seldom.
func fallen(left, most int) bool { return most >= shrinkFrom && left <= most/4 }

// remade is a table with room for no more than it holds.
func remade[T any](old map[id]T) map[id]T {
	table := make(map[id]T, len(old))
	maps.Copy(table, old)
	return table
}

// drop removes the entry that is full again soonest.
func (s *shard) drop() { delete(s.byID, heap.Pop(&s.soonest).(*entry).id) }
