// Package daemontest is what the tests of daemon and of both services share.
package daemontest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Pipes is a listener in memory. Within a bubble of testing/synctest its deadlines follow the bubble's clock, so that
// timeouts of minutes are tested in no time.
type Pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipes makes a listener.
func NewPipes() *Pipes { return &Pipes{dialed: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects to the next Accept; after Close it is refused.
func (p *Pipes) Dial() (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case <-p.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case p.dialed <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Client returns a client with a connection of its own for each request.
func (p *Pipes) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return p.Dial() },
	}}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
