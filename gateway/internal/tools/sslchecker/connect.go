package sslchecker

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// attempt is what was learnt at one address; until is its deadline.
type attempt struct {
	address netip.Addr
	until   time.Time
	seen    observation
	// skipped is why it was not tried at all, err why no certificates came, dialled how the first dial failed, and
	// connected whether it took a connection.
	skipped   string
	err       error
	dialled   error
	connected bool
	// dialogues are those of STARTTLS.
	dialogues *tally
	// helloTooLong is that it answers a short ClientHello, but not one as long as that of a browser.
	helloTooLong bool
}

// reached reports whether there are certificates to judge.
func (v *attempt) reached() bool { return v.skipped == "" && v.err == nil }

// attempt reads the certificates of one address: by a handshake of crypto/tls, and where that cannot speak to the
// server by one that is only read.
func (i *inspection) attempt(ctx context.Context, address netip.Addr) attempt {
	v := attempt{address: address, until: time.Now().Add(2 * i.timeout), dialogues: &tally{}}
	if !i.egress.Families().Has(address) {
		v.skipped = "This service has no " + workerapi.FamilyName(address) + " connection." // as port-checker says
		return v
	}
	i.shake(ctx, &v, webProtocols(i.to.Port))
	if errors.Is(v.err, errStarttlsNotOffered) { // by this of several servers, perhaps
		again := v
		if i.shake(ctx, &again, nil); again.reached() {
			v = again
		}
	}
	switch {
	case errors.Is(v.err, errALPNRefused):
		i.shake(ctx, &v, nil)
	case errors.Is(v.err, errNotSpoken):
		i.readInstead(ctx, &v)
	}
	return v
}

// shake makes a handshake of crypto/tls, and where the server does not answer its hello another one with a short hello:
// on ports of mail after the first, as there is one connection at a time.
func (i *inspection) shake(ctx context.Context, v *attempt, alpn []string) {
	began := time.Now()
	outcome := tlswire.Either(ctx, !isMail(i.to.Port), func(ctx context.Context, h *tlswire.Hello) (attempt, error) {
		one := attempt{address: v.address, until: v.until, dialogues: v.dialogues}
		one.seen, one.err = i.converse(ctx, &one, i.handshake(alpn, h))
		return one, one.err
	})
	one := outcome.Value
	v.seen, v.err, v.dialled, v.connected = one.seen, one.err, cmp.Or(v.dialled, one.dialled), v.connected || one.connected
	v.helloTooLong = outcome.TooLong(ctx) && !i.egress.Starved(began)
	outcome.Wait()
}

// conversation is a handshake on a connection that is ready for a ClientHello. who names the server in sentences.
type conversation func(ctx context.Context, conn net.Conn, who string) (observation, error)

// converse connects, does STARTTLS where the port requires it, and has the conversation. Errors are *fault.Error, or
// the context's own.
func (i *inspection) converse(ctx context.Context, v *attempt, shake conversation) (observation, error) {
	who, port := i.who(v.address), i.to.Port
	if !i.mayConnect() {
		return observation{}, errNoConnections
	}
	ctx = progress.Know(ctx, progress.Known{Address: v.address.String()})
	began := time.Now()
	conn, err := i.dial(ctx, netip.AddrPortFrom(v.address, port), i.share(v))
	if err != nil {
		v.dialled = cmp.Or(v.dialled, err)
		return observation{}, endOr(ctx, connectFault(who, port, []error{err}))
	}
	defer func() { _ = conn.Close() }() // before any other: some servers count connections
	v.connected = true
	ctx = progress.Know(ctx, progress.Known{ConnectMs: progress.Milliseconds(time.Since(began))})
	limited, cancel := context.WithTimeout(ctx, i.share(v))
	defer cancel()
	defer parallel.Interrupt(limited, conn)()
	if protocol, ok := starttlsByPort[port]; ok {
		progress.Enter(limited, progress.Waiting)
		err := startTLS(conn, protocol)
		v.dialogues.add(err)
		if err != nil {
			return observation{}, endOr(ctx, i.classify(conn, began, err, starttlsFault(limited, who, port, protocol, err)))
		}
	}
	progress.Enter(limited, progress.Handshake)
	seen, err := shake(limited, conn, who)
	if full := processor.Of(ctx).SpendTime(weight.Shown(seen.state.PeerCertificates)); full != nil {
		return seen, full
	}
	for _, cert := range seen.state.PeerCertificates {
		memory.Count(ctx, 2*len(cert.Raw)) // its parts are kept apart as well
	}
	return seen, endOr(ctx, err)
}

// share is how long the next step of an attempt may take.
func (i *inspection) share(v *attempt) time.Duration { return min(i.timeout, time.Until(v.until)) }

// who is the subject of sentences: the address where the host has several.
func (i *inspection) who(address netip.Addr) string {
	if i.several {
		return address.String()
	}
	return i.to.Host.Short()
}

func (s checker) dial(ctx context.Context, to netip.AddrPort, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.egress.Dial(ctx, to)
}

// connectFault returns why no address accepted the connection. An answer of any outranks the silence of others, but
// one that was not tried, because of a limit or a lack of this service, leaves the question open.
func connectFault(who string, port uint16, failures []error) error {
	cause := errors.Join(failures...)
	if untried, is := errors.AsType[*fault.Error](cause); is { // the first
		return untried
	}
	switch {
	case errors.Is(cause, syscall.ECONNREFUSED):
		return fault.Wrapf(fault.Upstream, cause, "%s refused the connection on port %d.", who, port)
	case !slices.ContainsFunc(failures, func(err error) bool { return !fault.IsTimeout(err) }):
		return fault.Wrapf(fault.Timeout, cause, "%s did not answer on port %d.", who, port)
	}
	return fault.Wrapf(fault.Upstream, cause, "%s could not be reached on port %d.", who, port)
}

// observation is what a handshake showed. failure is why it did not complete although the certificates came; refused
// that this service ended it because of them, and cut that not all of them could be read. read marks a handshake that
// was only read, since crypto/tls cannot speak to the server; dhBits is the size of its finite-field DH, if any.
type observation struct {
	state           tls.ConnectionState
	refused, cut    bool
	read            bool
	dhBits          int
	took            time.Duration
	failure         error
	clientRequested bool
}

// handshake is that of crypto/tls. One that fails after the server has shown its certificates still counts: servers
// that demand a client certificate end so. crypto/tls shows none where it does not support the key of one of them or
// cannot read it, where they are too long, and up to TLS 1.2 where the server gave up after them: these are read from
// what the server sent.
func (i *inspection) handshake(alpn []string, hello *tlswire.Hello) conversation {
	return func(ctx context.Context, conn net.Conn, who string) (observation, error) {
		var seen observation
		config := clientConfig(i.to.Host.Name())
		config.NextProtos = alpn
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			seen.clientRequested = true
			return &tls.Certificate{}, nil
		}
		recorder := &tlsscan.Recorder{Conn: conn}
		config.KeyLogWriter = &recorder.KeyLog
		wire := tlswire.Watch(recorder)
		client := tls.Client(wire, hello.Config(config))
		start := time.Now()
		seen.failure = hello.Handshake(ctx, client, wire)
		seen.took = time.Since(start)
		seen.state = client.ConnectionState()
		if seen.failure == nil {
			return seen, nil
		}
		flight, err := recorder.Flight()
		// Without a version (SSL 3.0) crypto/tls accepted nothing of the answer, and its state is not the server's.
		if seen.state.Version != 0 && len(seen.state.PeerCertificates) == 0 && !brokenOff(ctx, seen.failure) {
			seen.refused = refusedCertificates(seen.failure)
			seen.cut = err != nil
			seen.parse(flight.Certificates)
		}
		if len(seen.state.PeerCertificates) > 0 {
			return seen, nil
		}
		failed := handshakeFault(ctx, who, i.to.Port, seen.failure, flight.Version, err)
		return observation{}, i.classify(conn, start, seen.failure, failed)
	}
}

// brokenOff reports whether the server left a handshake, or it took too long.
func brokenOff(ctx context.Context, err error) bool {
	return ctx.Err() != nil || fault.IsTimeout(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// parse takes the certificates up to the first that cannot be read.
func (seen *observation) parse(all [][]byte) {
	for _, der := range all {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			seen.cut = true
			return
		}
		seen.state.PeerCertificates = append(seen.state.PeerCertificates, cert)
	}
}

// refusedCertificates reports whether this service ended a handshake because of the server's certificates. crypto/tls
// has only texts for that.
func refusedCertificates(err error) bool {
	return errors.Is(err, tlswire.ErrHandshake) || slices.ContainsFunc([]string{
		"tls: server sent certificate containing RSA key larger than ",
		"tls: failed to parse certificate from server: ",
	}, func(text string) bool { return strings.HasPrefix(err.Error(), text) })
}

// classify gives the failure of a conversation, or that of this service where the cause is its own, or a bound on the
// run.
func (s checker) classify(conn net.Conn, since time.Time, cause, failed error) error {
	if bound, is := errors.AsType[*fault.Error](cause); is {
		return bound
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return failed
	}
	if own := s.egress.OwnFault(cause, remote.Addr(), since); own != nil {
		return own
	}
	return failed
}

// errALPNRefused marks a server that speaks TLS, but none of the protocols offered on top of it.
var errALPNRefused = errors.New("no application protocol in common")

// errNotSpoken marks a server that may well speak TLS, but not with crypto/tls, which has no DHE, CCM, Camellia or
// ARIA.
var errNotSpoken = errors.New("crypto/tls cannot speak to the server")

// endOr gives the end of the run where that is why something failed.
func endOr(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return err
}

func starttlsFault(ctx context.Context, host string, port uint16, protocol string, err error) error {
	if refused, is := errors.AsType[*starttlsRefused](err); is {
		return fault.Wrapf(fault.Upstream, err, "%s offers STARTTLS on port %d, but refuses it: it answers %s.",
			host, port, refused.answer)
	}
	broken, _ := errors.AsType[*starttlsBroken](err)
	switch {
	case (ctx.Err() != nil || fault.IsTimeout(err)) && broken != nil:
		return fault.Wrap(fault.Timeout, err, broken.slowness(host, port))
	case ctx.Err() != nil, fault.IsTimeout(err):
		return fault.Wrapf(fault.Timeout, err, "%s accepted the connection on port %d but then took nothing in time.",
			host, port)
	case errors.Is(err, errStarttlsNotOffered):
		return fault.Wrapf(fault.Upstream, err, "%s does not offer STARTTLS on port %d.", host, port)
	case errors.Is(err, errStarttlsRejected):
		return fault.Wrapf(fault.Upstream, err, "The server of %s on port %d rejected the connection.", host, port)
	case errors.Is(err, errStarttlsProtocol):
		return fault.Wrapf(fault.Upstream, err, "%s does not speak proper %s on port %d.", host,
			strings.ToUpper(protocol), port)
	}
	return fault.Wrapf(fault.Upstream, err, "%s closed the connection on port %d before TLS could begin.", host, port)
}

// slowness is the sentence on an answer that did not come whole in time. Servers may take minutes for it (RFC 5321
// section 4.5.3.2), so that one that had begun it is not silent.
func (e *starttlsBroken) slowness(host string, port uint16) string {
	switch {
	case e.command == "" && !e.begun:
		return fmt.Sprintf("%s accepted the connection on port %d but then sent nothing in time.", host, port)
	case e.command == "":
		return fmt.Sprintf("%s had begun its greeting on port %d, but did not finish it in time.", host, port)
	case !e.begun:
		return fmt.Sprintf("%s did not answer %s on port %d in time.", host, e.command, port)
	}
	return fmt.Sprintf("%s had begun its answer to %s on port %d, but did not finish it in time.", host, e.command, port)
}

// handshakeFault returns why no certificate was read. version is what the server chose, 0 where it chose none, and
// answer the error of its first flight.
func handshakeFault(
	ctx context.Context, host string, port uint16, err error, version tlsscan.Version, answer error,
) error {
	var notTLS tls.RecordHeaderError
	alert, refused := errors.AsType[tlsscan.Alert](answer)
	refused = refused && version == 0
	switch {
	case ctx.Err() != nil || fault.IsTimeout(err):
		return fault.Wrapf(fault.Timeout, err,
			"%s accepted the connection on port %d but did not complete a TLS handshake in time.", host, port)
	case errors.Is(err, tlswire.ErrHandshake):
		return fault.Wrapf(fault.Upstream, err, "%s sent a TLS handshake of more than 128 KiB on port %d.", host,
			port)
	case errors.Is(err, tlswire.ErrRecords):
		return fault.Wrapf(fault.Upstream, err, "%s sent an invalid answer on port %d.", host, port)
	case errors.As(err, &notTLS):
		return fault.Wrapf(fault.Upstream, err, "%s does not use TLS on port %d.", host, port)
	case refused && alert.Description == alertNoALPN:
		return fault.Wrapf(fault.Upstream, errALPNRefused,
			"%s refused the TLS handshake on port %d: it expects another application protocol.", host, port)
	case refused && alert.Description == alertUnknownName:
		return fault.Wrapf(fault.Upstream, err, "%s refused the TLS handshake on port %d: it does not know this "+
			"host name (unrecognized_name).", host, port)
	case refused:
		return fault.Wrapf(fault.Upstream, notSpoken(err), "%s refused the TLS handshake on port %d: %s.",
			host, port, cmp.Or(alertNames[alert.Description], fmt.Sprintf("alert %d", alert.Description)))
	case version != 0:
		return fault.Wrapf(fault.Upstream, notSpoken(err), "%s began a TLS handshake on port %d that "+
			"cannot be completed; its certificate cannot be read.", host, port)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fault.Wrapf(fault.Upstream, notSpoken(err),
			"%s closed the connection on port %d instead of starting a TLS handshake.", host, port)
	}
	return fault.Wrapf(fault.Upstream, err, "%s does not use TLS on port %d.", host, port)
}

func notSpoken(err error) error { return errors.Join(errNotSpoken, err) }

// The alerts of which another handshake would learn no more: no_application_protocol (RFC 7301 section 3.2) and
// unrecognized_name (RFC 6066 section 3).
const (
	alertNoALPN      = 120
	alertUnknownName = 112
)

// alertNames describe fatal alerts by their registered names (RFC 8446 section 6). What they do not say is not said: a
// handshake_failure may be for the lack of a suite or for anything else.
var alertNames = map[byte]string{
	40: "it gave no reason (handshake_failure)",
	70: "it does not accept the versions that were offered (protocol_version)",
	71: "it requires more security than was offered (insufficient_security)",
	80: "it reports an internal error (internal_error)",
}

// readInstead reads the certificates of a server that crypto/tls cannot speak to, by handshakes that are only read: of
// every version and suite that there is; of TLS 1.3 alone with all its groups, which would cost servers of older
// versions their finite-field suites; of those before TLS 1.3, where every group can be offered, since no keys have
// to be agreed on to read them; and then of SSL 3.0, which is not offered beside others. Where these fail too, the
// failure is that of crypto/tls, or that the key exchange is not implemented here.
func (i *inspection) readInstead(ctx context.Context, v *attempt) {
	failed := v.err
	before13 := []tlsscan.Version{tlsscan.TLS12, tlsscan.TLS11, tlsscan.TLS10}
	for _, versions := range [][]tlsscan.Version{nil, {tlsscan.TLS13}, before13, {tlsscan.SSL30}} {
		if ctx.Err() != nil || i.share(v) <= 0 {
			return
		}
		v.seen, v.err = i.converse(ctx, v, i.reading(tlsscan.Hello{ServerName: i.to.Host.Name(), Versions: versions}))
		if v.err == nil || errors.Is(v.err, errAnonymous) {
			return
		}
		if errors.Is(v.err, tlsscan.ErrNotComputed) {
			failed = v.err // An older version may still show the certificate.
		}
		v.err = endOr(ctx, failed)
	}
}

// reading is a handshake up to the server's last word before a client's keys.
func (i *inspection) reading(hello tlsscan.Hello) conversation {
	return func(ctx context.Context, conn net.Conn, who string) (observation, error) {
		start := time.Now()
		flight, err := i.read(ctx, conn, hello)
		if errors.Is(err, tlsscan.ErrNotComputed) {
			return observation{}, fault.Wrapf(fault.Upstream, err,
				"%s chose the key exchange %s on port %d, which this service "+
					"does not implement, so its certificate was not read.", who, tlsscan.GroupName(flight.Group), i.to.Port)
		}
		if err != nil {
			return observation{}, fault.Wrap(fault.Upstream, err, who+" does not use TLS.")
		}
		seen := observationOf(flight)
		seen.took = time.Since(start)
		if len(flight.Certificates) == 0 {
			return observation{}, fault.Wrapf(fault.Upstream, errAnonymous,
				"%s chose %s on port %d, with which a server shows no certificate.", who, flight.Suite.Name, i.to.Port)
		}
		if len(seen.state.PeerCertificates) == 0 {
			return observation{}, fault.Newf(fault.Upstream, "The certificate of %s cannot be read.", who)
		}
		return seen, nil
	}
}

// errAnonymous marks a server that speaks TLS and shows no certificate.
var errAnonymous = errors.New("the server has no certificate")

// observationOf puts a handshake that was only read into the terms of crypto/tls.
func observationOf(flight tlsscan.Flight) observation {
	seen := observation{read: true, dhBits: flight.DHBits, clientRequested: flight.ClientRequested}
	seen.state = tls.ConnectionState{
		Version:                     uint16(flight.Version),
		CipherSuite:                 flight.Suite.ID,
		CurveID:                     tls.CurveID(flight.Group),
		NegotiatedProtocol:          flight.ALPN,
		OCSPResponse:                flight.Staple,
		SignedCertificateTimestamps: flight.SCTs,
	}
	seen.parse(flight.Certificates)
	return seen
}
