package egress

import (
	"net"
	"time"
)

// pacedConn is a connection whose server cannot make this service turn for each of many small segments: after some it
// reads no sooner than a moment later, and finds all that has come by then.
type pacedConn struct {
	net.Conn
	small int
}

const (
	smallRead = 64 // octets
	freeReads = 500
	pace      = 2 * time.Millisecond
)

// NetConn is the connection below.
func (c *pacedConn) NetConn() net.Conn { return c.Conn }

// Read is for one reader at a time, as all users of these connections are.
func (c *pacedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil || n >= min(smallRead, len(p)) {
		return n, err
	}
	if c.small++; c.small > freeReads {
		time.Sleep(pace)
	}
	return n, nil
}
