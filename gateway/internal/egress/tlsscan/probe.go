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

// maxFails is how many connections may fail to open or stay silent, one after another, before a scan ends.
const maxFails = 6

// offer is what one connection offers.
type offer struct {
	version        Version
	suites, groups []uint16
	// share adds a key share in TLS 1.3, where x25519 is among the groups; without it the server has to name a
	// group. grease is a share of a reserved group, for servers that do not accept an empty list.
	share, grease bool
}

// greaseGroup is one that no server accepts (RFC 8701).
const greaseGroup = 0x2A2A

func (r *run) hello(q offer) clientHello {
	h := newHello(q.version)
	h.serverName, h.suites, h.groups, h.signatures = r.ServerName, q.suites, q.groups, signatures
	h.unpadded = r.ShortHellos
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

// answer is the outcome of an offer.
type answer int

const (
	// accepted: a ServerHello of the version, with what was offered.
	accepted answer = iota
	// refused: an alert, a close without an answer, or another version.
	refused
	// dropped: the connection was reset, and so was the next.
	dropped
	// unclear: anything else.
	unclear
	// over: there are no more connections, or there is no more time.
	over
)

// probe makes an offer, and once more where the network failed.
func (r *run) probe(ctx context.Context, q offer) (f flight, a answer, err error) {
	f, err = r.probeOnce(ctx, q)
	a = r.judge(ctx, q, f, err)
	if a == dropped {
		again, why := r.probeOnce(ctx, q)
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

// judge classifies an answer. A connection that could not be opened is dropped too: it may be tried again.
func (r *run) judge(ctx context.Context, q offer, f flight, err error) answer {
	var alert Alert
	switch {
	case f.gotServerHello && f.hello.version == q.version:
		return accepted
	case f.gotServerHello:
		return refused
	case errors.Is(err, ErrSpent), errors.Is(err, errGivenUp), ctx.Err() != nil:
		return over
	case errors.Is(err, errDial): // also where the server ended it before a hello could be sent, which proves nothing
		if fault.IsTimeout(err) {
			return unclear
		}
		return dropped
	case errors.As(err, &alert):
		// Whatever the alert: OpenSSL 3 sends internal_error where its security level leaves a version without
		// signatures. An alert about the name does not concern the version.
		if alert.Description == alertUnrecognizedName {
			return unclear
		}
		return refused
	case errors.Is(err, io.EOF): // how some servers refuse
		return refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return dropped
	}
	return unclear
}

var (
	errDial    = errors.New("tlsscan: no connection")
	errGivenUp = errors.New("tlsscan: too many connections failed")
)

// probeOnce makes an offer on a connection of its own.
func (r *run) probeOnce(ctx context.Context, q offer) (f flight, err error) {
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

// sendCloseNotify closes the TLS connection after a ServerHello. It sends nothing where records are protected from
// then on, as ours would have to be.
func sendCloseNotify(conn net.Conn, f flight) {
	if !f.gotServerHello || f.hello.version == TLS13 && !f.hello.retry {
		return
	}
	_, _ = conn.Write(inRecord(min(f.hello.version, TLS12), recordAlert, []byte{alertWarning, alertClose}))
}

// note keeps what an accepted offer shows besides the version.
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

// offerOf is the first chunk of a version, with all groups.
func (r *run) offerOf(v Version) offer {
	return offer{version: v, suites: r.chunksOf(v)[0], groups: r.groupsOf(v), share: true}
}

// chunksOf are the suites of a version, as many in each as one hello has. The second chunk, of what hardly any server
// has, is as long as it is: servers that fail on it get its parts.
func (r *run) chunksOf(v Version) [][]uint16 {
	all := offered(v)
	if r.compact.Load() {
		return slices.Collect(slices.Chunk(all, maxSuitesCompact))
	}
	if most := mostSuites(v); len(all) > most {
		return [][]uint16{all[:most], all[most:]}
	}
	return [][]uint16{all}
}

// groupsOf are those that a hello of a version has.
func (r *run) groupsOf(v Version) []uint16 {
	switch {
	case v == SSL30:
		return nil
	case r.compact.Load():
		return commonGroups
	}
	return offeredGroups(v)
}
