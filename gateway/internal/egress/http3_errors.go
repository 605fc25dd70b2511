package egress

import (
	"crypto/tls"
	"errors"
	"strings"
	"syscall"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"

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
		return HTTP3Refused, a.fault(fault.Upstream, err, "UDP_REFUSED", nil)
	case strings.Contains(err.Error(), textLongKey):
		return HTTP3NotVerified, a.fault(fault.Upstream, err, codeLongKey, nil)
	case !fault.IsTimeout(err) && a.ctx.Err() == nil:
		code, args := quicCode(err)
		return HTTP3Broken, a.fault(fault.Upstream, err, code, args)
	case !answered:
		return HTTP3Silent, a.fault(fault.Timeout, err, "UDP_SILENT", nil)
	case a.result.Handshake == 0:
		return HTTP3Broken, a.fault(fault.Timeout, err, "QUIC_TIMEOUT", nil)
	}
	return HTTP3Broken, a.fault(fault.Timeout, err, "QUIC_ANSWER_TIMEOUT", nil)
}

// isRefusal reports whether an ICMP message has ended the connection. Of the ambiguous errors these come from the
// network: OwnFault has taken those of this host.
func isRefusal(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) ||
		errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EACCES)
}

// alertNoProtocol is the TLS alert of a server without a common protocol (RFC 7301 section 3.2).
const alertNoProtocol = 120

func quicCode(err error) (code string, args finding.Args) {
	var transport *quic.TransportError
	var version *quic.VersionNegotiationError
	var application *quic.ApplicationError
	var reset *quic.StatelessResetError
	var spoken *http3.Error
	switch {
	case errors.Is(err, errManyDatagrams):
		return "QUIC_TOO_MUCH", nil
	case errors.As(err, &version):
		return "QUIC_VERSION", nil
	case errors.As(err, &transport) && transport.Remote && transport.ErrorCode.IsCryptoError():
		alert := tls.AlertError(transport.ErrorCode & 0xff) // #nosec G115 -- RFC 9001 section 4.8: one octet
		if alert == alertNoProtocol {
			return "HTTP3_NOT_OFFERED", nil
		}
		return "QUIC_TLS_REFUSED", finding.Args{"alert": alertName(alert)}
	case errors.As(err, &transport) && !transport.Remote:
		return "QUIC_NOT_UNDERSTOOD", nil
	case errors.As(err, &spoken) && !spoken.Remote:
		return "HTTP3_INVALID", nil
	case transport != nil, errors.As(err, &application), errors.As(err, &reset), spoken != nil:
		return "QUIC_BROKEN_OFF", nil
	}
	return "HTTP3_INVALID", nil
}
