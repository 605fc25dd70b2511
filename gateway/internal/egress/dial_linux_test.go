package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"diagnostics/shared/skiptest"

	"golang.org/x/sys/unix"
)

// A port is taken for one target and not for all: the kernel chooses it when the socket connects.
func TestPortsAreTakenPerTarget(t *testing.T) {
	t.Parallel()
	first, second := listenAt(t, "127.0.0.1:0"), listenAt(t, "127.0.0.2:0")
	// Another program may take the port in between; not each of ten.
	var err error
	for range 10 {
		if err = dialBoth(t, freePort(t), first, second); !errors.Is(err, unix.EADDRNOTAVAIL) {
			break
		}
	}
	if errors.Is(err, unix.ENOPROTOOPT) {
		skiptest.Skip(t, "a kernel before 6.3 has no range of ports of one socket")
	}
	if err != nil {
		t.Error(err)
	}
}

// dialBoth connects to each of the targets from the one port.
func dialBoth(t *testing.T, port int, targets ...net.Listener) error {
	t.Helper()
	only := net.Dialer{ControlContext: func(_ context.Context, _, _ string, socket syscall.RawConn) error {
		var err error
		if e := socket.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port)
		}); e != nil {
			return e
		}
		return err
	}}
	for _, target := range targets {
		conn, err := dialWith(t.Context(), only, "tcp4", netip.MustParseAddrPort(target.Addr().String()))
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = conn.Close() })
		if got := conn.LocalAddr().(*net.TCPAddr).Port; got != port {
			return fmt.Errorf("to %v from port %d, want %d", target.Addr(), got, port)
		}
	}
	return nil
}

func freePort(t *testing.T) int {
	t.Helper()
	free := listenAt(t, "127.0.0.3:0")
	_ = free.Close()
	return free.Addr().(*net.TCPAddr).Port
}

func listenAt(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
