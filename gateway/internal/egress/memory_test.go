package egress_test

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress"

	"github.com/miekg/dns"
)

// memory is a socket layer without sockets, for tests in a bubble of synctest: whoever waits for a pipe there waits for
// something in the bubble. It counts the connections that are open at this side.
type memory struct {
	open atomic.Int32
	// serve is called with the far end of each connection, in a goroutine of its own.
	serve func(network string, to netip.AddrPort, far net.Conn)
}

func (m *memory) dial(_ context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer func() { _ = far.Close() }()
		m.serve(network, to, far)
	}()
	m.open.Add(1)
	return &countedConn{Conn: near, open: &m.open}, nil
}

// countedConn counts itself out when it is closed.
type countedConn struct {
	net.Conn
	open   *atomic.Int32
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// memoryClient gives a client whose every connection goes over dial. It is closed with the test, inside the bubble.
func memoryClient(t *testing.T, dial egress.DialFunc, opts ...egress.Option) *egress.Client {
	t.Helper()
	all := append([]egress.Option{
		egress.WithDialer(dial),
		egress.WithOwnAddresses(func() []netip.Addr { return nil }),
	}, opts...)
	c, err := egress.New(egress.Settings{
		Resolvers: addrPorts("192.0.2.53:53"),
		Families:  egress.FamiliesBoth,
	}, all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// nameServer answers one query over UDP with what the script says; nil is silence until the other side leaves.
func nameServer(script func(q *dns.Msg) *dns.Msg) func(string, netip.AddrPort, net.Conn) {
	return func(_ string, _ netip.AddrPort, far net.Conn) {
		packet := make([]byte, 4096)
		n, err := far.Read(packet)
		q := new(dns.Msg)
		if err != nil || q.Unpack(packet[:n]) != nil {
			return
		}
		m := script(q)
		if m == nil {
			stay(far)
			return
		}
		if answer, err := m.Pack(); err == nil {
			_, _ = far.Write(answer)
		}
	}
}
