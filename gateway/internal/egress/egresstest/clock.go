package egresstest

import (
	"sync"
	"time"
)

// Clock is a clock that the test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock gives a clock that stands at some moment.
func NewClock() *Clock { return &Clock{now: time.Unix(1_700_000_000, 0)} }

// Now is what it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Step moves it on.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
