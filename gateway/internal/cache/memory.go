package cache

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"
)

// entryOverhead is about what otter, the key's header and the map add to the bytes of an entry.
const entryOverhead = 160

// Memory is a Store in this process, bounded in bytes. When it is full, the entries least likely to be read again are
// evicted first (W-TinyLFU); expired ones are removed in the background.
type Memory struct {
	entries *otter.Cache[string, timed]
}

type timed struct {
	value []byte
	ttl   time.Duration
}

// MemoryOption changes what tests must inject.
type MemoryOption func(*otter.Options[string, timed])

// WithClock replaces the clock that entries expire by.
func WithClock(now func() time.Time) MemoryOption {
	return func(o *otter.Options[string, timed]) { o.Clock = clock{now: now, start: now()} }
}

// clock is monotonic, as the library's own is.
type clock struct {
	now   func() time.Time
	start time.Time
}

func (c clock) NowNano() int64 { return c.now().Sub(c.start).Nanoseconds() }

// Tick never ticks: expired entries of an injected clock go when the cache is next written to.
func (clock) Tick(time.Duration) <-chan time.Time { return nil }

// NewMemory makes a store of at most maxBytes: keys, values and the overhead of each entry together. Close it.
func NewMemory(maxBytes uint64, opts ...MemoryOption) *Memory {
	options := &otter.Options[string, timed]{
		MaximumWeight:    max(maxBytes, 1),
		Weigher:          weigh,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, timed]) time.Duration { return e.Value.ttl }),
	}
	for _, opt := range opts {
		opt(options)
	}
	return &Memory{entries: otter.Must(options)}
}

func weigh(key string, t timed) uint32 {
	return uint32(min(len(key)+len(t.value)+entryOverhead, math.MaxUint32))
}

// Get gives a copy of the value. It never fails.
func (m *Memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	t, ok := m.entries.GetIfPresent(key)
	return slices.Clone(t.value), ok, nil
}

// Set keeps a copy of the value; a ttl of 0 or less keeps nothing. It never fails.
func (m *Memory) Set(_ context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl <= 0 {
		m.entries.Invalidate(key)
		return nil
	}
	m.entries.Set(key, timed{value: slices.Clone(value), ttl: ttl})
	return nil
}

// Close ends the goroutine that removes expired entries.
func (m *Memory) Close() { m.entries.StopAllGoroutines() }
