package dnsclient

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/traffic"

	"github.com/miekg/dns"
)

// firstAuthorityTry is how long a server of a zone is waited for before it is asked once more, for a packet that was
// lost: its callers wait for seconds, and not for two tries of Timeout.
const firstAuthorityTry = 1200 * time.Millisecond

// AskAuthority asks one of a zone's own servers, without recursion, twice where it is silent. Nothing is kept or
// shared: what the servers of a zone say is asked to hold what others have kept against it, and each who asks pays for
// the address. An Answer that is not Authoritative is that of a server which does not serve the zone.
func (c *Client) AskAuthority(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	if err := traffic.Room(ctx, questionBytes); err != nil {
		return Answer{Code: CodeBusy, RCode: noRCode, Busy: err}
	}
	began := time.Now()
	q := question{name: dns.CanonicalName(name), qtype: qtype, authority: true}
	first, cancel := context.WithTimeout(ctx, firstAuthorityTry)
	answer := c.tryServer(first, c.settings.DialServer, server, q)
	cancel()
	if answer.Code == CodeTimeout && ctx.Err() == nil {
		answer = c.tryServer(ctx, c.settings.DialServer, server, q)
	}
	return own(ctx, answer, began)
}
