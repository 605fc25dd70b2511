package shortage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
)

// Witness sees why a resolver of package net cannot reach its name servers: the resolver's own errors keep of that no
// more than the text. It is safe for concurrent use.
type Witness struct {
	// Dial connects to a name server.
	Dial func(ctx context.Context, network, server string) (net.Conn, error)
	// OwnFault gives the failure to tell where an error of Dial, or the silence of a server, is this host's own fault,
	// else nil.
	OwnFault func(err error, server netip.Addr) error

	mu      sync.Mutex
	seen    error
	dialled []netip.Addr // with success
}

// Connect is the Dial of the resolver.
func (w *Witness) Connect(ctx context.Context, network, server string) (net.Conn, error) {
	conn, err := w.Dial(ctx, network, server)
	to, _ := netip.ParseAddrPort(server) // the zero address is no way to anywhere
	w.note(err, to.Addr())
	return conn, err
}

func (w *Witness) note(err error, server netip.Addr) {
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dialled = append(w.dialled, server)
		return
	}
	if own := w.OwnFault(err, server); own != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = own
	}
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
	if w.seen != nil {
		return w.seen
	}
	return w.lost(err)
}

// lost asks again about the servers that were dialled: over UDP that succeeds on a link without a carrier. The lookup
// tells no more of them than a text, so they are asked about as silent.
func (w *Witness) lost(err error) error {
	silence := fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	for _, server := range w.dialled {
		if own := w.OwnFault(silence, server); own != nil {
			return own
		}
	}
	return nil
}
