package sslchecker

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
)

// readInstead asks a server that crypto/tls cannot speak to for its certificates by handshakes that are only read: of
// every version and suite that there is; of those before TLS 1.3, where every group can be offered, since no keys have
// to be agreed on to read them; and then of SSL 3.0, which is not offered beside others. What crypto/tls was told stays
// the failure where these fail too.
func (i *inspection) readInstead(ctx context.Context, v *visit) {
	failed := v.err
	before13 := []tlsscan.Version{tlsscan.TLS12, tlsscan.TLS11, tlsscan.TLS10}
	for _, versions := range [][]tlsscan.Version{nil, before13, {tlsscan.SSL30}} {
		if ctx.Err() != nil || i.share(v) <= 0 {
			return
		}
		v.seen, v.err = i.converse(ctx, v, i.reading(tlsscan.Hello{ServerName: i.to.Host.Name(), Versions: versions}))
		if v.err == nil || errors.Is(v.err, errAnonymous) {
			return
		}
		v.err = endOr(ctx, failed)
	}
}

// reading is a handshake up to the server's last word before a client's keys.
func (i *inspection) reading(hello tlsscan.Hello) conversation {
	return func(ctx context.Context, conn net.Conn, who string) (observation, error) {
		start := time.Now()
		flight, err := i.read(ctx, conn, hello)
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
