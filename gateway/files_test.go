package main

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
)

// openFiles counts the sockets of what goes out. Each dial takes a while, as far away, so that what a run does at once
// is open at once.
type openFiles struct {
	network   *egresstest.Network
	mu        sync.Mutex
	now, most int
}

func (o *openFiles) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

// mostSince returns the most since its last call.
func (o *openFiles) mostSince() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := o.most
	o.most = o.now
	return most
}

func (o *openFiles) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	o.add(1)
	time.Sleep(20 * time.Millisecond) // lets the dials to real servers overlap
	c, err := o.network.Dial(ctx, network, to)
	if err != nil {
		o.add(-1)
		return nil, err
	}
	return &openFile{Conn: c, of: o}, nil
}

type openFile struct {
	net.Conn
	of   *openFiles
	once sync.Once
}

func (f *openFile) Close() error {
	f.once.Do(func() { f.of.add(-1) })
	return f.Conn.Close()
}
