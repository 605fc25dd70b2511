package egress_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// No test may leave a goroutine, and with it a socket, behind.
func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

func host(t testing.TB, s string) target.Host {
	t.Helper()
	h, err := target.ParseHost(s)
	if err != nil {
		t.Fatalf("ParseHost(%q): %v", s, err)
	}
	return h
}

func parseURL(t testing.TB, s string) target.URL {
	t.Helper()
	u, err := target.ParseURL(s)
	if err != nil {
		t.Fatalf("ParseURL(%q): %v", s, err)
	}
	return u
}

func addrs(list ...string) []netip.Addr {
	out := make([]netip.Addr, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddr(s)
	}
	return out
}

func addrPorts(list ...string) []netip.AddrPort {
	out := make([]netip.AddrPort, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddrPort(s)
	}
	return out
}

// wantFault fails the test unless err is a fault of the kind, and gives its sentence.
func wantFault(t testing.TB, err error, kind fault.Kind) string {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got error %v, want a fault of kind %d", err, kind)
	}
	return sentence(err)
}

func sentence(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Sentence()
}

// slowly scripts an answer that takes its time; other types than A do not exist.
func slowly(wait time.Duration, record string) func(q *dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype != dns.TypeA {
			return egresstest.Reply(q, 0)
		}
		time.Sleep(wait) // of the bubble
		return egresstest.Reply(q, 0, record)
	}
}
