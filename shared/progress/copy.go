package progress

import "time"

// At most linesAtOnce steps are told at once, and a further one each gap after that: 20 in any second.
const (
	linesAtOnce = 8
	gap         = time.Second / 12
)

// Copy tells the steps of a feed as they change, until done is closed: what has not been told by then is in the answer
// itself. Errors are those of tell.
func Copy(f *Feed, done <-chan struct{}, tell func(Step) error) error {
	var position uint64
	var p pace
	for {
		s, next, ok, changed := f.Next(position)
		if !ok {
			position = next
			if ended(done, changed) {
				return nil
			}
			continue
		}
		if wait := p.wait(time.Now()); wait > 0 {
			if endedWithin(done, wait) {
				return nil
			}
			continue // something newer may be there now
		}
		position = next
		if err := tell(s); err != nil {
			return err
		}
	}
}

// ended waits for a change; true where done came first.
func ended(done, changed <-chan struct{}) bool {
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
