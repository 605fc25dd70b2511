package workerclient

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"

	"diagnostics/shared/netpolicy"
)

// SetToken replaces the bearer token. Requests under way go on with the one that they were sent with.
func (c *Client) SetToken(token string) error {
	if !validToken(token) {
		return errors.New("the worker's token must be printable ASCII without spaces, and not empty")
	}
	c.token.Store(&token)
	return nil
}

// SetTLS replaces what connections to an https worker are made with from now on. There is nothing else to change,
// since each request has a connection of its own.
func (c *Client) SetTLS(config *tls.Config) {
	c.transport.Store(newTransport(c.dial, config))
}

// warnOfClearText tells once where the token would leave private networks in clear text. The address of a connection
// is judged, before anything is sent: what a name leads to may change, and is known for certain only then.
func (c *Client) warnOfClearText(conn net.Conn) {
	if c.base.Scheme != "http" {
		return
	}
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || netpolicy.Near(peer.Addr()) || !c.warned.CompareAndSwap(false, true) {
		return
	}
	c.log.Warn("DIAGNOSTICS_WORKER_URL leads to an address that is not private, in clear text: whoever is on the " +
		"way reads the worker's token; set WORKER_TLS_CERT_FILE and WORKER_TLS_KEY_FILE for the worker, and an https " +
		"URL here")
}
