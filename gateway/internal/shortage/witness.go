package shortage

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
)

// Witness sees why a resolver of package net cannot reach its name servers: the resolver's own errors keep of that no
// more than the text. It is safe for concurrent use.
type Witness struct {
	// Dial connects to a name server.
	Dial func(ctx context.Context, network, server string) (net.Conn, error)
	// Ours gives the failure to tell where an error of Dial is this host's own fault, else nil.
	Ours func(err error, server netip.Addr) error

	mu   sync.Mutex
	seen error
}

// Connect is the Dial of the resolver.
func (w *Witness) Connect(ctx context.Context, network, server string) (net.Conn, error) {
	conn, err := w.Dial(ctx, network, server)
	if err == nil {
		return conn, nil
	}
	at, _ := netip.ParseAddrPort(server) // the zero address is no way to anywhere
	if ours := w.Ours(err, at.Addr()); ours != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = ours
	}
	return nil, err
}

// Of gives the failure to tell where the error is that of a lookup which ended without an answer, and a name server
// could not be reached by this host's own fault; else nil.
func (w *Witness) Of(err error) error {
	var failed *net.DNSError
	if !errors.As(err, &failed) || failed.IsNotFound {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}
