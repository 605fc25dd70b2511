package tlswire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

// A ClientHello with the key share of ML-KEM is longer than one segment, and some servers and middleboxes drop or reset
// what does not come in one. They are offered a short one then.

// Silence is how long a server may leave a ClientHello without a byte before a short one is tried beside it.
const Silence = 2 * time.Second

// Hello is one ClientHello and what the server did with it.
type Hello struct {
	// Short makes Config offer less.
	Short bool

	sent       chan struct{} // closed when the hello is about to be sent, over the connection
	over       *Conn
	unanswered atomic.Bool
	timedOut   atomic.Bool
}

// NewHello returns a hello that was not sent.
func NewHello(short bool) *Hello { return &Hello{Short: short, sent: make(chan struct{})} }

// Config returns the config for the hello. A short one has less than 300 octets for most names: no group of ML-KEM, and
// the suites that nearly every server has one of.
func (h *Hello) Config(c *tls.Config) *tls.Config {
	if !h.Short {
		return c
	}
	c = c.Clone()
	c.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256}
	c.CipherSuites = shortSuites
	return c
}

// shortSuites are those of a short hello before TLS 1.3.
var shortSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_128_CBC_SHA,
}

// Handshake completes that of the client over its watched connection, which is about to send the hello.
func (h *Hello) Handshake(ctx context.Context, client *tls.Conn, over *Conn) error {
	h.over = over
	close(h.sent)
	err := client.HandshakeContext(ctx)
	if err != nil {
		h.unanswered.Store(over.unanswered(err))
		h.timedOut.Store(isTimeout(err))
	}
	return err
}

// The alerts that are about what any hello has: protocol_version, unrecognized_name and no_application_protocol.
var alertsForAnyHello = []byte{70, 112, 120}

// unanswered reports whether a handshake failed before a ServerHello, and as it may where the hello is too long.
func (c *Conn) unanswered(err error) bool {
	var bound *fault.Error
	switch {
	case errors.As(err, &bound):
		return false // of this service
	case c.records == 0 && c.have == 0:
		return isTimeout(err) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, syscall.EPIPE)
	}
	return c.records == 1 && c.first.isAlert() && !slices.Contains(alertsForAnyHello, c.first.description())
}

func isTimeout(err error) bool {
	return fault.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded)
}

// firstRecord is the begin of what a server sends, as much as an alert has.
type firstRecord struct {
	bytes [recordHeader + 2]byte
	have  int
}

func (r *firstRecord) take(b []byte) { r.have += copy(r.bytes[r.have:], b) }

func (r *firstRecord) isAlert() bool {
	const alert = 21
	return r.have == len(r.bytes) && r.bytes[0] == alert && r.bytes[1] == 3
}

func (r *firstRecord) description() byte { return r.bytes[recordHeader+1] }

// Try makes a handshake on a connection of its own, with Hello.Handshake.
type Try[T any] func(context.Context, *Hello) (T, error)

// Outcome is what came of a long hello, or of the short one where the server answered that alone.
type Outcome[T any] struct {
	Value T
	Err   error
	// Short reports that Value is of the short hello.
	Short bool

	try  Try[T]
	long *pending[T]
}

// Either tries a long hello. Where the server does not answer it, it tries a short one: once the long one was reset or
// refused, and with beside also after Silence, while the long one keeps its whole time. The first that succeeds counts.
func Either[T any](ctx context.Context, beside bool, try Try[T]) Outcome[T] {
	long := start(ctx, false, try)
	if !long.unansweredSoon(ctx, beside) {
		return long.outcome(try, long)
	}
	ctx, cancel := context.WithCancel(ctx)
	short := start(ctx, true, try)
	defer func() { <-short.Done() }() // also where a panic of the long one ends this
	defer cancel()
	return either(try, long, short)
}

// unansweredSoon waits for the end of a long hello, and with beside for Silence at most. It reports whether a short one
// is to be tried.
func (p *pending[T]) unansweredSoon(ctx context.Context, beside bool) bool {
	var sent <-chan struct{}
	if beside {
		sent = p.hello.sent
	}
	var silence <-chan time.Time
	for {
		select {
		case <-p.Done():
			return ctx.Err() == nil && p.Wait().err != nil && p.hello.unanswered.Load()
		case <-sent:
			sent, silence = nil, time.After(Silence)
		case <-silence:
			if silence = nil; !p.hello.over.begun.Load() {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

func either[T any](try Try[T], long, short *pending[T]) Outcome[T] {
	ended := long.Done()
	for {
		select {
		case <-ended:
			if outcome := long.outcome(try, long); outcome.Err == nil || !long.hello.unanswered.Load() {
				return outcome
			}
			ended = nil
		case <-short.Done():
			outcome := short.outcome(try, long)
			if outcome.Err == nil {
				return outcome
			}
			return long.outcome(try, long)
		}
	}
}

// TooLong reports whether the server answers the short hello and never the long one. It waits for that to end. One that
// was refused at once it tries again: a reset may be chance.
func (o Outcome[T]) TooLong(ctx context.Context) bool {
	if !o.Short {
		return false
	}
	_ = o.long.Wait()
	if !o.long.hello.unanswered.Load() || o.long.hello.timedOut.Load() {
		return o.long.hello.unanswered.Load()
	}
	again := start(ctx, false, o.try)
	_ = again.Wait()
	return again.hello.unanswered.Load()
}

// Wait returns once no handshake is under way any more. Those end with the context of Either.
func (o Outcome[T]) Wait() { <-o.long.Done() }

type result[T any] struct {
	value T
	err   error
}

type pending[T any] struct {
	*parallel.Pending[result[T]]
	hello *Hello
}

func start[T any](ctx context.Context, short bool, try Try[T]) *pending[T] {
	hello := NewHello(short)
	return &pending[T]{parallel.Start(func() result[T] {
		value, err := try(ctx, hello)
		return result[T]{value, err}
	}), hello}
}

func (p *pending[T]) outcome(try Try[T], long *pending[T]) Outcome[T] {
	r := p.Wait()
	return Outcome[T]{Value: r.value, Err: r.err, Short: p.hello.Short, try: try, long: long}
}
