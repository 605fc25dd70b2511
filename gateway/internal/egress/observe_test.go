package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// seen is an Observer that remembers.
type seen struct {
	refused   []fault.Rule
	connected []Connection
}

func (s *seen) Refused(by fault.Rule)  { s.refused = append(s.refused, by) }
func (s *seen) Connected(c Connection) { s.connected = append(s.connected, c) }

func TestConnectionsAreTold(t *testing.T) {
	t.Parallel()
	public := netip.MustParseAddrPort("93.184.216.34:443")
	for want, failure := range map[Connection]error{
		ConnectionOK:          nil,
		ConnectionRefused:     syscall.ECONNREFUSED,
		ConnectionUnreachable: &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH},
		ConnectionTimeout:     os.ErrDeadlineExceeded,
		ConnectionCanceled:    context.Canceled,
		ConnectionDenied:      fault.New(fault.Refused, "ASN_FAILED", nil).ByRule(fault.RuleOwnAddress),
		ConnectionShortage:    syscall.EMFILE,
		ConnectionFailed:      errors.New("x"),
	} {
		observed := &seen{}
		c, err := New(Settings{Families: FamiliesIPv4, Observer: observed, AllowOwnAddresses: true},
			WithDialer(func(context.Context, string, netip.AddrPort) (net.Conn, error) {
				if failure != nil {
					return nil, failure
				}
				ours, theirs := net.Pipe()
				return ours, theirs.Close()
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conn, err := c.Dial(t.Context(), public)
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != (want == ConnectionOK) || !slices.Equal(observed.connected, []Connection{want}) {
			t.Errorf("%s: %v observed, error %v", want, observed.connected, err)
		}
		if refused := len(observed.refused) == 1; refused != (want == ConnectionDenied) {
			t.Errorf("%s: the refusals %v are observed", want, observed.refused)
		}
	}
}

// What is refused is observed once, wherever it is found.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	observed := &seen{}
	c, err := New(Settings{Families: FamiliesIPv4, Observer: observed, AllowOwnAddresses: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	private := netip.MustParseAddrPort("10.0.0.1:443")
	if _, err := c.Dial(t.Context(), private); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
	if _, err := c.dialPassable(t.Context(), "tcp", private); !fault.Is(err, fault.Refused) { // at the socket
		t.Error(err)
	}
	host, err := target.ParseHost("example.com")
	if err != nil {
		t.Fatal(err)
	}
	inside := &dns.A{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeA}, A: net.IPv4(127, 0, 0, 1)}
	answers := func(context.Context, string) (a, aaaa dnsclient.Answer) {
		return dnsclient.Answer{Records: []dns.RR{inside}}, dnsclient.Answer{Code: dnsclient.CodeNoData}
	}
	if _, err := c.resolve(t.Context(), host, answers); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
	want := []fault.Rule{fault.RulePrivateAddress, fault.RulePrivateAddress, fault.RuleLoopbackAddress}
	if !slices.Equal(observed.refused, want) {
		t.Errorf("observed %v, want %v", observed.refused, want)
	}
	if denied := []Connection{ConnectionDenied}; !slices.Equal(observed.connected, denied) {
		t.Errorf("observed %v, want %v", observed.connected, denied)
	}
}
