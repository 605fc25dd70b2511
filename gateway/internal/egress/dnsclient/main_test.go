package dnsclient_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// No test may leave a goroutine, and with it a socket, behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type change = func(*dnsclient.Settings)

// newClient gives a client in the network, whose resolver it queries. It is closed with the test.
func newClient(t testing.TB, n *egresstest.Network, changes ...change) *dnsclient.Client {
	t.Helper()
	return clientOver(t, n.Dial, changes...)
}

// clientOver gives a client whose every connection goes over dial.
func clientOver(t testing.TB, dial egress.DialFunc, changes ...change) *dnsclient.Client {
	t.Helper()
	over := func(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error) {
		if to.Addr().Is4() {
			return dial(ctx, transport+"4", to)
		}
		return dial(ctx, transport+"6", to)
	}
	s := dnsclient.Settings{Resolvers: []netip.AddrPort{egresstest.ResolverAddr}, DialResolver: over, DialServer: over}
	for _, f := range changes {
		f(&s)
	}
	c, err := dnsclient.New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// brisk shortens a try, so that silence need not be waited for.
func brisk(s *dnsclient.Settings) { s.Timeout = briskTry }

const briskTry = 300 * time.Millisecond

func texts(records []dns.RR) []string {
	var list []string
	for _, rr := range records {
		list = append(list, strings.Join(strings.Fields(rr.String()), " "))
	}
	return list
}

func addrPorts(list ...string) []netip.AddrPort {
	out := make([]netip.AddrPort, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddrPort(s)
	}
	return out
}
