// Package cachestats counts how often a cache had the answer. It is apart from package cache since not every cache is
// one of those.
package cachestats

import "sync/atomic"

// Counts are those of one cache. The zero Counts is ready for use, and the nil Counts counts nothing.
type Counts struct{ hits, misses, shared atomic.Uint64 }

// Hit counts an answer that was kept.
func (c *Counts) Hit() {
	if c != nil {
		c.hits.Add(1)
	}
}

// Miss counts an answer that was not.
func (c *Counts) Miss() {
	if c != nil {
		c.misses.Add(1)
	}
}

// Share counts a request that waits for the fetch of another one, which is neither a hit nor a miss.
func (c *Counts) Share() {
	if c != nil {
		c.shared.Add(1)
	}
}

// Hits is how many answers were kept.
func (c *Counts) Hits() uint64 { return c.hits.Load() }

// Misses is how many answers were not.
func (c *Counts) Misses() uint64 { return c.misses.Load() }

// Shared is how many requests waited for another's answer.
func (c *Counts) Shared() uint64 { return c.shared.Load() }
