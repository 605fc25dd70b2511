package egress

import (
	"crypto/tls"
	"errors"
	"strings"
	"syscall"

	"diagnostics/gateway/internal/fault"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// failed is the failure of an attempt for which packets were sent.
func (a *http3Attempt) failed(err error) (HTTP3Failure, error) {
	answered, failed := a.socket.outcome()
	if failed != nil {
		err = failed
	}
	if known, is := errors.AsType[*fault.Error](err); is { // the run has sent what it may
		return HTTP3NotTried, known
	}
	if own := a.client.OwnFault(err, a.result.Address, a.began); own != nil {
		return HTTP3NotTried, own
	}
	switch {
	case isRefusal(err):
		return HTTP3Refused, a.fault(fault.Upstream, err, "refuses UDP packets on this port.")
	case strings.Contains(err.Error(), textLongKey):
		return HTTP3NotVerified, a.fault(fault.Upstream, err, handshakeSentence(errors.New(textLongKey)))
	case !fault.IsTimeout(err) && a.ctx.Err() == nil:
		return HTTP3Broken, a.fault(fault.Upstream, err, quicSentence(err))
	case !answered:
		return HTTP3Silent, a.fault(fault.Timeout, err, "does not answer UDP packets on this port.")
	case a.result.Handshake == 0:
		return HTTP3Broken, a.fault(fault.Timeout, err, "did not finish the QUIC handshake in time.")
	}
	return HTTP3Broken, a.fault(fault.Timeout, err, "finished the QUIC handshake but did not answer in time.")
}

// isRefusal reports whether an ICMP message has ended the connection. Of the ambiguous errors these come from the
// network: OwnFault has taken those of this host.
func isRefusal(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) ||
		errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EACCES)
}

// alertNoProtocol is the TLS alert of a server without a common protocol (RFC 7301 section 3.2).
const alertNoProtocol = 120

func quicSentence(err error) string {
	var transport *quic.TransportError
	var version *quic.VersionNegotiationError
	var application *quic.ApplicationError
	var reset *quic.StatelessResetError
	var spoken *http3.Error
	switch {
	case errors.Is(err, errManyDatagrams):
		return "sent far more over QUIC than an answer takes."
	case errors.As(err, &version):
		return "speaks no version of QUIC that browsers use."
	case errors.As(err, &transport) && transport.Remote && transport.ErrorCode.IsCryptoError():
		alert := tls.AlertError(transport.ErrorCode & 0xff) // #nosec G115 -- RFC 9001 section 4.8: one octet
		if alert == alertNoProtocol {
			return "answers over QUIC, but does not offer HTTP/3 there."
		}
		return "refused the TLS handshake over QUIC" + alertReason(alert) + "."
	case errors.As(err, &transport) && !transport.Remote:
		return "sent something over QUIC that this service does not understand."
	case errors.As(err, &spoken) && !spoken.Remote:
		return "answers over QUIC, but not with valid HTTP/3."
	case transport != nil, errors.As(err, &application), errors.As(err, &reset), spoken != nil:
		return "closed the QUIC connection without an answer."
	}
	return "answers over QUIC, but not with valid HTTP/3."
}
