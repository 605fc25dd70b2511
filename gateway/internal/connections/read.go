package connections

import (
	"errors"
	"os"
	"sync"
	"time"
)

// readDeadline is until when may be read. net/http sets it six times a request, mostly to later; the socket, for which
// that is work, is told when it must be: it has an earlier one, and who is woken by it looks whether more time is left.
type readDeadline struct {
	mu sync.Mutex
	// until is what the server has set, armed what the socket has, both by Table.clock; 0 is none.
	until, armed int64
}

// readPart is how far ahead the socket's deadline is at most when it is set anew: before that of the next request's
// header, which is no reason to set it then.
const readPart = 8 * time.Second

// SetReadDeadline sets until when may be read.
func (c *Conn) SetReadDeadline(at time.Time) error {
	c.reading.mu.Lock()
	defer c.reading.mu.Unlock()
	if c.reading.until = 0; !at.IsZero() {
		c.reading.until = c.table.clock(at)
	}
	if c.reading.until == 0 || c.reading.armed != 0 && c.reading.armed <= c.reading.until {
		return nil
	}
	return c.armRead(c.reading.until)
}

func (c *Conn) read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || c.readOver() {
			return n, err
		}
	}
}

// readOver tells whether the time for reading is over. Where it is not, the socket is given more of it.
func (c *Conn) readOver() bool {
	c.reading.mu.Lock()
	defer c.reading.mu.Unlock()
	now := c.table.clock(time.Now())
	until := c.reading.until
	if until != 0 && until <= now {
		return true
	}
	part := now + int64(readPart)
	if until != 0 {
		part = min(part, until)
	}
	return c.armRead(part) != nil
}

// armRead sets the socket's deadline. The caller has the lock.
func (c *Conn) armRead(at int64) error {
	err := c.Conn.SetReadDeadline(c.table.began.Add(time.Duration(at)))
	if err == nil {
		c.reading.armed = at
	}
	return err
}
