package tlsscan

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
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

func (r *run) probeVersions(ctx context.Context) {
	answers := map[Version]answer{}
	versions := Versions
	if r.Known != 0 && r.VersionsOnly {
		r.gotServerHello.Store(true)
		answers[r.Known] = accepted
		versions = slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool { return v == r.Known })
	}
	r.probeEach(ctx, answers, versions, 0)
	if doubtful := r.doubtful(answers); len(doubtful) > 0 && !r.ShortHellos {
		r.probeShort(ctx, answers, doubtful)
	}
	// There may be nothing but what is offered last.
	rest := slices.DeleteFunc(r.doubtful(answers), func(v Version) bool { return v == TLS13 || answers[v] != refused })
	r.probeEach(ctx, answers, rest, 1)
	r.confirmVersions(ctx, answers)
	for _, v := range Versions {
		r.found[v].conclude(answers[v], r.gotServerHello.Load())
		if yes := r.found[v].yes; yes != nil && r.OnVersion != nil {
			r.OnVersion(v, *yes)
		}
	}
}

// confirmVersions makes refusals without an alert unclear where the server refuses what it accepted before as well: it
// may be limiting connections.
func (r *run) confirmVersions(ctx context.Context, answers map[Version]answer) {
	silent := slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool {
		return answers[v] != refused && answers[v] != dropped || explained(r.found[v].refusal)
	})
	newest := newestIn(answers)
	if len(silent) == 0 || newest == 0 && r.Known == 0 {
		return // nothing to compare with
	}
	if newest != 0 && (r.Known == 0 || answers[r.Known] == accepted) && r.confirm(ctx, newest, io.EOF) {
		return
	}
	for _, v := range silent {
		answers[v] = unclear
	}
}

// probeEach offers some versions, with a chunk of the suites of each.
func (r *run) probeEach(ctx context.Context, answers map[Version]answer, versions []Version, chunk int) {
	got := make([]answer, len(versions))
	r.each(len(versions), func(i int) {
		q := r.offerOf(versions[i])
		q.suites = r.chunksOf(versions[i])[chunk]
		got[i] = r.probeVersion(ctx, q)
	})
	for i, v := range versions {
		if before, asked := answers[v]; !asked || got[i] != over || before == over {
			answers[v] = got[i]
		}
	}
}

// newestIn is the newest version that is taken, 0 where none is.
func newestIn(answers map[Version]answer) (newest Version) {
	for v, a := range answers {
		if a == accepted {
			newest = max(newest, v)
		}
	}
	return newest
}

// doubtful are the versions, newest first, whose refusal may be about what else the hello has: more than the hello of
// any version that was taken. TLS 1.3 has other suites than the rest, so servers refuse it however they refuse suites.
func (r *run) doubtful(answers map[Version]answer) (versions []Version) {
	newest := newestIn(answers)
	for _, v := range Versions {
		if v > newest && (v < TLS13 || newest == 0) && r.found[v].doubtful() {
			versions = append(versions, v)
		}
	}
	return versions
}

// probeShort offers versions with short hellos, and keeps these where that helps.
func (r *run) probeShort(ctx context.Context, answers map[Version]answer, versions []Version) {
	before := newestIn(answers)
	r.compact.Store(true)
	r.probeEach(ctx, answers, versions, 0)
	if newestIn(answers) == before {
		r.compact.Store(r.ShortHellos)
	}
}

// probeVersion keeps the answer to a version.
func (r *run) probeVersion(ctx context.Context, q offer) answer {
	f, a, err := r.probe(ctx, q)
	t := r.found[q.version]
	switch {
	case a == accepted:
		t.first, t.refusal = f, nil
	case a != over || t.refusal == nil:
		t.refusal = err
	}
	return a
}

// conclude makes a verdict of the answer to a version. A reset is one only where the server answers otherwise.
func (t *taken) conclude(a answer, otherwise bool) {
	yes := a == accepted
	if yes || a == refused || a == dropped && otherwise {
		t.yes = &yes
	}
}

// doubtful reports whether a refusal may be about something else than the version.
func (t *taken) doubtful() bool {
	var alert Alert
	switch {
	case errors.As(t.refusal, &alert):
		return alert.Description != alertProtocolVersion && alert.Description != alertUnrecognizedName
	case t.refusal == nil, errors.Is(t.refusal, ErrOtherVersion), errors.Is(t.refusal, ErrSpent),
		errors.Is(t.refusal, ErrNotTLS), errors.Is(t.refusal, errDial):
		return false
	}
	return true
}

// probeInsecure offers nothing but insecure suites in every version up to TLS 1.2.
func (r *run) probeInsecure(ctx context.Context) {
	versions := slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool {
		return v == TLS13 || !r.found[v].accepts()
	})
	r.each(len(versions), func(i int) {
		t := r.found[versions[i]]
		if t.first.suite.Strength == Insecure {
			t.insecure = []Suite{t.first.suite}
			return
		}
		q := r.offerOf(versions[i])
		if q.suites = insecureOf(versions[i]); r.compact.Load() {
			q.suites = q.suites[:min(len(q.suites), maxSuitesCompact)]
		}
		f, a, err := r.probe(ctx, q)
		switch {
		case a == accepted && slices.Contains(q.suites, f.hello.suite):
			t.insecure = []Suite{f.suite}
		case (a == refused || a == dropped) && !r.compact.Load():
			t.noInsecure = r.confirm(ctx, t.version, err)
		}
	})
}

// insecureOf are the insecure suites of a version that need no more than a certificate, or not even that.
func insecureOf(v Version) []uint16 {
	return only(inOrder, func(s Suite) bool { return s.fits(v) && s.Strength == Insecure && usage(s) < 2 })
}

// probeSuites offers all suites of some versions, and the groups of TLS 1.3 where that is one of them.
func (r *run) probeSuites(ctx context.Context, versions ...Version) {
	type chunk struct {
		of     *taken
		number int
		suites []uint16
	}
	var chunks []chunk
	for _, v := range versions {
		t := r.found[v]
		if !t.accepts() {
			continue
		}
		all := r.chunksOf(v)
		t.chunks = make([][]Suite, len(all))
		for i, suites := range all {
			if t.noInsecure {
				suites = without(suites, insecureOf(v))
			}
			chunks = append(chunks, chunk{t, i, suites})
		}
	}
	r.each(len(chunks), func(i int) {
		c := chunks[i]
		if c.of.version == TLS13 && !r.compact.Load() {
			c.of.chunks[c.number] = r.probe13(ctx, c.of, c.suites)
			return
		}
		c.of.chunks[c.number] = r.eliminate(ctx, c.of.version, c.suites, c.of.first.suite)
		if c.of.version == TLS13 {
			r.probeGroups13(ctx, c.of, offeredGroups(TLS13))
		}
	})
}

// eliminate offers suites until none of those that are left is accepted, and returns the accepted ones in the order in
// which the server chose them. The first is known where it is one of them.
func (r *run) eliminate(ctx context.Context, v Version, suites []uint16, first Suite) (chosen []Suite) {
	q := r.offerOf(v)
	q.suites = suites
	if slices.Contains(suites, first.ID) && first.Name != "" {
		chosen = append(chosen, first)
		q.suites = without(suites, []uint16{first.ID})
	}
	for len(q.suites) > 0 {
		f, a, err := r.probe(ctx, q)
		alert, _ := errors.AsType[Alert](err)
		noneShared := alert.Description == alertHandshakeFailure // as most refuse all suites
		if a != accepted && a != over && len(q.suites) > maxSuites && !noneShared {
			for part := range slices.Chunk(q.suites, maxSuites) {
				chosen = append(chosen, r.eliminate(ctx, v, part, Suite{})...)
			}
			break
		}
		if a == refused || a == dropped {
			r.confirm(ctx, v, err)
			break
		}
		if a != accepted || !slices.Contains(q.suites, f.hello.suite) {
			r.unclear.Store(true)
			break
		}
		chosen = append(chosen, f.suite)
		q.suites = without(q.suites, []uint16{f.hello.suite})
	}
	return chosen
}

// explained reports whether a refusal came in words of TLS.
func explained(err error) bool {
	alert, is := errors.AsType[Alert](err)
	return is && alert.Description != alertClose || errors.Is(err, ErrOtherVersion)
}

// confirm reports whether a refusal is about the offer. After one without an alert it repeats an offer that the server
// accepted before: the server may be limiting connections.
func (r *run) confirm(ctx context.Context, v Version, err error) (certain bool) {
	if explained(err) {
		return true
	}
	q := r.offerOf(v)
	if first := r.found[v].first; first.gotServerHello {
		q.suites = []uint16{first.hello.suite}
	}
	_, a, _ := r.probe(ctx, q)
	if a != accepted {
		r.unclear.Store(true)
	}
	return a == accepted
}

// probe13 offers suites and groups of TLS 1.3 at once, as long as there are both. Without a share for any group the
// server has to name one in a HelloRetryRequest, which costs it no signature and shows its choice of both.
func (r *run) probe13(ctx context.Context, t *taken, suites []uint16) (chosen []Suite) {
	first := t.first.suite
	if !slices.Contains(suites, first.ID) {
		r.unclear.Store(true)
		return nil
	}
	q := r.offerOf(TLS13)
	q.share, q.suites = false, without(suites, []uint16{first.ID})
	chosen = []Suite{first}
	var groups []uint16
	for len(q.suites) > 0 && len(q.groups) > 0 {
		f, a, err := r.probe(ctx, q)
		if a == refused || a == dropped {
			r.confirm(ctx, TLS13, err)
			break
		}
		if a != accepted || !slices.Contains(q.suites, f.hello.suite) || !slices.Contains(q.groups, f.hello.group) {
			r.unclear.Store(true)
			break
		}
		chosen, groups = append(chosen, f.suite), append(groups, f.hello.group)
		q.suites = without(q.suites, []uint16{f.hello.suite})
		q.groups = without(q.groups, []uint16{f.hello.group})
	}
	t.groups = groups
	if greased := r.probeGroups13(ctx, t, q.groups); !greased && len(t.groups) > len(groups) {
		return chosen // there were groups left, so it was the suites that ended it
	}
	return append(chosen, r.eliminate(ctx, TLS13, q.suites, Suite{})...)
}

// probeGroups13 offers the groups of TLS 1.3 that are not known yet. It reports whether that took a share.
func (r *run) probeGroups13(ctx context.Context, t *taken, left []uint16) (greased bool) {
	q := r.offerOf(TLS13)
	q.share = false
	for _, groups := range r.groupChunks(left) {
		q.groups = groups
		chosen, whole := r.eliminateGroups(ctx, q)
		if len(chosen) == 0 && !q.grease && slices.Contains(groups, t.first.hello.group) {
			// It takes one of these, so it is the lack of shares that it does not take.
			q.grease = true
			chosen, whole = r.eliminateGroups(ctx, q)
		}
		t.groups = append(t.groups, chosen...)
		if !whole {
			r.unclear.Store(true)
		}
	}
	if group := t.first.hello.group; !slices.Contains(t.groups, group) && group != 0 {
		t.groups = append(t.groups, group)
		r.unclear.Store(true)
	}
	return q.grease
}

// groupChunks are groups, as many in each chunk as one hello has.
func (r *run) groupChunks(all []uint16) [][]uint16 {
	if r.compact.Load() {
		return slices.Collect(slices.Chunk(all, 8))
	}
	return [][]uint16{all}
}

// eliminateGroups offers groups until none of those that are left is accepted; whole reports that it got that far.
func (r *run) eliminateGroups(ctx context.Context, q offer) (chosen []uint16, whole bool) {
	for len(q.groups) > 0 {
		f, a, err := r.probe(ctx, q)
		if a == refused || a == dropped {
			return chosen, r.confirm(ctx, q.version, err)
		}
		group := f.group()
		if a != accepted || !slices.Contains(q.groups, group) {
			return chosen, false
		}
		chosen = append(chosen, group)
		q.groups = without(q.groups, []uint16{group})
	}
	return chosen, true
}

// group is the one that a server chose, in whatever version.
func (f *flight) group() uint16 { return max(f.hello.group, f.keyExchange.group) }

// probeOldGroups offers the curves of the first of some versions, all before TLS 1.3, that has any; it reports whether
// one had. What TLS 1.3 accepts is not offered again.
func (r *run) probeOldGroups(ctx context.Context, versions ...Version) bool {
	for _, v := range versions {
		t := r.found[v]
		if suites := t.onCurves(); len(suites) > 0 {
			r.probeCurves(ctx, t, suites)
			return true
		}
	}
	return false
}

// onCurves are the suites of a version that exchange keys on a curve: those without ECDSA where there are any, since a
// certificate on a curve adds a condition of its own.
func (t *taken) onCurves() []uint16 {
	all := slices.Concat(t.chunks...)
	onCurve := func(s Suite) bool { return s.KeyExchange == "ECDHE" || s.KeyExchange == "ECDHE_PSK" }
	ids := only(all, func(s Suite) bool { return onCurve(s) && s.Authentication != "ECDSA" })
	if len(ids) == 0 {
		ids = only(all, onCurve)
	}
	return ids[:min(len(ids), maxSuitesCompact)]
}

// probeCurves offers the curves of a version.
func (r *run) probeCurves(ctx context.Context, t *taken, suites []uint16) {
	known := r.found[TLS13].groups
	if first := t.first.keyExchange.group; len(known) == 0 && first != 0 && !isFiniteField(first) {
		t.groups = []uint16{first}
	}
	needed := t.neededCurves(suites)
	for _, curves := range r.groupChunks(offeredGroups(t.version)) {
		q := r.offerOf(t.version)
		q.suites = suites
		left := without(curves, append(slices.Clone(known), t.groups...))
		for len(left) > 0 {
			q.groups = append(slices.Clone(left), without(needed(), left)...)
			f, a, err := r.probe(ctx, q)
			if a == refused || a == dropped {
				r.confirm(ctx, t.version, err)
				break
			}
			group := f.keyExchange.group
			if a != accepted || group == 0 {
				r.unclear.Store(true)
				return
			}
			if !slices.Contains(t.groups, group) && !slices.Contains(known, group) {
				t.groups = append(t.groups, group)
			}
			if !slices.Contains(left, group) {
				break // it chooses what its certificate needs, or for the only curve that it has
			}
			left = without(left, []uint16{group})
		}
	}
}

// neededCurves gives those without which the server cannot use its certificate, whatever curve keys are exchanged on
// (RFC 8422 section 5.1.1): the curve of its key, or those that it took already where that one has no number here.
func (t *taken) neededCurves(suites []uint16) func() []uint16 {
	none := func() []uint16 { return nil }
	if suite, _ := SuiteByID(suites[0]); suite.Authentication != "ECDSA" || len(t.leaf) == 0 {
		return none
	}
	cert, err := x509.ParseCertificate(t.leaf)
	if err != nil {
		return func() []uint16 { return t.groups }
	}
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok {
		return none // Ed25519
	}
	curve := map[string]uint16{"P-224": 21, "P-256": groupP256, "P-384": groupP384, "P-521": groupP521}[key.Params().Name]
	return func() []uint16 { return []uint16{curve} }
}
