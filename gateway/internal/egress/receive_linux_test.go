package egress_test

import (
	"net"
	"net/netip"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
)

// A socket takes little before it is read, and more where a body is wanted.
func TestReceiveBuffers(t *testing.T) {
	t.Parallel()
	for _, body := range []bool{false, true} {
		ctx, want := t.Context(), 2*egress.HeadBuffer // the kernel counts its own part too
		if body {
			ctx, want = egress.WithBodyBuffer(ctx), 2*egress.BodyBuffer
		}
		for network, address := range map[string]string{"tcp4": "1.1.1.1:443", "tcp6": "[2606:4700::1111]:443"} {
			got := 0
			c := egresstest.New(t).Client(nil)
			d := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
				if err := c.ControlFor(netip.MustParseAddrPort(address))(ctx, network, address, raw); err != nil {
					return err
				}
				return raw.Control(func(fd uintptr) {
					got, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
				})
			}}
			l, err := d.Listen(ctx, "tcp4", "127.0.0.1:0") // any socket that is not connected yet
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			if got != want {
				t.Errorf("%s, body %t: a buffer of %d, want %d", network, body, got, want)
			}
		}
	}
}
