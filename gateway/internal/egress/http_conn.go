package egress

import (
	"net"
	"sync"

	"diagnostics/shared/parallel"
)

// politeConn is a connection for one exchange of HTTP/1. Its reads wait until something was written: a client of HTTP
// speaks first, and a server that greets (mail, SSH) would otherwise be read before the request is out or after it, as
// chance has it, and the library would write what it read to the process's log. It also keeps what came first, for
// headAsSent.
type politeConn struct {
	net.Conn

	mu    sync.Mutex
	spoke chan struct{} // closed by the first write, or by Close
	done  bool
	first []byte
}

func newPoliteConn(over net.Conn) *politeConn {
	return &politeConn{Conn: over, spoke: make(chan struct{})}
}

// Read is called by the library in a goroutine of its own, so that a panic goes out as an error.
func (c *politeConn) Read(p []byte) (int, error) {
	return parallel.Try(func() (int, error) { return c.read(p) })
}

func (c *politeConn) read(p []byte) (int, error) {
	<-c.spoke
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = append(c.first, p[:min(n, MaxHeaderBytes-len(c.first))]...)
	return n, err
}

func (c *politeConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.release()
	return n, err
}

func (c *politeConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

func (c *politeConn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.done = true
		close(c.spoke)
	}
}

// start is what was read first, as much as all heads of an exchange can be.
func (c *politeConn) start() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.first...)
}
