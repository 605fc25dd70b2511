// Package tlswire stands below a TLS client. It bounds what a server may make of TLS itself, which crypto/tls does not:
// handshakes that never end, new keys without end, records that are nearly empty.
package tlswire

import (
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
)

const (
	// MaxHandshake is how many octets a server may send until the handshake is complete: 64 KiB of certificates, and as
	// much for all the rest, such as the authorities whose client certificates it would take.
	MaxHandshake = 128 << 10
	// maxRecords is how many records a connection is given. Each costs as much as a record of many octets, so that
	// those of more than recordOctets on average pay for themselves.
	maxRecords   = 4000
	recordOctets = 32
	// maxAnswers is how often TLS itself answers a server once the handshake is complete. New keys require that, and an
	// honest connection as short as ours hardly ever has any.
	maxAnswers = 100
)

var (
	// ErrHandshake is a handshake of more than MaxHandshake octets.
	ErrHandshake = errors.New("tlswire: the handshake is too long")
	// ErrRecords is a server that sends far more records than what they hold needs.
	ErrRecords = errors.New("tlswire: too many records for what they hold")
)

// Conn is a connection below a TLS client. Its reader is one at a time.
type Conn struct {
	net.Conn

	// The reader's place between two reads: the part of a record's header that has come, what is left of its body.
	header [recordHeader]byte
	have   int
	left   int

	records   int
	delivered int
	octets    int // of the handshake
	first     firstRecord
	begun     atomic.Bool // the server has sent something
	complete  bool
	failed    error

	writing atomic.Int32          // writes of the client's user that are under way
	answers atomic.Int32          // of TLS itself
	unsent  atomic.Pointer[error] // why a write failed
}

const recordHeader = 5

// Watch bounds what comes over the connection.
func Watch(over net.Conn) *Conn { return &Conn{Conn: over} }

// Answered reports whether the server began a handshake of its own. It is for the reader.
func (c *Conn) Answered() bool { return c.first.have > 0 && c.first.bytes[0] == 22 && c.records > 0 }

// Above is the TLS client's connection over this one, whose handshake is complete: what is read from it pays for the
// records that carried it.
func (c *Conn) Above(client net.Conn) net.Conn {
	c.complete = true
	return above{client, c}
}

type above struct {
	net.Conn
	below *Conn
}

// Read gives the error of a write that failed in place of what came of it: crypto/tls goes on reading where it could
// not answer new keys, and then takes the next record for a forged one.
func (a above) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	a.below.delivered += n
	if unsent := a.below.unsent.Load(); err != nil && unsent != nil && a.below.failed == nil {
		err = *unsent
	}
	return n, err
}

func (a above) Write(p []byte) (int, error) {
	a.below.writing.Add(1)
	defer a.below.writing.Add(-1)
	return a.Conn.Write(p)
}

// Write gives ErrRecords where TLS itself answers the server too often, and keeps its first error for the reader.
func (c *Conn) Write(p []byte) (n int, err error) {
	if c.complete && c.writing.Load() == 0 && c.answers.Add(1) > maxAnswers {
		err = ErrRecords
	} else {
		n, err = c.Conn.Write(p)
	}
	if err != nil {
		c.unsent.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Read gives ErrHandshake or ErrRecords where a bound was passed, and nothing more after it.
func (c *Conn) Read(p []byte) (int, error) {
	if c.failed != nil {
		return 0, c.failed
	}
	n, err := c.Conn.Read(p)
	c.follow(p[:n])
	if c.failed != nil {
		return 0, c.failed
	}
	return n, err
}

// follow counts the records that came.
func (c *Conn) follow(b []byte) {
	if !c.complete {
		c.first.take(b)
		c.begun.Store(c.begun.Load() || len(b) > 0)
		if c.octets += len(b); c.octets > MaxHandshake {
			c.failed = ErrHandshake
		}
	}
	for len(b) > 0 {
		if c.left > 0 {
			step := min(c.left, len(b))
			c.left -= step
			b = b[step:]
			continue
		}
		step := copy(c.header[c.have:], b)
		c.have += step
		b = b[step:]
		if c.have < recordHeader {
			return
		}
		c.have = 0
		c.left = int(binary.BigEndian.Uint16(c.header[3:]))
		if c.records++; c.records-c.delivered/recordOctets > maxRecords {
			c.failed = ErrRecords
		}
	}
}
