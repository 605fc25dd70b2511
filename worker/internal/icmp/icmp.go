// Package icmp sends probes and finds the answers to them: echo requests, and UDP datagrams and TCP SYNs to a port,
// about which routers report by ICMP too (port_network.go). It implements exchange.Network and is independent of hops
// and statistics.
//
// It has two kinds of socket. One raw socket for each address family serves every flow; opening it takes CAP_NET_RAW.
// Where that is refused, a datagram socket for each flow does the same with the kernel's help and without any
// capability (datagram.go).
//
// A raw socket receives a copy of every ICMP message that reaches the host, whatever it is for. A message answers a
// flow only if identifier and sequence number fit and, for an echo reply, the payload is the flow's own; for an error,
// the packet that it quotes is an ICMP echo request to the flow's destination, with the flow's payload (identity.go).
// An IPv4 error that quotes none of it is accepted while few were forged (suspicion.go). Everything else is dropped.
// Datagram sockets are held to the same.
package icmp

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/redact"
	"diagnostics/worker/internal/exchange"
)

// Mode names a kind of socket, as in /readyz.
type Mode string

// The modes.
const (
	Raw      Mode = "raw"
	Datagram Mode = "datagram"
)

// family is what serves the flows of one address family.
type family interface {
	open(dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error)
	// check returns an error unless flows can be opened with the present rights.
	check() error
	close() error
}

// Engine is the open sockets. It is safe for concurrent use.
type Engine struct {
	mode     Mode
	v4, v6   family // nil where absent
	err4     error
	err6     error
	ports    *portNetwork // nil where only ICMP probes can be sent
	errPorts error
	routes   *routeWatcher
	counters counters
}

// Open opens raw sockets, or makes ready for datagram sockets where no raw one is granted, for each family that the
// system has. It fails only if there is none of either kind, with the errors of each. A packet that could not be
// read because of a bug is logged.
func Open(log *slog.Logger) (*Engine, error) {
	e, err := openMode(Raw, log)
	if err == nil {
		return e, nil
	}
	e, err2 := openMode(Datagram, log)
	if err2 == nil {
		return e, nil
	}
	return nil, errors.Join(err, err2)
}

// openMode opens both families in one mode.
func openMode(m Mode, log *slog.Logger) (*Engine, error) {
	e := &Engine{mode: m, routes: newRouteWatcher(log), counters: counters{log: log}}
	e.routes.dropped = droppedBut(e.routes.dropped, e.counters.past6.Load)
	open4, open6 := openRaw4, openRaw6
	if m == Datagram {
		open4, open6 = openDatagram4, openDatagram6
	}
	e.v4, e.err4 = open4(&e.counters)
	e.v6, e.err6 = open6(&e.counters)
	if e.v4 == nil && e.v6 == nil {
		e.routes.stop()
		return nil, fmt.Errorf("%s sockets: IPv4: %w; IPv6: %w", m, e.err4, e.err6)
	}
	if m == Raw {
		e.ports, e.errPorts = openPorts(e.Families(), &e.counters)
	}
	return e, nil
}

// Mode returns the kind of socket in use.
func (e *Engine) Mode() Mode { return e.mode }

// Families returns the families that are open, 4 before 6.
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

// Absent returns the error with which a family could not be opened; nil where it is open.
func (e *Engine) Absent(family int) error {
	if family == 4 {
		return e.err4
	}
	return e.err6
}

// NoPorts returns the error with which raw sockets for UDP and TCP probes could not be opened; nil where they are open,
// and where there are datagram sockets, which have none.
func (e *Engine) NoPorts() error { return e.errPorts }

// Check returns an error unless flows can be opened with the present rights. Datagram sockets are granted to
// groups, one socket at a time: after a change of group the answer may be another than at the start.
func (e *Engine) Check() error {
	for _, f := range e.families() {
		if err := f.check(); err != nil {
			return fmt.Errorf("%s sockets: %w", e.mode, err)
		}
	}
	return nil
}

// Open implements exchange.Network.
func (e *Engine) Open(dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	f := e.v6
	if dst.Is4() {
		f = e.v4
	}
	if f == nil {
		return nil, exchange.ErrFamily
	}
	return f.open(dst, deliver)
}

// OpenPort implements exchange.PortNetwork.
func (e *Engine) OpenPort(p exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	switch {
	case dst.Is4() && e.v4 == nil, !dst.Is4() && e.v6 == nil:
		return nil, exchange.ErrFamily
	case e.ports == nil:
		return nil, exchange.ErrProtocol
	default:
		return e.ports.open(p, dst, deliver)
	}
}

// Follow implements exchange.Network. Linux reports no error to an ICMPv6 datagram socket when a queue of this host
// drops its packet (ping_v6_sendmsg), but counts it.
func (e *Engine) Follow(dst netip.Addr) exchange.RouteWatch {
	return e.routes.follow(dst, e.mode == Datagram && dst.Is6())
}

// Close closes the sockets and waits for their readers.
func (e *Engine) Close() error {
	defer e.routes.stop()
	var errs []error
	for _, f := range e.families() {
		errs = append(errs, f.close())
	}
	if e.ports != nil {
		errs = append(errs, e.ports.close())
	}
	return errors.Join(errs...)
}

func (e *Engine) families() []family {
	return slices.DeleteFunc([]family{e.v4, e.v6}, func(f family) bool { return f == nil })
}

// Counters are how many packets there have been since the start.
type Counters struct {
	Sent       uint64
	SendErrors uint64
	Received   uint64
	Unmatched  uint64 // received, but no answer to a live flow
	Doubted    uint64 // received, but quoted too little to be accepted while forged ones came
	Dropped    uint64 // lost by the kernel for want of room in the sockets
	Panics     uint64 // panics while packets were read
}

type counters struct {
	sent, sendErrors, received, unmatched, doubted atomic.Uint64
	// droppedDatagrams is of the flows that were closed.
	droppedDatagrams atomic.Uint64
	// past6 is how many sends of IPv6 datagrams met an error of an earlier packet and were repeated.
	past6 atomic.Uint64

	panics     atomic.Uint64
	firstPanic sync.Once
	log        *slog.Logger
}

// guard calls what reads one packet. A packet that makes it panic is dropped and counted; the reader goes on, for all
// other flows depend on it. Only the first is logged: there can be thousands a second.
func (c *counters) guard(read func()) {
	if p := parallel.Catch(read); p != nil {
		c.note(p)
	}
}

// keepReading runs a family's one reader until it is closed. A panic outside of a packet must not end it: every flow
// would receive nothing from then on, and count that as loss.
func (c *counters) keepReading(read func()) {
	for {
		p := parallel.Catch(read)
		if p == nil {
			return
		}
		c.note(p)
		time.Sleep(readPause)
	}
}

func (c *counters) note(p *parallel.Panic) {
	c.panics.Add(1)
	c.firstPanic.Do(func() {
		c.log.Error("reading packets panicked; the next time is only counted",
			"panic", redact.Text(fmt.Sprint(p.Value)), "stack", string(p.Stack))
	})
}

// Counters returns the present counts.
func (e *Engine) Counters() Counters {
	c := &e.counters
	return Counters{
		Sent:       c.sent.Load(),
		SendErrors: c.sendErrors.Load(),
		Received:   c.received.Load(),
		Unmatched:  c.unmatched.Load(),
		Doubted:    c.doubted.Load(),
		Dropped:    e.dropped(),
		Panics:     c.panics.Load(),
	}
}

// dropped returns how many packets the kernel has lost for want of room in the sockets.
func (e *Engine) dropped() uint64 {
	all := e.counters.droppedDatagrams.Load()
	for _, f := range e.families() {
		if s, is := f.(*socket); is {
			all += uint64(s.dropped.Load())
		}
	}
	if e.ports != nil {
		for _, r := range e.ports.readers {
			all += uint64(r.dropped.Load())
		}
	}
	return all
}

// dropped6 counts the IPv6 packets that this host dropped instead of sending. Linux reports no error for them to an
// ICMPv6 datagram socket (ping_v6_sendmsg). Its counter also grows when a send fails with the ICMP error of an earlier
// packet (ip6_append_data): droppedBut subtracts those.
type dropped6 struct{ file *os.File }

// droppedBut takes off what the kernel counts and nothing was lost by. What is taken off is read last, as it is counted
// last.
func droppedBut(dropped, others func() uint64) func() uint64 {
	return func() uint64 {
		all := dropped()
		return all - others()
	}
}

// openDropped6 opens the counters of the network namespace. Where there are none, none are dropped.
func openDropped6() dropped6 {
	file, _ := os.Open("/proc/thread-self/net/snmp6")
	return dropped6{file}
}

// now returns the present count.
func (d dropped6) now() uint64 {
	b := make([]byte, 16<<10)
	n, _ := d.file.ReadAt(b, 0) // what is there ends in an EOF; of no file nothing is read
	return outDiscards(b[:n])
}

// outDiscards finds the count among lines of a name and a number each.
func outDiscards(text []byte) uint64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "Ip6OutDiscards" {
			count, _ := strconv.ParseUint(string(f[1]), 10, 64)
			return count
		}
	}
	return 0
}

func (d dropped6) close() { _ = d.file.Close() }
