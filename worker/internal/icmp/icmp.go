// Package icmp sends echo requests and finds the answers to them, over one raw ICMP socket for each address family. It
// implements echo.Network and knows nothing of hops or statistics.
//
// A raw socket is given a copy of every ICMP message that reaches the host, whoever it is for. A message answers a flow
// only if identifier and sequence number fit and, for an echo reply, the payload is the flow's own; for an error, the
// packet that it quotes is an ICMP echo request to the flow's destination, with the flow's payload as far as it is
// quoted. Everything else is dropped.
package icmp

import (
	"errors"
	"fmt"
	"net/netip"

	"diagnostics/worker/internal/echo"
)

// Mode names the kind of socket, as /readyz tells it.
const Mode = "raw"

// Engine is the open sockets. It is safe for concurrent use.
type Engine struct {
	v4, v6   *socket
	err4     error
	err6     error
	counters counters
}

// Open opens a raw socket for each family that the system grants. It fails only if there is none, with the error of
// each. It needs CAP_NET_RAW; nothing after it does.
func Open() (*Engine, error) {
	e := &Engine{}
	e.v4, e.err4 = openSocket4(&e.counters)
	e.v6, e.err6 = openSocket6(&e.counters)
	if e.v4 == nil && e.v6 == nil {
		return nil, fmt.Errorf("IPv4: %w; IPv6: %w", e.err4, e.err6)
	}
	for _, s := range e.sockets() {
		go s.read()
	}
	return e, nil
}

// Families gives the families whose socket is open, 4 before 6.
func (e *Engine) Families() []int {
	families := []int{}
	if e.v4 != nil {
		families = append(families, 4)
	}
	if e.v6 != nil {
		families = append(families, 6)
	}
	return families
}

// Absent gives the error with which the socket of a family could not be opened; nil where it is open.
func (e *Engine) Absent(family int) error {
	if family == 4 {
		return e.err4
	}
	return e.err6
}

// Open implements echo.Network.
func (e *Engine) Open(dst netip.Addr, deliver func(echo.Answer)) (echo.Flow, error) {
	s := e.v6
	if dst.Is4() {
		s = e.v4
	}
	if s == nil {
		return nil, echo.ErrFamily
	}
	select {
	case <-s.closed:
		return nil, echo.ErrClosed
	default:
	}
	// A nil *flow must not become a non-nil echo.Flow.
	f, err := s.flows.add(s, dst, deliver)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the sockets and waits for their readers.
func (e *Engine) Close() error {
	var errs []error
	for _, s := range e.sockets() {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

func (e *Engine) sockets() []*socket {
	var open []*socket
	for _, s := range []*socket{e.v4, e.v6} {
		if s != nil {
			open = append(open, s)
		}
	}
	return open
}
