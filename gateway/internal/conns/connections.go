// Package conns bounds the open connections of a listener: how many there are, how many of one peer, and how long an
// answer may wait for a reader that does not read.
//
// A connection is waiting while it has no request in hand (it is new, kept alive, or still sending a request), busy
// while a request is worked on, and answering while its answer is written. When no more may be open, the one that has
// waited longest makes room for a new one; where none waits, the one that has been answering longest. So a connection
// is taken at once whatever others hold open, and a busy one is never disturbed.
package conns

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Limits bound the connections of a Table. Shared and Stall are needed.
type Limits struct {
	// Max is how many may be open, PerPeer how many of one IPv4 address or IPv6 /64; 0 is no limit.
	Max, PerPeer int
	// Shared reports whether a peer may carry many clients, such as a proxy; PerPeer does not hold for it.
	Shared func(netip.Addr) bool
	// Unfinished is how many bytes the requests that are still on their way may have; 0 is no limit. Headers become many
	// times their size in memory.
	Unfinished int
	// Stall is how long a reader may take nothing of an answer.
	Stall time.Duration
}

// Counts are what a Table has seen. All but Open only grow.
type Counts struct {
	Open int
	// Evicted made room: for another of any peer, for another of the same, for want of files, or for the rest of other
	// requests.
	EvictedFull, EvictedPeer, EvictedFiles, EvictedUnfinished int
	// Refused were closed on arrival, since nothing could make room.
	RefusedFull, RefusedPeer int
	// Cut were closed because their readers did not read.
	Cut int
}

// Table holds the open connections. Every event costs the same however many there are.
type Table struct {
	limits Limits

	mu     sync.Mutex
	counts Counts
	peers  map[netip.Prefix]*peer
	// The lists hold *Conn, the longest in the list first.
	waiting   list.List
	begun     list.List // those of them that have a part of a request
	answering list.List
	received  int // bytes of all parts
}

type peer struct {
	open    int
	waiting list.List
}

// New makes an empty Table.
func New(l Limits) *Table { return &Table{limits: l, peers: make(map[netip.Prefix]*peer)} }

// Counts gives what was counted so far.
func (t *Table) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// Attach makes the server report the states of its connections to the table. They must come from a Listener of the same
// table.
func (t *Table) Attach(s *http.Server) {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, below(c))
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		own, ok := below(c).(*Conn)
		switch {
		case !ok:
		case state == http.StateActive:
			t.move(own, busy)
		case state == http.StateIdle:
			t.becomeIdle(own)
		}
	}
}

// below is the connection that TLS is spoken on, or c itself.
func below(c net.Conn) net.Conn {
	if secured, is := c.(*tls.Conn); is {
		return secured.NetConn()
	}
	return c
}

type connKey struct{}

// Of returns the connection of a request's context, nil where it is not of a Table. All its methods may be called on
// nil.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Listener takes connections for the table.
func (t *Table) Listener(l net.Listener) net.Listener { return &listener{l, t} }

type listener struct {
	net.Listener
	table *Table
}

// Accept gives the next connection that there is room for. It does not give up for want of files: net/http would wait
// for up to a second before its next try, while those that hold the files are idle.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case err == nil:
			if c := l.table.admit(raw); c != nil {
				return c, nil
			}
		case errors.Is(err, syscall.EMFILE):
			if !l.table.evictForFiles() {
				time.Sleep(acceptPause)
			}
		case errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
			// The whole system's shortage: what is closed here may go elsewhere, so no faster than this.
			l.table.evictForFiles()
			time.Sleep(acceptPause)
		default:
			return nil, err
		}
	}
}

// acceptPause is short, since a probe of /healthz waits as long.
const acceptPause = 5 * time.Millisecond

// admit returns nil where there is no room for a connection, which is closed then.
func (t *Table) admit(raw net.Conn) *Conn {
	c := t.wrap(raw)
	t.mu.Lock()
	evict, ok := t.makeRoom(c)
	if ok {
		t.add(c)
	}
	t.mu.Unlock()
	evict()
	if !ok {
		abort(raw)
		return nil
	}
	if c.control != nil {
		tune(c.control)
	}
	return c
}

// wrap finds the peer that a connection counts for. A shared peer counts by its whole address, so that what it carries
// does not fill the /64 of its neighbours.
func (t *Table) wrap(raw net.Conn) *Conn {
	c := &Conn{Conn: raw, table: t, control: controlOf(raw)}
	addr := addrOf(raw.RemoteAddr())
	if c.shared = t.limits.Shared(addr); c.shared && addr.IsValid() {
		c.from = netip.PrefixFrom(addr, addr.BitLen())
	} else {
		c.from = peerOf(addr)
	}
	return c
}

// controlOf is nil for what is not TCP.
func controlOf(raw net.Conn) syscall.RawConn {
	tcp, ok := raw.(*net.TCPConn)
	if !ok {
		return nil
	}
	control, _ := tcp.SyscallConn() // which is nil with an error
	return control
}

// makeRoom reports whether there is room for one more connection; evict closes the one that makes room.
func (t *Table) makeRoom(c *Conn) (evict func(), ok bool) {
	p := t.peers[c.from]
	if p != nil && t.limits.PerPeer > 0 && p.open >= t.limits.PerPeer && !c.shared {
		return t.evict(first(&p.waiting), &t.counts.EvictedPeer, &t.counts.RefusedPeer)
	}
	if t.limits.Max == 0 || t.counts.Open < t.limits.Max {
		return func() {}, true
	}
	return t.evict(t.longest(), &t.counts.EvictedFull, &t.counts.RefusedFull)
}

// evict takes a connection out and returns the function that closes it, outside of the lock. Without a victim the new
// connection is refused. One that was waiting may still have the end of its last answer in transit, so only the rest of
// an answer that is not read is dropped.
func (t *Table) evict(victim *Conn, evicted, refused *int) (end func(), ok bool) {
	if victim == nil {
		*refused++
		return func() {}, false
	}
	*evicted++
	was := victim.state
	t.remove(victim)
	return func() {
		if was == answering {
			dropOnClose(victim.Conn)
		}
		_ = victim.Conn.Close()
	}, true
}

// longest is the connection to evict first, nil where all are busy.
func (t *Table) longest() *Conn {
	if c := first(&t.waiting); c != nil {
		return c
	}
	return first(&t.answering)
}

// first is the connection that has been in the list for longest, nil where there is none.
func first(l *list.List) *Conn {
	if e := l.Front(); e != nil {
		return e.Value.(*Conn)
	}
	return nil
}

// evictForFiles closes one connection, so that its file is free, and reports whether it found one that is not busy.
func (t *Table) evictForFiles() bool {
	t.mu.Lock()
	end, ok := t.evict(t.longest(), &t.counts.EvictedFiles, new(int))
	t.mu.Unlock()
	end()
	return ok
}

// add makes a connection one of the table's. It waits, like every new one.
func (t *Table) add(c *Conn) {
	p := t.peers[c.from]
	if p == nil {
		p = new(peer)
		t.peers[c.from] = p
	}
	p.open++
	t.counts.Open++
	t.enter(c, waiting)
}

// remove takes a connection out, once.
func (t *Table) remove(c *Conn) {
	if c.state == gone {
		return
	}
	t.enter(c, gone)
	t.counts.Open--
	p := t.peers[c.from]
	if p.open--; p.open == 0 {
		delete(t.peers, c.from)
	}
}

// move changes what a connection does, unless it is gone.
func (t *Table) move(c *Conn, to state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.state != gone && c.state != to {
		t.enter(c, to)
	}
}

// enter puts a connection at the end of the lists of its new state.
func (t *Table) enter(c *Conn, to state) {
	p := t.peers[c.from]
	switch c.state {
	case waiting:
		t.waiting.Remove(c.inState)
		p.waiting.Remove(c.ofPeer)
		if c.inPart != nil {
			t.begun.Remove(c.inPart)
			t.received -= c.received
			c.inPart = nil
		}
	case answering:
		t.answering.Remove(c.inState)
	}
	c.state = to
	switch to {
	case waiting:
		c.inState, c.ofPeer = t.waiting.PushBack(c), p.waiting.PushBack(c)
	case answering:
		c.inState = t.answering.PushBack(c)
	}
}

// becomeIdle makes a connection wait for its next request, of which nothing is here.
func (t *Table) becomeIdle(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.state != gone && c.state != waiting {
		c.received = 0
		t.enter(c, waiting)
	}
}

// becomeReading makes a connection wait for the rest of its request, whose first part is here.
func (t *Table) becomeReading(c *Conn) {
	t.mu.Lock()
	var ends []func()
	if c.state != gone && c.state != waiting {
		t.enter(c, waiting)
		ends = t.count(c, c.received)
	}
	t.mu.Unlock()
	endAll(ends)
}

// receive counts a part of a request.
func (t *Table) receive(c *Conn, bytes int) {
	t.mu.Lock()
	var ends []func()
	if c.state == waiting && t.limits.Unfinished > 0 {
		c.received += bytes
		ends = t.count(c, bytes)
	}
	t.mu.Unlock()
	endAll(ends)
}

// count adds to the parts of requests. Where all together are too much, those that began first make room: the functions
// returned close them, outside of the lock.
func (t *Table) count(c *Conn, bytes int) (ends []func()) {
	if bytes == 0 {
		return nil
	}
	if c.inPart == nil {
		c.inPart = t.begun.PushBack(c)
	}
	t.received += bytes
	for t.received > t.limits.Unfinished {
		end, _ := t.evict(first(&t.begun), &t.counts.EvictedUnfinished, new(int))
		ends = append(ends, end)
	}
	return ends
}

func endAll(ends []func()) {
	for _, end := range ends {
		end()
	}
}

// addrOf is the zero Addr for what is not IP.
func addrOf(remote net.Addr) netip.Addr {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// peerOf is the peer that an address belongs to: an IPv4 address or an IPv6 /64, the least that one subscriber holds.
// All that is neither counts as one.
func peerOf(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // which fails for a number of bits that the family does not have
	return p
}
