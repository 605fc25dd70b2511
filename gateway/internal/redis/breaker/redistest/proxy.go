package redistest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands between a client and a server and can become a black hole: connections are accepted and stay open, and
// whatever is sent into them vanishes.
type Proxy struct {
	listener net.Listener
	to       string
	hole     atomic.Bool
	delay    atomic.Int64
	mu       sync.Mutex
	conns    []net.Conn
	done     sync.WaitGroup
}

// StartProxy forwards to an address until the test ends.
func StartProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, to: to}
	p.done.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Swallow makes the proxy a black hole, or forward again. Bytes that it swallowed are lost.
func (p *Proxy) Swallow(on bool) { p.hole.Store(on) }

// Delay makes the proxy hold up what passes for so long, each way.
func (p *Proxy) Delay(by time.Duration) { p.delay.Store(int64(by)) }

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp4", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.done.Go(func() { p.forward(server, client) })
		p.done.Go(func() { p.forward(client, server) })
	}
}

func (p *Proxy) forward(to io.WriteCloser, from io.Reader) {
	defer to.Close()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		if p.hole.Load() {
			continue
		}
		time.Sleep(time.Duration(p.delay.Load())) // the latency of a network before a real Redis
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) stop() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}
