package shares

import (
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/holder"
)

// Uncounted is what is not counted of each request: it fits into what the kernel takes of an answer at once (package
// conns), so it does not wait for the reader. A used-up share then stops no small answer.
const Uncounted = 16 << 10

// memoryWait is the Retry-After of a refusal: most readers have read long before, and none may take longer than 30 s.
const memoryWait = 5 * time.Second

// sharesOfRuns is how many shares a client may hold while its runs go on, for moments: the worst answers of name
// servers alone are more than one share, before what does not fit into an answer is cut off.
const sharesOfRuns = 2

// Memory bounds the bytes that requests hold, from what a run reads to the last byte of its answer.
type Memory struct{ *shares }

// NewMemory bounds the bytes of this instance and of one client. One network has at most half of all, whatever its
// shares come to.
func NewMemory(all, perClient int64) Memory { return Memory{newShares(all, perClient, all/2)} }

// Acquire begins a lease, which holds nothing yet.
func (m Memory) Acquire(of holder.List) *MemoryLease { return &MemoryLease{memory: m, of: of} }

// MemoryLease is the memory of one request. Its methods may be called at any time and from any goroutine.
type MemoryLease struct {
	memory Memory
	of     holder.List

	mu       sync.Mutex
	size     int64
	taken    int64 // from the memory
	released bool
}

// Grow counts n more bytes. It fails with a fault.Error: Limited for the client or its network, Busy for the instance.
func (l *MemoryLease) Grow(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set(l.size+int64(n), sharesOfRuns)
}

// Fits counts n more bytes of what can be left out, and reports whether that is within the client's share: otherwise
// nothing is counted.
func (l *MemoryLease) Fits(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set(l.size+int64(n), 1) == nil
}

// Become counts n bytes in place of all that was counted: the answer is all that is left of a run. It fails as Grow
// does.
func (l *MemoryLease) Become(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set(int64(n), 1)
}

// Large reports whether more is held than Uncounted.
func (l *MemoryLease) Large() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > Uncounted
}

// Release gives everything back. Nothing is counted afterwards.
func (l *MemoryLease) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.set(0, 1)
	l.released = true
}

func (l *MemoryLease) set(size, times int64) error {
	if l.released {
		return nil
	}
	counted := max(0, size-Uncounted)
	switch more := counted - l.taken; {
	case more > 0:
		if full := l.memory.take(l.of, more, times); full != scopeNone {
			return refusal(full,
				fault.Error{Rule: fault.LimitClientMemory, RetryAfter: memoryWait, Code: "TOO_MUCH_MEMORY"},
				fault.Error{Rule: fault.LimitNetworkMemory, RetryAfter: memoryWait,
					Code: "NETWORK_TOO_MUCH_MEMORY"},
				fault.Error{Rule: fault.LimitMemory, RetryAfter: memoryWait})
		}
	case more < 0:
		l.memory.give(l.of, -more)
	}
	l.size, l.taken = size, counted
	return nil
}
