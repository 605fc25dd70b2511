// Package clocktest plays the clock of a host whose time of day is set while a process runs. As with time.Now, its
// moments have two readings: the wall clock's, which steps, and the monotonic clock's, which does not.
package clocktest

import (
	"sync"
	"time"
	"unsafe"
)

// Clock is a clock that stands still until it is advanced. It is safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	stepped time.Duration
}

// New makes a clock that shows the present.
func New() *Clock { return &Clock{now: time.Now()} }

// Now is the moment, with both readings.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return step(c.now, c.stepped)
}

// Pass lets time go by, on both clocks.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Step sets the wall clock forward or back, by whole seconds.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stepped += d
}

// wallSecond is a second in the first word of a time.Time that has a monotonic reading: 30 bits of nanoseconds stand
// before it. Package time can make no such moment but from the system's clocks; clocktest's own test holds that this
// one is.
const wallSecond = 1 << 30

func step(t time.Time, d time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(int64(d/time.Second)) * wallSecond
	return t
}
