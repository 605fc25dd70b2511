package progress

import "time"

// At most linesAtOnce steps are told at once, and a further one each gap after that: 20 in any second.
const (
	linesAtOnce = 8
	gap         = time.Second / 12
)

// together is how long steps are waited for that can be sent with the first: each sending costs a run's processor more
// than the step itself, and nobody sees the difference.
const together = 20 * time.Millisecond

// Reader is told steps, and sends what it was told when it is asked to. The errors of both are those of somebody who
// has left.
type Reader interface {
	Tell(Step) error
	Flush() error
}

// Copy tells the steps of a feed as they change, until done is closed: what has not been told by then is in the answer
// itself, and what has not been sent goes with it. Errors are those of the reader.
func Copy(f *Feed, done <-chan struct{}, to Reader) error {
	var position uint64
	var p pace
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
		if wait := p.wait(time.Now()); wait > 0 {
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

// pace spaces lines out, by the generic cell rate algorithm. The zero pace is ready.
type pace struct{ full time.Time }

// wait is how long the next line has to wait; a line that need not is counted.
func (p *pace) wait(now time.Time) time.Duration {
	if p.full.Before(now) {
		p.full = now
	}
	if early := p.full.Add(-(linesAtOnce - 1) * gap).Sub(now); early > 0 {
		return early
	}
	p.full = p.full.Add(gap)
	return 0
}
