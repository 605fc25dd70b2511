package certs

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"math/bits"
	"sync"
)

// What verifying may cost, in verifications of a signature by a P-256 key (about 40 µs). Servers choose their chains,
// and a few certificates that issue one another lead to hundreds of signatures.
const (
	// maxCheckWork is for one chain. One of four certificates with P-521 keys that leads to no trusted root takes nearly
	// all of it.
	maxCheckWork = 900
	// maxRunWork is for all chains of a run.
	maxRunWork = 1800
	// rootWork is for the roots that are tried beside each certificate: public authorities have at most RSA keys of 4,096
	// bits, or P-384.
	rootWork = 7
)

// work is what is left of a check's, and the signatures that it has verified.
type work struct {
	left int
	// spent is that something was not verified, since it would have cost more than was left.
	spent bool
	known map[link]bool
}

// link is a certificate and one that may have issued it.
type link struct{ parent, cert *x509.Certificate }

func newWork(left int) *work { return &work{left: left, known: map[link]bool{}} }

// take takes so much work, or nothing; it reports whether there was enough.
func (w *work) take(n int) bool {
	if n > w.left {
		w.spent = true
		return false
	}
	w.left -= n
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
	if !w.take(keyWork(parent)) {
		return false
	}
	w.known[l] = issued(parent, cert)
	return w.known[l]
}

// takeVerify takes what x509.Verify does with the leaf and the others at most, and reports whether there was enough.
// Verify tries every certificate whose name is the issuer's, in every order.
func (w *work) takeVerify(sent []*x509.Certificate) bool {
	n := 0
	var climb func(top int, below uint)
	climb = func(top int, below uint) {
		n += rootWork
		for i, candidate := range sent {
			if below&(1<<i) != 0 || !bytes.Equal(candidate.RawSubject, sent[top].RawIssuer) {
				continue
			}
			if n += keyWork(candidate); n > w.left {
				return
			}
			climb(i, below|1<<i)
		}
	}
	climb(0, 1)
	return w.take(n)
}

// keyWork is what verifying a signature by the certificate's key costs: nothing where that is not done.
func keyWork(cert *x509.Certificate) int {
	if LongKey(cert) {
		return 0
	}
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		return rsaWork(key)
	case *ecdsa.PublicKey:
		switch size := key.Params().BitSize; {
		case size > 384:
			return 30
		case size > 256:
			return 10
		}
		return 1
	}
	return 2
}

// rsaWork grows with the square of the length, and with the multiplications that the exponent takes: seventeen for the
// usual 65537.
func rsaWork(key *rsa.PublicKey) int {
	const usual = 17
	kilobits := (key.N.BitLen() + 1023) / 1024
	exponent := uint64(key.E) //nolint:gosec // x509 takes none below zero
	return 1 + kilobits*kilobits*max(usual, bits.Len64(exponent)+bits.OnesCount64(exponent))/(2*usual)
}

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
