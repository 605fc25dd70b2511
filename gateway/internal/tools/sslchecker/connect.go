package sslchecker

import (
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

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tlswire"
)

// maxTried bounds the addresses that are tried: a name may have thousands, all of them somebody else's.
const maxTried = 6

// minConnectShare is what every address is given at least, as net.Dialer does.
const minConnectShare = 2 * time.Second

// connect reaches the first address, of the first few, that takes the connection. The time is shared out, so that a
// silent first address leaves some to the next. Errors are *fault.Error, or the context's own.
func (s checker) connect(ctx context.Context, to target.HostPort) (net.Conn, netip.Addr, error) {
	resolution, err := s.egress.Resolve(ctx, to.Host)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	if err := resolution.Reachable(); err != nil {
		return nil, netip.Addr{}, err
	}
	var failures []error
	deadline := time.Now().Add(s.timeout)
	addresses := resolution.All()
	addresses = addresses[:min(len(addresses), maxTried)]
	for i, address := range addresses {
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		share := max(left/time.Duration(len(addresses)-i), min(left, minConnectShare))
		conn, err := s.dial(ctx, netip.AddrPortFrom(address, to.Port), share)
		if err == nil {
			return conn, address, nil
		}
		if ended := ctx.Err(); ended != nil {
			return nil, netip.Addr{}, ended
		}
		if fault.Is(err, fault.Refused) {
			return nil, netip.Addr{}, err
		}
		failures = append(failures, err)
	}
	return nil, netip.Addr{}, connectFault(to, failures)
}

func (s checker) dial(ctx context.Context, to netip.AddrPort, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.egress.Dial(ctx, to)
}

// connectFault says why no address took the connection. An answer of any says more than the silence of others, but
// nothing is known of one that was not tried because a limit was reached, or because this service lacked the means.
func connectFault(to target.HostPort, failures []error) error {
	cause := errors.Join(failures...)
	var untried *fault.Error // the first
	switch {
	case errors.As(cause, &untried):
		return untried
	case errors.Is(cause, syscall.ECONNREFUSED):
		return fault.Wrap(fault.Upstream, cause, fmt.Sprintf("%s refused the connection on port %d.", to.Host.Short(),
			to.Port))
	case allTimedOut(failures):
		return fault.Wrap(fault.Timeout, cause, fmt.Sprintf("%s did not answer on port %d.", to.Host.Short(), to.Port))
	}
	return fault.Wrap(fault.Upstream, cause, fmt.Sprintf("%s could not be reached on port %d.", to.Host.Short(), to.Port))
}

func allTimedOut(failures []error) bool {
	for _, err := range failures {
		if !fault.IsTimeout(err) {
			return false
		}
	}
	return true
}

// observation is what the main handshake showed. failure is why it did not complete although the certificates came;
// refused that this service ended it because of them, and cut that not all of them could be read.
type observation struct {
	state           tls.ConnectionState
	refused, cut    bool
	took            time.Duration
	failure         error
	clientRequested bool
}

// handshake does STARTTLS where the port asks for it, and the main handshake. One that fails after the server has shown
// its certificates still counts: servers that demand a client certificate end so. Errors are *fault.Error, or the
// context's own.
func (s checker) handshake(ctx context.Context, conn net.Conn, to target.HostPort, alpn []string) (observation, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	defer interruptOn(limited, conn)()

	if protocol, ok := starttlsByPort[to.Port]; ok {
		if err := startTLS(conn, protocol); err != nil {
			return observation{}, endOr(ctx, s.blame(conn, err, starttlsFault(limited, to, protocol, err)))
		}
	}
	var seen observation
	config := clientConfig(to.Host.Name())
	config.NextProtos = alpn
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		seen.clientRequested = true
		return &tls.Certificate{}, nil
	}
	wire := tlswire.Record(conn)
	config.KeyLogWriter = wire.KeyLog()
	heard := &openingRecorder{Conn: wire}
	client := tls.Client(heard, config)
	start := time.Now()
	seen.failure = client.HandshakeContext(limited)
	seen.took = time.Since(start)
	seen.state = client.ConnectionState()
	if seen.failure != nil && len(seen.state.PeerCertificates) == 0 && !brokenOff(limited, seen.failure) {
		seen.readFrom(wire)
	}
	if len(seen.state.PeerCertificates) > 0 && ctx.Err() == nil {
		return seen, nil
	}
	failed := handshakeFault(limited, to, seen.failure, readOpening(heard.opening))
	return observation{}, endOr(ctx, s.blame(conn, seen.failure, failed))
}

// brokenOff tells a handshake that the server left, or that took too long.
func brokenOff(ctx context.Context, err error) bool {
	return ctx.Err() != nil || fault.IsTimeout(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// readFrom reads the certificates of a handshake that was not completed. crypto/tls shows none where one of them has a
// key that it does not take, or cannot be read, or where they are too long; and up to TLS 1.2 none where the server
// gave up after them.
func (seen *observation) readFrom(wire *tlswire.Conn) {
	all, whole := wire.Certificates()
	seen.refused = refusedCertificates(seen.failure)
	seen.cut = !whole
	for _, der := range all {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			seen.cut = true
			break
		}
		seen.state.PeerCertificates = append(seen.state.PeerCertificates, cert)
	}
}

// refusedCertificates tells a handshake that this service ended because of the server's certificates. crypto/tls has
// only texts for that.
func refusedCertificates(err error) bool {
	return errors.Is(err, tlswire.ErrHandshake) || slices.ContainsFunc([]string{
		"tls: server sent certificate containing RSA key larger than ",
		"tls: failed to parse certificate from server: ",
	}, func(text string) bool { return strings.HasPrefix(err.Error(), text) })
}

// blame gives the failure of a conversation, or that of this service where the cause is its own, or a bound on the run.
func (s checker) blame(conn net.Conn, cause, failed error) error {
	var bound *fault.Error
	if errors.As(cause, &bound) {
		return bound
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return failed
	}
	if own := s.egress.OwnFault(cause, remote.Addr()); own != nil {
		return own
	}
	return failed
}

// errALPNRefused marks a server that speaks TLS, but none of the protocols offered on top of it.
var errALPNRefused = errors.New("no application protocol in common")

// handshakeWithoutALPN is the handshake again for servers that are no web servers and insist on that.
func (s checker) handshakeWithoutALPN(
	ctx context.Context, address netip.Addr, to target.HostPort,
) (observation, error) {
	conn, err := s.dial(ctx, netip.AddrPortFrom(address, to.Port), s.timeout)
	var refused *fault.Error
	if errors.As(err, &refused) {
		return observation{}, err
	}
	if err != nil {
		return observation{}, endOr(ctx, connectFault(to, []error{err}))
	}
	defer func() { _ = conn.Close() }()
	return s.handshake(ctx, conn, to, nil)
}

// endOr gives the end of the run where that is why something failed.
func endOr(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return err
}

func starttlsFault(ctx context.Context, to target.HostPort, protocol string, err error) error {
	timedOut := ctx.Err() != nil || fault.IsTimeout(err)
	host := to.Host.Short()
	var refused *starttlsRefused
	switch {
	case errors.As(err, &refused):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s offers STARTTLS on port %d, but refuses it: it answers %s.",
			host, to.Port, refused.answer))
	case timedOut:
		return fault.Wrap(fault.Timeout, err, fmt.Sprintf("%s took the connection on port %d and then said nothing in time.",
			host, to.Port))
	case errors.Is(err, errStarttlsNotOffered):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s does not offer STARTTLS on port %d.", host, to.Port))
	case errors.Is(err, errStarttlsRejected):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("The server of %s on port %d turned the connection away.", host,
			to.Port))
	case errors.Is(err, errStarttlsProtocol):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s does not speak %s on port %d as it should.", host,
			starttlsTitles[protocol], to.Port))
	}
	return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s closed the connection on port %d before TLS could begin.",
		host, to.Port))
}

// starttlsTitles are the protocols as sentences write them.
var starttlsTitles = map[string]string{"smtp": "SMTP", "pop3": "POP3", "imap": "IMAP"}

// handshakeFault says why no certificate was seen.
func handshakeFault(ctx context.Context, to target.HostPort, err error, heard opening) error {
	host := to.Host.Short()
	var notTLS tls.RecordHeaderError
	switch {
	case ctx.Err() != nil || fault.IsTimeout(err):
		return fault.Wrap(fault.Timeout, err,
			fmt.Sprintf("%s took the connection on port %d but did not complete a TLS handshake in time.", host, to.Port))
	case errors.Is(err, tlswire.ErrHandshake):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s sent a TLS handshake of more than 128 KiB on port %d.", host,
			to.Port))
	case errors.Is(err, tlswire.ErrRecords):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s sent an answer that makes no sense on port %d.", host,
			to.Port))
	case errors.As(err, &notTLS):
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s does not speak TLS on port %d.", host, to.Port))
	case heard.alert == alertNoALPN:
		return fault.Wrap(fault.Upstream, errALPNRefused,
			fmt.Sprintf("%s refused the TLS handshake on port %d: it speaks another protocol on top.", host, to.Port))
	case heard.alert >= 0:
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s refused the TLS handshake on port %d: %s.", host, to.Port,
			alertName(heard.alert)))
	case heard.version != 0:
		return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s began a TLS handshake on port %d that cannot be completed; "+
			"its certificate cannot be read.", host, to.Port))
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fault.Wrap(fault.Upstream, err,
			fmt.Sprintf("%s closed the connection on port %d in place of a TLS handshake.", host, to.Port))
	}
	return fault.Wrap(fault.Upstream, err, fmt.Sprintf("%s does not speak TLS on port %d.", host, to.Port))
}

// alertNoALPN is no_application_protocol (RFC 7301 section 3.2).
const alertNoALPN = 120

// alertName describes a fatal alert by its registered name (RFC 8446 section 6).
func alertName(alert int) string {
	switch alert {
	case 40:
		return "it has no protocol version or cipher suite in common with this service (handshake_failure)"
	case 70:
		return "it takes none of TLS 1.0 to 1.3 (protocol_version)"
	case 71:
		return "it demands more security than was offered (insufficient_security)"
	case 80:
		return "it has a fault of its own (internal_error)"
	case 112:
		return "it does not know this host name (unrecognized_name)"
	}
	return fmt.Sprintf("alert %d", alert)
}
