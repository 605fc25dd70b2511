package egress

import (
	"net"
	"sync"
)

// politeConn is a connection whose reads can be held until something was written. A client of HTTP speaks first; without
// this, a server that greets (mail, SSH) would be read before the request is out or after it, as chance has it, and the
// library would write what it read to the process's log.
type politeConn struct {
	net.Conn

	mu     sync.Mutex
	held   chan struct{}
	closed bool
}

func newPoliteConn(conn net.Conn) *politeConn { return &politeConn{Conn: conn} }

// holdReads holds reads from now on, until the next write.
func (c *politeConn) holdReads() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && c.held == nil {
		c.held = make(chan struct{})
	}
}

func (c *politeConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if held != nil {
		<-held
	}
	return c.Conn.Read(p)
}

func (c *politeConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.release(false)
	return n, err
}

func (c *politeConn) Close() error {
	c.release(true)
	return c.Conn.Close()
}

func (c *politeConn) release(closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = c.closed || closed
	if c.held != nil {
		close(c.held)
		c.held = nil
	}
}
