package egress

import (
	"sync"
	"time"
)

const (
	// refreshAfter is how old a fact about this host (its addresses, its routes) may grow. A reading takes microseconds,
	// and a gateway that starts before its network is up must notice within seconds.
	refreshAfter = 2 * time.Second
	// retryAfter is the pause after a reading that failed twice.
	retryAfter = 100 * time.Millisecond
)

// hostFact keeps a fact about this host and reads it again once it is too old. It starts no goroutine: the reading
// happens in the first call that finds the fact too old.
type hostFact[T any] struct {
	read func() (T, error)
	now  func() time.Time

	mu    sync.Mutex
	value T
	known bool      // a reading has succeeded
	err   error     // of the last reading
	due   time.Time // for the next reading
}

func newHostFact[T any](read func() (T, error)) *hostFact[T] {
	return &hostFact[T]{read: read, now: time.Now}
}

// get gives the fact. A reading that fails leaves the last good one standing; an error means that there is none yet.
func (f *hostFact[T]) get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); !now.Before(f.due) {
		f.refresh(now)
	}
	if f.known {
		return f.value, nil
	}
	return f.value, f.err
}

func (f *hostFact[T]) refresh(now time.Time) {
	value, err := f.read()
	if err != nil { // what is missing now is usually there a moment later
		value, err = f.read()
	}
	f.err = err
	if err != nil {
		f.due = now.Add(retryAfter)
		return
	}
	f.value, f.known, f.due = value, true, now.Add(refreshAfter)
}
