package egress

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
)

// What a server may make of one round trip. Each piece of an answer costs this service time, however little it holds,
// and the library bounds few of them.
const (
	// maxIdlePieces is how many pieces without anything of the answer are taken: control frames, unknown
	// frames, interim answers. The octets of the answer pay for more.
	maxIdlePieces = 200
	// octetsPerPiece is what pays for one of them.
	octetsPerPiece = 64
	// maxBodyPieces is how many pieces of the answer's body are taken, and octetsPerBodyPiece what they hold on average
	// at least once there are more: many a page is sent line by line.
	maxBodyPieces      = 4000
	octetsPerBodyPiece = 32
	// maxResets is how many requests of a round trip a server may reset, of which the library repeats some.
	maxResets = 1
)

var (
	errNoSense     = errors.New("too many pieces without an answer")
	errTinyPieces  = errors.New("too many pieces for what they hold")
	errLongHeaders = errors.New("all headers together are too long")
	errResets      = errors.New("the server resets every request")
)

// cost counts what a round trip costs, over all of its connections. Once a bound is passed its fault stands.
type cost struct {
	roundTrip *roundTrip

	mu      sync.Mutex
	idle    int
	body    int // pieces of it
	octets  int
	headers int
	blocks  int
	resets  int
	failed  error
}

// piece counts a piece that holds so many octets of the answer's body. The error is a *fault.Error.
func (e *cost) piece(octets int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.octets += octets
	if octets == 0 {
		e.idle++
	} else {
		e.body++
	}
	switch {
	case e.idle-e.octets/octetsPerPiece > maxIdlePieces:
		e.fail(errNoSense, codeInvalid)
	case e.body-e.octets/octetsPerBodyPiece > maxBodyPieces:
		e.fail(errTinyPieces, codeTinyPieces)
	}
	return e.failed
}

// header counts a header or a trailer of HTTP/2. The library judges the length of each as it comes, but all of a round
// trip share the one bound. What is wrong with the body that follows is no fault of the header: it may have come
// already.
func (e *cost) header(header http.Header) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.headers
	e.headers += headerBytes(header)
	if before == 0 || e.headers <= MaxHeaderBytes {
		return nil
	}
	e.fail(errLongHeaders, codeLongHeaders)
	return e.failed
}

// block counts the octets of a header block of HTTP/2 as they come: those of any stream, padding, and fields that the
// library drops.
func (e *cost) block(octets int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.blocks += octets; e.blocks > MaxHeaderBytes {
		e.fail(errLongHeaders, codeLongHeaders)
	}
	return e.failed
}

// reset counts a request that the server turned down.
func (e *cost) reset() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resets++; e.resets > maxResets {
		e.fail(errResets, codeBrokenOff)
	}
	return e.failed
}

// records reports that there were too many records of TLS for what they held.
func (e *cost) records(cause error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	code := codeInvalid
	if e.octets > 0 || e.roundTrip.readsTheBody() {
		code = codeTinyPieces
	}
	e.fail(cause, code)
	return e.failed
}

// countedConn is a TLS client's connection after its handshake. It reports too many records as it reports too many
// pieces.
type countedConn struct {
	net.Conn
	cost *cost
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, tlswire.ErrRecords) {
		err = c.cost.records(err)
	}
	return n, err
}

func (e *cost) fail(cause error, code string) {
	if e.failed == nil {
		e.failed = e.roundTrip.newFault(fault.Upstream, cause, code)
	}
}

// failure is the bound that was passed, a *fault.Error, or nil.
func (e *cost) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

// headerBytes is the length of a header as HTTP/1 writes it.
func headerBytes(header http.Header) int {
	n := 0
	for name, values := range header {
		for _, value := range values {
			n += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return n
}

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
