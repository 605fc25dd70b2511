package progress

import (
	"time"

	"golang.org/x/time/rate"
)

// At most linesAtOnce steps are sent at once, and then linesPerSecond: 20 in any second.
const (
	linesAtOnce    = 8
	linesPerSecond = 12
)

// together is how long Copy waits for steps that can be sent with the first.
const together = 20 * time.Millisecond

// Reader receives steps, and sends what it has received on Flush. Both return an error where the client has left.
type Reader interface {
	Tell(Step) error
	Flush() error
}

// Copy sends the steps of a feed as they change, until done is closed: what has not been sent by then is in the answer
// itself. It returns the errors of the reader.
func Copy(f *Feed, done <-chan struct{}, to Reader) error {
	var position uint64
	pace := rate.NewLimiter(linesPerSecond, linesAtOnce)
	for {
		s, next, ok, changed := f.Next(position)
		if !ok {
			position = next
			if ended(done, nil) {
				return nil
			}
			if err := to.Flush(); err != nil || ended(done, changed) {
				return err
			}
			endedWithin(done, together)
			continue
		}
		line := pace.Reserve()
		if wait := line.Delay(); wait > 0 {
			line.Cancel()
			if err := to.Flush(); err != nil || endedWithin(done, wait) {
				return err
			}
			continue // something newer may be there now
		}
		position = next
		if err := to.Tell(s); err != nil {
			return err
		}
	}
}

// ended waits for a change, and reports whether done came first. Without a change to wait for it looks only.
func ended(done, changed <-chan struct{}) bool {
	if changed == nil {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	select {
	case <-done:
		return true
	case <-changed:
		return false
	}
}

func endedWithin(done <-chan struct{}, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
