package egress

import (
	"context"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/dnsclient"

	"github.com/miekg/dns"
)

// NameServer is a name server of a zone, at port 53.
type NameServer struct {
	// Name is judged by DENY_TARGETS; it may be empty.
	Name    string
	Address netip.Addr
	// Uncharged is for the servers of the root and of top-level zones, which no client chose: Settings.Charge is not
	// called, and the addresses of Settings.RootServers are not judged.
	Uncharged bool
}

// Exchange sends one message to a name server of a zone over "udp" or "tcp", and returns the message that answers it.
// The address is judged and charged as Admit does. Errors are those of Admit and of dnsclient.Client.Exchange.
func (c *Client) Exchange(
	ctx context.Context, to NameServer, transport string, query *dns.Msg,
) (dnsclient.Reply, error) {
	server := netip.AddrPortFrom(to.Address, dnsPort)
	operator := to.Uncharged && slices.Contains(c.settings.RootServers, to.Address)
	if err := c.admitNameServer(ctx, to, server, operator); err != nil {
		return dnsclient.Reply{}, err
	}
	return c.dns.Exchange(ctx, server, transport, query, operator)
}

const (
	dnsPort = 53
	// messageBytes is what one query may come to on the wire, the packets of a TCP connection included.
	messageBytes = 1 << 10
)

func (c *Client) admitNameServer(ctx context.Context, to NameServer, server netip.AddrPort, operator bool) error {
	switch {
	case operator:
		return traffic.Room(ctx, messageBytes)
	case c.deny().DeniesName(to.Name):
		return denied()
	case !to.Uncharged:
		return c.Admit(ctx, server)
	}
	if err := c.passable(to.Address); err != nil {
		return err
	}
	return traffic.Room(ctx, messageBytes)
}

// PermitAlias judges the name that an alias leads to: the error is a *fault.Error of kind Refused where it is private,
// or denied by DENY_TARGETS.
func (c *Client) PermitAlias(name string) error {
	return c.judgeAliases(dnsclient.Answer{CNAMEChain: []string{name}})
}
