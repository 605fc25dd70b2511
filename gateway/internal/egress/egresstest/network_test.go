package egresstest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublicAddressesAreServedFromLoopback(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.ServeConn("[2606:4700::1]:25", func(c net.Conn) { _, _ = io.WriteString(c, "220 hello") })
	c := n.Client(nil)

	conn, err := c.Dial(t.Context(), netip.MustParseAddrPort("[2606:4700::1]:25"))
	if err != nil {
		t.Fatal(err)
	}
	greeting, err := io.ReadAll(conn)
	if err != nil || string(greeting) != "220 hello" {
		t.Fatalf("read %q, %v", greeting, err)
	}
	if got := conn.RemoteAddr().String(); got != "[2606:4700::1]:25" {
		t.Errorf("remote address %s", got)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestDialsFailAsTheKernelsDo(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail("93.184.216.34:80", syscall.EHOSTUNREACH)
	n.Drop("93.184.216.34:81")
	c := n.Client(nil)

	if _, err := c.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.34:79")); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := c.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.34:80")); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("failing: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Dial(ctx, netip.MustParseAddrPort("93.184.216.34:81"))
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("dropped: %v", err)
	}
	want := []netip.AddrPort{
		netip.MustParseAddrPort("93.184.216.34:79"),
		netip.MustParseAddrPort("93.184.216.34:80"),
		netip.MustParseAddrPort("93.184.216.34:81"),
	}
	if diff := cmp.Diff(want, n.Dials(), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Error(diff)
	}
}

func TestResolverAnswersLikeARecursiveOne(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A 93.184.216.34",
		"www.example.com. 300 IN CNAME example.com.",
		"deep.below.example.com. 300 IN A 93.184.216.35",
	)
	n.Handle("silent.example.com", func(*dns.Msg) *dns.Msg { return nil })
	c := n.Client(nil)
	for _, test := range []struct {
		name  string
		qtype uint16
		code  string
		chain []string
	}{
		{"example.com", dns.TypeA, "", nil},
		{"www.example.com", dns.TypeA, "", []string{"example.com"}},
		{"www.example.com", dns.TypeMX, dnsclient.CodeNoData, []string{"example.com"}},
		{"example.com", dns.TypeAAAA, dnsclient.CodeNoData, nil},
		{"below.example.com", dns.TypeA, dnsclient.CodeNoData, nil},
		{"nowhere.example.com", dns.TypeA, dnsclient.CodeNotFound, nil},
	} {
		a := c.DNS().Query(t.Context(), test.name, test.qtype)
		if a.Code != test.code || !cmp.Equal(a.CNAMEChain, test.chain) {
			t.Errorf("%s %s: code %q, chain %v", test.name, dns.TypeToString[test.qtype], a.Code, a.CNAMEChain)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if a := c.DNS().Query(ctx, "silent.example.com", dns.TypeA); a.Code != dnsclient.CodeTimeout {
		t.Errorf("silent: %q", a.Code)
	}
	if dials := n.Dials(); len(dials) != 0 {
		t.Errorf("the resolver counts as a dial: %v", dials)
	}
}
