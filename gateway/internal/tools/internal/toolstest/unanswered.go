package toolstest

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
)

// OurFault is the failure of a dial by a shortage of this service's own host. No tool may report it as the
// target's.
var OurFault = fault.New(fault.Busy, "SHORTAGE_HERE", nil)

// CheckWithoutAnswer runs a tool for which no HTTP answer is a failure against every way in which example.com can give
// none.
func CheckWithoutAnswer(t *testing.T, run func(context.Context, *egresstest.Network) error) {
	t.Helper()
	cases := []struct {
		name  string
		serve func(*egresstest.Network)
		want  fault.Kind
	}{
		{"refused", func(*egresstest.Network) {}, fault.Upstream},
		{"our own fault", func(n *egresstest.Network) { n.Fail(WebV4+":80", OurFault) }, fault.Busy},
		{"dropped", func(n *egresstest.Network) { n.Drop(WebV4 + ":80") }, fault.Timeout},
		{"silent", func(n *egresstest.Network) {
			n.ServeConn(WebV4+":80", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
		}, fault.Timeout},
		{"dropped while this process is short of processor time", func(n *egresstest.Network) {
			n.Drop(WebV4 + ":80")
			n.Delay = time.Since
		}, fault.Busy},
		{"closes", func(n *egresstest.Network) { ServeRaw(n, WebV4+":80", "") }, fault.Upstream},
		{"no HTTP", func(n *egresstest.Network) { ServeRaw(n, WebV4+":80", "220 mail.example.com ESMTP\r\n") },
			fault.Upstream},
		{"half a header", func(n *egresstest.Network) { ServeRaw(n, WebV4+":80", "HTTP/1.1 200 OK\r\nX-A: ") },
			fault.Upstream},
		{"huge headers", func(n *egresstest.Network) {
			ServeRaw(n, WebV4+":80", "HTTP/1.1 200 OK\r\nX-A: "+strings.Repeat("a", 128<<10)+"\r\n\r\n")
		}, fault.Upstream},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := WebNetwork(t)
			c.serve(n)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := run(ctx, n); !fault.Is(err, c.want) {
				t.Fatalf("got %v, want kind %d", err, c.want)
			}
		})
	}
}
