package sslchecker

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
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
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// attempt is what was learnt at one address; until is its deadline.
type attempt struct {
	address netip.Addr
	until   time.Time
	seen    observation
	// err is why no certificates came, dialled how the first dial failed, and connected whether it took a connection.
	err       error
	dialled   error
	connected bool
	// dialogues are those of STARTTLS.
	dialogues *tally
	// helloTooLong is that it answers a short ClientHello, but not one as long as that of a browser.
	helloTooLong bool
}

// attempt reads the certificates of one address: by a handshake of crypto/tls, and where that cannot speak to the
// server by one that is only read.
func (i *inspection) attempt(ctx context.Context, address netip.Addr) endpointCheck {
	v := attempt{address: address, until: time.Now().Add(2 * i.timeout), dialogues: &tally{}}
	i.shake(ctx, &v, webProtocols(i.to.Port))
	if errors.Is(v.err, errStarttlsNotOffered) { // by this of several servers, perhaps
		again := v
		if i.shake(ctx, &again, nil); again.err == nil {
			v = again
		}
	}
	switch {
	case errors.Is(v.err, errALPNRefused):
		i.shake(ctx, &v, nil)
	case errors.Is(v.err, errNotSpoken):
		i.readInstead(ctx, &v)
	}
	return endpointCheck{State: endpoints.StateOf(v.err), Value: &v, Err: v.err}
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
	cause, at := errors.Join(failures...), finding.Args{"host": who, "port": port}
	if untried, is := errors.AsType[*fault.Error](cause); is { // the first
		return untried
	}
	switch {
	case errors.Is(cause, syscall.ECONNREFUSED):
		return fault.Wrap(fault.Upstream, cause, "CONNECTION_REFUSED", at)
	case !slices.ContainsFunc(failures, func(err error) bool { return !fault.IsTimeout(err) }):
		return fault.Wrap(fault.Timeout, cause, "PORT_SILENT", at)
	}
	return fault.Wrap(fault.Upstream, cause, "HOST_UNREACHABLE", at)
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
	at := finding.Args{"host": host, "port": port}
	if refused, is := errors.AsType[*starttlsRefused](err); is {
		return fault.Wrap(fault.Upstream, err, "STARTTLS_REFUSED", at.With(finding.Args{"answer": refused.answer}))
	}
	broken, _ := errors.AsType[*starttlsBroken](err)
	switch {
	case (ctx.Err() != nil || fault.IsTimeout(err)) && broken != nil:
		return broken.slowness(at)
	case ctx.Err() != nil, fault.IsTimeout(err):
		return fault.Wrap(fault.Timeout, err, "STARTTLS_STUCK", at)
	case errors.Is(err, errStarttlsNotOffered):
		return fault.Wrap(fault.Upstream, err, "STARTTLS_NOT_OFFERED", at)
	case errors.Is(err, errStarttlsRejected):
		return fault.Wrap(fault.Upstream, err, "STARTTLS_REJECTED", at)
	case errors.Is(err, errStarttlsProtocol):
		return fault.Wrap(fault.Upstream, err, "STARTTLS_PROTOCOL",
			at.With(finding.Args{"protocol": strings.ToUpper(protocol)}))
	}
	return fault.Wrap(fault.Upstream, err, "STARTTLS_BROKEN_OFF", at)
}

// slowness is the failure of an answer that did not come whole in time. Servers may take minutes for it (RFC 5321
// section 4.5.3.2), so that one that had begun it is not silent.
func (e *starttlsBroken) slowness(at finding.Args) error {
	at = at.With(finding.Args{"command": e.command})
	switch {
	case e.command == "" && !e.begun:
		return fault.Wrap(fault.Timeout, e, "STARTTLS_SILENT", at)
	case e.command == "":
		return fault.Wrap(fault.Timeout, e, "STARTTLS_SLOW_GREETING", at)
	case !e.begun:
		return fault.Wrap(fault.Timeout, e, "STARTTLS_NO_ANSWER", at)
	}
	return fault.Wrap(fault.Timeout, e, "STARTTLS_SLOW_ANSWER", at)
}

// handshakeFault returns why no certificate was read. version is what the server chose, 0 where it chose none, and
// answer the error of its first flight.
func handshakeFault(
	ctx context.Context, host string, port uint16, err error, version tlsscan.Version, answer error,
) error {
	var notTLS tls.RecordHeaderError
	alert, refused := errors.AsType[tlsscan.Alert](answer)
	refused = refused && version == 0
	at := finding.Args{"host": host, "port": port}
	switch {
	case ctx.Err() != nil || fault.IsTimeout(err):
		return fault.Wrap(fault.Timeout, err, "TLS_TIMEOUT", at)
	case errors.Is(err, tlswire.ErrHandshake):
		return fault.Wrap(fault.Upstream, err, "TLS_TOO_LONG", at)
	case errors.Is(err, tlswire.ErrRecords):
		return fault.Wrap(fault.Upstream, err, "ANSWER_INVALID", at)
	case errors.As(err, &notTLS):
		return fault.Wrap(fault.Upstream, err, "TLS_NOT_SPOKEN", at)
	case refused && alert.Description == alertNoALPN:
		return fault.Wrap(fault.Upstream, errALPNRefused, "TLS_REFUSED",
			at.With(finding.Args{"explanation": "ALERT_NO_PROTOCOL"}))
	case refused && alert.Description == alertUnknownName:
		return fault.Wrap(fault.Upstream, err, "TLS_REFUSED", at.With(finding.Args{"explanation": "ALERT_NAME"}))
	case refused:
		return fault.Wrap(fault.Upstream, notSpoken(err), "TLS_REFUSED", at.With(alertArgs(alert)))
	case version != 0:
		return fault.Wrap(fault.Upstream, notSpoken(err), "TLS_NOT_COMPLETED", at)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fault.Wrap(fault.Upstream, notSpoken(err), "TLS_NOT_BEGUN", at)
	}
	return fault.Wrap(fault.Upstream, err, "TLS_NOT_SPOKEN", at)
}

func notSpoken(err error) error { return errors.Join(errNotSpoken, err) }

// The alerts of which another handshake would learn no more: no_application_protocol (RFC 7301 section 3.2) and
// unrecognized_name (RFC 6066 section 3).
const (
	alertNoALPN      = 120
	alertUnknownName = 112
)

// alertArgs explain a fatal alert (RFC 8446 section 6). What alerts do not say is not said: a handshake_failure may be
// for the lack of a suite or for anything else.
func alertArgs(alert tlsscan.Alert) finding.Args {
	if code := alertCodes[alert.Description]; code != "" {
		return finding.Args{"explanation": code}
	}
	return finding.Args{"explanation": "ALERT_OTHER", "number": alert.Description}
}

var alertCodes = map[byte]string{
	40: "ALERT_NO_REASON", 70: "ALERT_VERSION", 71: "ALERT_SECURITY", 80: "ALERT_INTERNAL_ERROR",
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
			return observation{}, fault.Wrap(fault.Upstream, err, "KEY_EXCHANGE_UNKNOWN",
				finding.Args{"host": who, "group": tlsscan.GroupName(flight.Group), "port": i.to.Port})
		}
		if err != nil {
			return observation{}, fault.Wrap(fault.Upstream, err, "TLS_NOT_SPOKEN", finding.Args{"host": who})
		}
		seen := observationOf(flight)
		seen.took = time.Since(start)
		if len(flight.Certificates) == 0 {
			return observation{}, fault.Wrap(fault.Upstream, errAnonymous, "TLS_ANONYMOUS",
				finding.Args{"host": who, "suite": flight.Suite.Name, "port": i.to.Port})
		}
		if len(seen.state.PeerCertificates) == 0 {
			return observation{}, fault.New(fault.Upstream, "CERTIFICATE_UNREADABLE", finding.Args{"host": who})
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
