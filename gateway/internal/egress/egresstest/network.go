// Package egresstest is a private internet on loopback for the tests of whatever goes out through package egress:
// servers listen at public addresses, a resolver answers for public names, addresses drop, refuse or fail. Nothing
// leaves the machine, and the address policy above it is the real one.
//
//	n := egresstest.New(t)
//	n.Records("example.com. 300 IN A 93.184.216.34")
//	n.Serve("93.184.216.34:80", http.HandlerFunc(…))
//	client := n.Client(nil)
package egresstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/shortage"

	"github.com/miekg/dns"
)

// ResolverAddr is where the operator's resolver of a Network is. The address is one that no visitor's target can have.
var ResolverAddr = netip.MustParseAddrPort("192.0.2.53:53")

// UserAgent is what the Client of a Network calls itself.
const UserAgent = "diagnostics-test/1 (+https://tools.example.com)"

// Network is a private internet. Its methods are safe for concurrent use.
type Network struct {
	*Resolver
	// Delay is that of the clients that are made afterwards.
	Delay shortage.Delay

	t    testing.TB
	done chan struct{}

	mu        sync.Mutex
	listeners map[netip.AddrPort]string // to the loopback address that serves it
	packets   map[netip.AddrPort]string // the same for UDP
	dropped   map[netip.AddrPort]bool
	failing   map[netip.AddrPort]error
	resolvers map[netip.AddrPort]*Resolver
	dials     []netip.AddrPort
}

// New makes a private internet with nothing in it but a resolver without records. All of it is closed with the test.
func New(t testing.TB) *Network {
	t.Helper()
	n := &Network{
		t:         t,
		done:      make(chan struct{}),
		listeners: make(map[netip.AddrPort]string),
		packets:   make(map[netip.AddrPort]string),
		dropped:   make(map[netip.AddrPort]bool),
		failing:   make(map[netip.AddrPort]error),
		resolvers: make(map[netip.AddrPort]*Resolver),
	}
	t.Cleanup(func() { close(n.done) })
	n.Resolver = n.NameServer(ResolverAddr.String())
	return n
}

// Client gives a way out into this network: both families present, the resolver wired, no address its own. mutate may
// change the settings and be nil. It is closed with the test.
func (n *Network) Client(mutate func(*egress.Settings), opts ...egress.Option) *egress.Client {
	n.t.Helper()
	settings := egress.Settings{Resolvers: []netip.AddrPort{ResolverAddr}, UserAgent: UserAgent, Delay: n.Delay}
	if mutate != nil {
		mutate(&settings)
	}
	all := append([]egress.Option{
		egress.WithDialer(n.Dial),
		egress.WithOwnAddresses(func() []netip.Addr { return nil }),
		egress.WithFamilies(egress.Families{V4: true, V6: true}),
		egress.WithSystemLookup(n.lookup),
	}, opts...)
	client, err := egress.New(settings, all...)
	if err != nil {
		n.t.Fatalf("egress.New: %v", err)
	}
	n.t.Cleanup(client.Close)
	return client
}

// lookup is the system's resolver of a host in this network: it has the network's records.
func (n *Network) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	n.Resolver.mu.Lock()
	defer n.Resolver.mu.Unlock()
	found := dnsclient.Addresses(n.records[dns.CanonicalName(host)])
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

// Listen gives a loopback listener that receives what is dialled to the public address, such as "93.184.216.34:443" or
// "[2606:4700::1]:443".
func (n *Network) Listen(public string) net.Listener {
	n.t.Helper()
	at := n.address(public)
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		n.t.Fatalf("listen on loopback: %v", err)
	}
	n.t.Cleanup(func() { _ = l.Close() })
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, taken := n.listeners[at]; taken {
		n.t.Fatalf("%s is listened on already", public)
	}
	n.listeners[at] = l.Addr().String()
	return l
}

// ListenPacket gives a loopback socket that receives the datagrams to the public address. Once it is closed they are
// refused, as by ICMP.
func (n *Network) ListenPacket(public string) net.PacketConn {
	n.t.Helper()
	at := n.address(public)
	var config net.ListenConfig
	c, err := config.ListenPacket(context.Background(), "udp4", "127.0.0.1:0")
	if err != nil {
		n.t.Fatalf("listen on loopback: %v", err)
	}
	n.t.Cleanup(func() { _ = c.Close() })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.packets[at] = c.LocalAddr().String()
	return c
}

// Drop makes dials to the public address hang until the context or the timeout ends them, as a firewall that drops
// does.
func (n *Network) Drop(public string) {
	n.t.Helper()
	at := n.address(public)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropped[at] = true
}

// Fail makes dials to the public address fail with the error, wrapped as the kernel's would be.
func (n *Network) Fail(public string, err error) {
	n.t.Helper()
	at := n.address(public)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failing[at] = err
}

// Dials gives every dial so far that went past the policy to the socket layer, but those to the operator's resolver.
func (n *Network) Dials() []netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]netip.AddrPort(nil), n.dials...)
}

// ForgetDials empties Dials.
func (n *Network) ForgetDials() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dials = nil
}

// Dial is the socket layer of this network: an egress.DialFunc, for a test that wraps it.
func (n *Network) Dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	if strings.HasSuffix(network, "4") != to.Addr().Is4() {
		return nil, failure(network, to, fmt.Errorf("%v is not of network %s", to, network))
	}
	outcome := n.outcomeOf(network, to)
	switch {
	case outcome.err != nil:
		return nil, failure(network, to, os.NewSyscallError("connect", outcome.err))
	case outcome.dropped:
		return nil, n.hang(ctx, network, to)
	case outcome.loopback == "":
		return nil, failure(network, to, os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network[:3], outcome.loopback)
	if err != nil {
		return nil, err
	}
	return publicConn{c, to}, nil
}

type dialOutcome struct {
	loopback string
	dropped  bool
	err      error
}

// outcomeOf records the dial and says what becomes of it.
func (n *Network) outcomeOf(network string, to netip.AddrPort) dialOutcome {
	n.mu.Lock()
	defer n.mu.Unlock()
	if to != ResolverAddr {
		n.dials = append(n.dials, to)
	}
	if r := n.resolvers[to]; r != nil && !n.dropped[to] {
		return dialOutcome{loopback: r.loopback(network), err: n.failing[to]}
	}
	if strings.HasPrefix(network, "udp") {
		return dialOutcome{loopback: n.packets[to], dropped: n.dropped[to], err: n.failing[to]}
	}
	return dialOutcome{loopback: n.listeners[to], dropped: n.dropped[to], err: n.failing[to]}
}

func (n *Network) hang(ctx context.Context, network string, to netip.AddrPort) error {
	select {
	case <-ctx.Done():
	case <-n.done:
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return failure(network, to, ctx.Err())
	}
	return failure(network, to, timeout{})
}

func (n *Network) address(public string) netip.AddrPort {
	n.t.Helper()
	at, err := netip.ParseAddrPort(public)
	if err != nil {
		n.t.Fatalf("%q is not an address with a port: %v", public, err)
	}
	return at
}

// failure wraps an error as net.Dialer does.
func failure(network string, to netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(to), Err: err}
}

// timeout is the error of a dial whose time is up, as package net's own, which cannot be made from outside.
type timeout struct{}

func (timeout) Error() string        { return "i/o timeout" }
func (timeout) Timeout() bool        { return true }
func (timeout) Temporary() bool      { return true }
func (timeout) Is(target error) bool { return target == context.DeadlineExceeded }

// publicConn is a connection whose remote address is the public one.
type publicConn struct {
	net.Conn
	remote netip.AddrPort
}

func (c publicConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }
