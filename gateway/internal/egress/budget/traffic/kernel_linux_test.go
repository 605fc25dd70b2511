package traffic_test

import (
	"io"
	"net"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/sys/unix"
)

// served gives a counted connection to a server that writes so many octets, so many at a time.
func served(t *testing.T, total, size int) (net.Conn, func() error) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		for sent := 0; sent < total; sent += size {
			if _, err := c.Write(make([]byte, size)); err != nil {
				return
			}
		}
	}()
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	d := net.Dialer{Control: func(_, _ string, socket syscall.RawConn) error {
		return socket.Control(func(fd uintptr) { // as egress bounds what is under way
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 32<<10)
		})
	}}
	conn, err := d.DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := traffic.Count(ctx, conn, false)
	traffic.Hold(c)
	t.Cleanup(func() {
		_, _ = c.Close(), l.Close()
		<-done
	})
	return c, func() error { return traffic.Room(ctx, 0) }
}

// Acknowledgements are sent too: a long answer in small segments takes more than a run may send.
func TestSmallSegments(t *testing.T) {
	t.Parallel()
	const total = 4 << 20
	c, _ := served(t, total, 64)
	n, err := io.Copy(io.Discard, struct{ io.Reader }{oneByOne{c}})
	switch _, further := c.Read(make([]byte, 1)); {
	case err == nil:
		// Segments that wait for a busy reader are put together, so that few were acknowledged.
		if sent := acknowledged(t, c); sent > 128_000 {
			t.Errorf("%d octets were read, and %d bytes sent", n, sent)
		}
	case !fault.Is(err, fault.Limited), !fault.Is(further, fault.Limited), n >= total:
		t.Errorf("%d octets, %v; a further read: %v", n, err, further)
	}
	c, room := served(t, total, 64<<10)
	if n, err := io.Copy(io.Discard, struct{ io.Reader }{c}); err != nil || n != total {
		t.Errorf("%d octets in large segments, %v", n, err)
	}
	if err := room(); err != nil {
		t.Error(err)
	}
}

// acknowledged is what the kernel has sent on a connection, in bytes of IP.
func acknowledged(t *testing.T, c net.Conn) (sent int64) {
	t.Helper()
	socket, err := c.(*traffic.Conn).Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Error(err)
			return
		}
		sent = 52 * int64(info.Segs_out)
	}); err != nil {
		t.Fatal(err)
	}
	return sent
}

// oneByOne reads no more than a segment.
type oneByOne struct{ io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 64)]) }
