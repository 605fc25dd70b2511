package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"diagnostics/shared/skiptest"

	"golang.org/x/sys/unix"
)

// A port is taken for one target and not for all: the kernel chooses it once it knows where the socket connects to.
func TestPortsAreTakenPerTarget(t *testing.T) {
	t.Parallel()
	first, second := listenAt(t, "127.0.0.1:0"), listenAt(t, "127.0.0.2:0")
	free := listenAt(t, "127.0.0.3:0")
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()

	only := net.Dialer{ControlContext: func(_ context.Context, _, _ string, socket syscall.RawConn) error {
		var err error
		if e := socket.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port)
		}); e != nil {
			return e
		}
		return err
	}}
	for _, target := range []net.Listener{first, second} {
		conn, err := dialWith(t.Context(), only, "tcp4", netip.MustParseAddrPort(target.Addr().String()))
		if errors.Is(err, unix.ENOPROTOOPT) {
			skiptest.Skip(t, "a kernel before 6.3 knows no range of ports of one socket")
		}
		if err != nil {
			t.Fatalf("to %v: %v", target.Addr(), err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if got := conn.LocalAddr().(*net.TCPAddr).Port; got != port {
			t.Errorf("to %v from port %d, want %d", target.Addr(), got, port)
		}
	}
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
