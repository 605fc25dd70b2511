package certs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"sync"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
)

// Servers choose their chains, and a few certificates that issue one another lead to hundreds of signatures.
const (
	// maxCheckCost is the processor time that verifying one chain may take. One of four certificates with P-521 keys that
	// leads to no trusted root takes nearly all of it.
	maxCheckCost = 45 * time.Millisecond
	// rootCost is for the roots that are tried beside each certificate: public authorities have at most RSA keys of 4,096
	// bits, or P-384.
	rootCost = 300 * time.Microsecond
)

// work is what is left of a check's, and the signatures that it has verified.
type work struct {
	left time.Duration
	// afford reports whether the run has room for a cost, and counts it.
	afford func(time.Duration) bool
	// spent is that something was not verified, since it would have cost more than was left.
	spent bool
	known map[link]bool
}

// link is a certificate and one that may have issued it.
type link struct{ parent, cert *x509.Certificate }

func newWork(afford func(time.Duration) bool) *work {
	return &work{left: maxCheckCost, afford: afford, known: map[link]bool{}}
}

// take counts a cost, or nothing; it reports whether there was room.
func (w *work) take(cost time.Duration) bool {
	if cost > w.left || !w.afford(cost) {
		w.spent = true
		return false
	}
	w.left -= cost
	return true
}

// issued reports whether the one certificate was issued by the other, as the function has it: it is called once for
// each pair, and as long as there is work left.
func (w *work) issued(parent, cert *x509.Certificate) bool {
	if !mayHaveIssued(parent, cert) {
		return false
	}
	l := link{parent, cert}
	if made, is := w.known[l]; is {
		return made
	}
	if !w.take(keyCost(parent)) {
		return false
	}
	w.known[l] = issued(parent, cert)
	return w.known[l]
}

// takeVerify takes what x509.Verify does with the leaf and the others at most, and reports whether there was enough.
// Verify tries every certificate whose name is the issuer's, in every order.
func (w *work) takeVerify(sent []*x509.Certificate) bool {
	cost := time.Duration(0)
	var climb func(top int, below uint)
	climb = func(top int, below uint) {
		cost += rootCost
		for i, candidate := range sent {
			if below&(1<<i) != 0 || !bytes.Equal(candidate.RawSubject, sent[top].RawIssuer) {
				continue
			}
			if cost += keyCost(candidate); cost > w.left {
				return
			}
			climb(i, below|1<<i)
		}
	}
	climb(0, 1)
	return w.take(cost)
}

// keyCost is the cost of verifying a signature by the certificate's key: nothing where that is not done.
func keyCost(cert *x509.Certificate) time.Duration {
	if LongKey(cert) {
		return 0
	}
	return weight.Verify(cert.PublicKey)
}

// memory is what a run has judged: the hops and addresses of a site mostly show the same chain.
type memory struct {
	mu       sync.Mutex
	verdicts map[[sha256.Size]byte]Verdict
	afford   func(time.Duration) bool
}

type memoryKey struct{}

// WithMemory makes no chain be judged for the same host and key exchange twice on behalf of the context. afford reports
// whether the run has room for the processor time of a verification, and counts it; what it refuses is not verified
// (DefectCostly).
func WithMemory(ctx context.Context, afford func(cost time.Duration) bool) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{afford: afford})
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
		v = c.check(sent, host, exchange, newWork(m.afford))
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
