package egresstest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/miekg/dns"
)

// Pipes are a socket layer without sockets, for tests in a bubble of synctest: a reader of a pipe waits for
// something in the bubble.
type Pipes struct {
	// Serve is called with the far end of each connection, in a goroutine of its own.
	Serve func(to netip.AddrPort, far net.Conn)

	open atomic.Int32
}

// Dial is the socket layer: an egress.DialFunc.
func (p *Pipes) Dial(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer func() { _ = far.Close() }()
		p.Serve(to, far)
	}()
	p.open.Add(1)
	return &pipe{Conn: near, open: &p.open}, nil
}

// Open counts the connections that were dialled and not closed.
func (p *Pipes) Open() int { return int(p.open.Load()) }

// pipe counts itself out when it is closed.
type pipe struct {
	net.Conn
	open   *atomic.Int32
	closed atomic.Bool
}

func (p *pipe) Close() error {
	if !p.closed.Swap(true) {
		p.open.Add(-1)
	}
	return p.Conn.Close()
}

// NameServer is a Serve that answers one query over UDP with what the script says; nil is silence until the other side
// leaves.
func NameServer(script func(q *dns.Msg) *dns.Msg) func(netip.AddrPort, net.Conn) {
	return func(_ netip.AddrPort, far net.Conn) {
		packet := make([]byte, dns.MaxMsgSize)
		n, err := far.Read(packet)
		q := new(dns.Msg)
		if err != nil || q.Unpack(packet[:n]) != nil {
			return
		}
		m := script(q)
		if m == nil {
			_, _ = io.Copy(io.Discard, far)
			return
		}
		if answer, err := m.Pack(); err == nil {
			_, _ = far.Write(answer)
		}
	}
}
