package shortage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// DialRecorder records why a resolver of package net cannot reach its name servers: the resolver's own errors keep of
// that no more than the text. It is safe for concurrent use.
type DialRecorder struct {
	// Dial connects to a name server.
	Dial func(ctx context.Context, network, server string) (net.Conn, error)
	// OwnFault returns the failure to report where an error of Dial, or the silence of a server, is this host's own
	// fault, else nil.
	OwnFault func(err error, server netip.Addr, since time.Time) error

	mu      sync.Mutex
	began   time.Time // the first dial
	seen    error
	dialled []netip.Addr // with success
}

// Connect is the Dial of the resolver.
func (r *DialRecorder) Connect(ctx context.Context, network, server string) (net.Conn, error) {
	r.mu.Lock()
	if r.began.IsZero() {
		r.began = time.Now()
	}
	r.mu.Unlock()
	conn, err := r.Dial(ctx, network, server)
	to, _ := netip.ParseAddrPort(server) // the zero address is no way to anywhere
	r.note(err, to.Addr())
	return conn, err
}

func (r *DialRecorder) note(err error, server netip.Addr) {
	var own error
	if err != nil {
		own = r.OwnFault(err, server, r.began)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.dialled = append(r.dialled, server)
	case own != nil:
		r.seen = own
	}
}

// Of returns the failure to report where the error is that of a lookup which ended without an answer, and a name server
// could not be reached by this host's own fault; else nil.
func (r *DialRecorder) Of(err error) error {
	if failed, is := errors.AsType[*net.DNSError](err); !is || failed.IsNotFound {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen != nil {
		return r.seen
	}
	return r.lost(err)
}

// lost looks again at the servers that were dialled: over UDP that succeeds on a link without a carrier. The lookup
// has no more than a text of them, so they are looked up as silent.
func (r *DialRecorder) lost(err error) error {
	silence := fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	for _, server := range r.dialled {
		if own := r.OwnFault(silence, server, r.began); own != nil {
			return own
		}
	}
	return nil
}
