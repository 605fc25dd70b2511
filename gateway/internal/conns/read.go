package conns

import (
	"errors"
	"os"
	"sync"
	"time"
)

// readDeadline is until when may be read. net/http sets it six times a request, mostly to later and while nobody reads;
// the socket, for which that is work, is told when it must be: who reads it has no deadline or a later one, and who is
// woken by an earlier one looks whether more time is left.
type readDeadline struct {
	mu sync.Mutex
	// until is what the server has set, armed what the socket has, both by Table.clock; 0 is none.
	until, armed int64
	// waiting tells that somebody is about to read the socket, reading that somebody does.
	waiting, reading bool
	// wake ends the wait before the timer does.
	wake  chan struct{}
	timer *time.Timer
}

const (
	// readPart is how far ahead the socket's deadline is at most when it is set anew: before that of the next request's
	// header, which is no reason to set it then.
	readPart = 8 * time.Second
	// lookAfter is how long a request is worked on before the socket is read for its visitor's leaving.
	lookAfter = 50 * time.Millisecond
)

// SetReadDeadline sets until when may be read.
func (c *Conn) SetReadDeadline(at time.Time) error {
	r := &c.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until = 0; !at.IsZero() {
		r.until = c.table.clock(at)
	}
	if r.reading && r.until != 0 && (r.armed == 0 || r.armed > r.until) {
		return c.armRead(r.until)
	}
	if r.waiting && r.until != 0 && r.over(c.table.now()) {
		select {
		case r.wake <- struct{}{}:
		default: // woken already
		}
	}
	return nil
}

// read reads the socket until the deadline. net/http asks for a single byte while a request is worked on, to hear that
// the visitor has left, and takes that back when the answer is ready. Most answers are ready at once, and spared the
// work of both.
func (c *Conn) read(p []byte) (int, error) {
	if len(p) == 1 {
		c.waitToRead()
	}
	for {
		if err := c.beginRead(); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		c.endRead()
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// waitToRead waits for lookAfter, or until the deadline is over.
func (c *Conn) waitToRead() {
	r := &c.reading
	r.mu.Lock()
	now := c.table.now()
	if r.over(now) {
		r.mu.Unlock()
		return
	}
	wait := lookAfter
	if r.until != 0 {
		wait = min(wait, time.Duration(r.until-now))
	}
	if r.wake == nil {
		r.wake = make(chan struct{}, 1)
		r.timer = time.NewTimer(wait)
	} else {
		r.timer.Reset(wait)
	}
	r.waiting = true
	r.mu.Unlock()
	select {
	case <-r.wake:
		r.timer.Stop()
	case <-r.timer.C:
	}
}

// beginRead gives the socket a deadline that does it for the next read, or the error of one that is over.
func (c *Conn) beginRead() error {
	r := &c.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = false
	now := c.table.now()
	if r.over(now) {
		return os.ErrDeadlineExceeded
	}
	tooLate := r.until != 0 && (r.armed == 0 || r.armed > r.until)
	if past := r.armed != 0 && r.armed <= now; past || tooLate {
		part := now + int64(readPart)
		if r.until != 0 {
			part = min(part, r.until)
		}
		if err := c.armRead(part); err != nil {
			return err
		}
	}
	r.reading = true
	return nil
}

func (c *Conn) endRead() {
	c.reading.mu.Lock()
	c.reading.reading = false
	c.reading.mu.Unlock()
}

func (r *readDeadline) over(now int64) bool { return r.until != 0 && r.until <= now }

// armRead sets the socket's deadline. The caller has the lock.
func (c *Conn) armRead(at int64) error {
	err := c.Conn.SetReadDeadline(c.table.began.Add(time.Duration(at)))
	if err == nil {
		c.reading.armed = at
	}
	return err
}
