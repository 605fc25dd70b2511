package tlsscan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

// maxFails is how many connections may fail to open or be left without a word, one after another, before a scan leaves
// the server alone.
const maxFails = 6

// question is what is asked on one connection.
type question struct {
	version        Version
	suites, groups []uint16
	// share tells, in TLS 1.3, to send one, where x25519 is among the groups; without it the server is asked to name a
	// group. grease is a share of no group at all, for servers that do not take none.
	share, grease bool
}

// greaseGroup is one that no server takes (RFC 8701).
const greaseGroup = 0x2A2A

func (r *run) hello(q question) clientHello {
	h := newHello(q.version)
	h.serverName, h.suites, h.groups, h.signatures = r.ServerName, q.suites, q.groups, signatures
	if r.compact.Load() {
		h.signatures = commonSignatures
	}
	switch {
	case q.share && slices.Contains(q.groups, groupX25519):
		public := make([]byte, 32) // any 32 octets are one, and nothing is done with the secret
		_, _ = rand.Read(public)
		h.shares = []keyShare{{groupX25519, public}}
	case q.grease:
		h.groups = append([]uint16{greaseGroup}, q.groups...)
		h.shares = []keyShare{{greaseGroup, []byte{0}}}
	}
	return h
}

// answer is what came of a question.
type answer int

const (
	// accepted: a ServerHello of the version, with what was offered.
	accepted answer = iota
	// refused: an alert, an end without a word, or another version.
	refused
	// dropped: the connection was reset, and so was the next.
	dropped
	// unclear: anything else.
	unclear
	// over: there are no more connections, or there is no more time.
	over
)

// ask puts a question, and once more where the network failed.
func (r *run) ask(ctx context.Context, q question) (f flight, a answer, err error) {
	f, err = r.askOnce(ctx, q)
	a = r.judge(ctx, q, f, err)
	if a == dropped {
		again, why := r.askOnce(ctx, q)
		if b := r.judge(ctx, q, again, why); b == over {
			a = unclear
		} else {
			f, a, err = again, b, why
		}
	}
	switch {
	case a == dropped && errors.Is(err, errDial):
		a = unclear
	case a == accepted:
		r.note(r.found[q.version], f)
	case f.gotServerHello:
		err = ErrOtherVersion
	}
	return f, a, err
}

// judge tells an answer. A connection that could not be opened is dropped too: it may be tried again.
func (r *run) judge(ctx context.Context, q question, f flight, err error) answer {
	var alert Alert
	switch {
	case f.gotServerHello && f.hello.version == q.version:
		return accepted
	case f.gotServerHello:
		return refused
	case errors.Is(err, ErrSpent), errors.Is(err, errGivenUp), ctx.Err() != nil:
		return over
	case errors.As(err, &alert):
		// Whatever the alert: OpenSSL 3 says internal_error where its security level leaves a version without signatures.
		// But one about the name is about no version.
		if alert.Description == alertUnrecognizedName {
			return unclear
		}
		return refused
	case errors.Is(err, io.EOF): // how some servers refuse
		return refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, errDial) && !fault.IsTimeout(err):
		return dropped
	}
	return unclear
}

var (
	errDial    = errors.New("tlsscan: no connection")
	errGivenUp = errors.New("tlsscan: too many connections failed")
)

// askOnce puts a question on a connection of its own.
func (r *run) askOnce(ctx context.Context, q question) (f flight, err error) {
	switch {
	case r.spent.Load():
		return flight{}, ErrSpent
	case r.fails.Load() >= maxFails:
		return flight{}, errGivenUp
	case ctx.Err() != nil:
		return flight{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, r.ConnTimeout)
	defer cancel()
	conn, err := r.Dial(ctx)
	if errors.Is(err, ErrSpent) {
		r.spent.Store(true)
		return flight{}, err
	}
	if err != nil {
		r.fails.Add(1)
		return flight{}, fmt.Errorf("%w: %w", errDial, err)
	}
	defer func() { _ = conn.Close() }()
	defer parallel.Interrupt(ctx, conn)()

	hello := r.hello(q)
	if _, err := conn.Write(inRecord(hello.recordVersion(), recordHandshake, hello.marshal())); err != nil {
		return flight{}, err
	}
	from := reader{from: conn}
	err = f.readUntil(&from, hasKeyExchange)
	if from.octets == 0 && fault.IsTimeout(err) {
		r.fails.Add(1)
	} else {
		r.fails.Store(0)
	}
	if f.gotServerHello {
		r.gotServerHello.Store(true)
	}
	sendCloseNotify(conn, f)
	return f, err
}

// sendCloseNotify tells a server that has said hello that nothing follows. Where records are protected from then on,
// ours would have to be.
func sendCloseNotify(conn net.Conn, f flight) {
	if !f.gotServerHello || f.hello.version == TLS13 && !f.hello.retry {
		return
	}
	_, _ = conn.Write(inRecord(min(f.hello.version, TLS12), recordAlert, []byte{alertWarning, alertClose}))
}

// note keeps what the acceptance of a version tells in passing.
func (r *run) note(t *taken, f flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := f.keyExchange
	if x.dhBits > 0 {
		t.bits[f.hello.suite] = x.dhBits
	}
	if isFiniteField(x.group) {
		r.ffdhe = append(r.ffdhe, x.group)
	}
	if f.suite.Authentication == "ECDSA" && len(f.all) > 0 {
		t.leaf = f.all[0]
	}
}
