//go:build lab

package icmp

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"
)

const openPort, closedPort = 443, 444

// openPortFlow starts a flow of UDP or TCP probes.
func openPortFlow(t *testing.T, e labEngine, p exchange.Protocol, port uint16, dst netip.Addr) (f exchange.Flow, in inbox) {
	t.Helper()
	in = make(inbox, 1000)
	var err error
	e.namespace.Do(func() {
		f, err = e.OpenPort(exchange.Probe{Protocol: p, Port: port}, dst, func(a exchange.Answer) { in <- a })
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, in
}

// listenIn listens on TCP in a namespace and fails the test when a connection comes about.
func listenIn(t *testing.T, n *labtest.Namespace, port string) {
	t.Helper()
	var l net.Listener
	var err error
	n.Do(func() { l, err = net.Listen("tcp", ":"+port) })
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Errorf("a connection from %s came about", c.RemoteAddr())
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
}

// Each TTL finds its router, and the destination answers: what is open and what is closed to SYNs, what is closed to
// UDP. No SYN ever becomes a connection, and none is left waiting for it.
func TestPortProbesFindTheirRouters(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 3)
	e := openIn(t, chain.Source, Raw)
	if err := e.NoPorts(); err != nil {
		t.Fatal(err)
	}
	listenIn(t, chain.Destination, "443")
	for _, dst := range []string{"11.0.3.2", "2a10:3::2"} {
		for _, c := range []struct {
			protocol exchange.Protocol
			port     uint16
		}{{exchange.TCP, openPort}, {exchange.TCP, closedPort}, {exchange.UDP, closedPort}} {
			f, in := openPortFlow(t, e, c.protocol, c.port, netip.MustParseAddr(dst))
			for i, want := range chain.Path(netip.MustParseAddr(dst)) {
				if _, err := f.Send(uint16(100+i), i+1); err != nil {
					t.Fatal(err)
				}
				a := in.next(t)
				kind := exchange.TimeExceeded
				if want == dst {
					kind = exchange.Reply
				}
				if int(a.Seq) != 100+i || a.From.String() != want || a.Kind != kind || a.TTL != 64-i {
					t.Errorf("%s port %d, TTL %d: %+v, want %s", c.protocol, c.port, i+1, a, want)
				}
			}
			in.checkEmpty(t)
		}
	}
	out, err := chain.Destination.Command("ss", "-Htan", "state", "syn-recv").Output()
	if err != nil || len(strings.TrimSpace(string(out))) > 0 {
		t.Errorf("left waiting: %v, %s", err, out)
	}
	if c := e.Counters(); c.SendErrors != 0 || c.Dropped != 0 || c.Doubted != 0 {
		t.Errorf("%+v", c)
	}
}

// SYNs of one flow that get to the destination before the RST which ends the first are each answered by Linux. Here the
// RSTs never leave.
func TestSYNsTogether(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 1)
	rule := "add table inet t; add chain inet t c { type filter hook output priority 0; }; " +
		"add rule inet t c tcp flags rst drop"
	if out, err := chain.Source.Command("nft", rule).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e := openIn(t, chain.Source, Raw)
	listenIn(t, chain.Destination, "443")
	for _, dst := range []string{"11.0.1.2", "2a10:1::2"} {
		f, in := openPortFlow(t, e, exchange.TCP, openPort, netip.MustParseAddr(dst))
		const together = 6
		for i := range together {
			if _, err := f.Send(uint16(i), 64-i); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[uint16]bool{}
		for range together {
			a := in.next(t)
			if a.Kind != exchange.Reply || a.From.String() != dst || seen[a.Seq] {
				t.Errorf("%+v", a)
			}
			seen[a.Seq] = true
		}
	}
}

// A worker without the right to raw sockets has ICMP alone.
func TestNoPortProbesWithDatagramSockets(t *testing.T) {
	t.Parallel()
	e := openIn(t, labtest.NewNamespace(t, "lo"), Datagram)
	_, err := e.OpenPort(exchange.Probe{Protocol: exchange.TCP, Port: 443}, netip.MustParseAddr("127.0.0.1"), deliverNothing)
	if !errors.Is(err, exchange.ErrProtocol) || e.NoPorts() != nil {
		t.Errorf("%v, %v", err, e.NoPorts())
	}
}

// Where there are too few files for the reserved ports, the rest of the engine does its work.
func TestTooFewFilesForPorts(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOO_FEW_FILES") == "" {
		c := labtest.NewNamespace(t, "lo").Command("prlimit", "--nofile=300", os.Args[0],
			"-test.run=^TestTooFewFilesForPorts$")
		c.Env = append(os.Environ(), "TOO_FEW_FILES=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	e, err := openMode(Raw, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.NoPorts() == nil {
		t.Error("the ports are there")
	}
	answered := make(chan exchange.Answer, 1)
	f, err := e.Open(netip.MustParseAddr("127.0.0.1"), func(a exchange.Answer) { answered <- a })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Send(1, 64); err != nil {
		t.Fatal(err)
	}
	select {
	case <-answered:
	case <-time.After(5 * time.Second):
		t.Error("no answer")
	}
}
