package egresstest_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDialsFailAsTheKernelsDo(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail("93.184.216.34:80", syscall.EHOSTUNREACH)
	n.Drop("93.184.216.34:81")
	c := n.Client(nil)

	if _, err := c.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.34:79")); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without a listener: %v", err)
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
