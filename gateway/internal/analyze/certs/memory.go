package certs

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"sync"
)

// memory is what a run has judged: the hops and addresses of a site mostly show the same chain.
type memory struct {
	mu       sync.Mutex
	verdicts map[[sha256.Size]byte]Verdict
	left     int
}

type memoryKey struct{}

// WithMemory makes all that is judged on behalf of the context share one budget of work, and no chain be judged for the
// same host and key exchange twice.
func WithMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{left: maxRunWork})
}

// CheckIn is Check within the run of the context.
func (c Checker) CheckIn(
	ctx context.Context, sent []*x509.Certificate, host string, exchange KeyExchange,
) Verdict {
	m, _ := ctx.Value(memoryKey{}).(*memory)
	if m == nil {
		return c.Check(sent, host, exchange)
	}
	key := keyOf(sent, host, exchange)
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.verdicts[key]
	if !known {
		w := newWork(min(m.left, maxCheckWork))
		before := w.left
		v = c.check(sent, host, exchange, w)
		m.left -= before - w.left
		if m.verdicts == nil {
			m.verdicts = make(map[[sha256.Size]byte]Verdict)
		}
		m.verdicts[key] = v
	}
	return v
}

// keyOf is the hash of a host, a key exchange and a chain.
func keyOf(sent []*x509.Certificate, host string, exchange KeyExchange) (sum [sha256.Size]byte) {
	h := sha256.New()
	add := func(part []byte) {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = h.Write(part)
	}
	add([]byte(host))
	add([]byte{byte(exchange)})
	for _, cert := range sent {
		add(cert.Raw)
	}
	h.Sum(sum[:0])
	return sum
}
