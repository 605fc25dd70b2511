package egress_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// A connection without HTTP is looked up, judged and raced as all are, and nobody is charged.
func TestConnectUncharged(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("open-site.net. 300 IN A 93.184.216.34", "closed-site.net. 300 IN A 93.184.216.36",
		"both-site.net. 300 IN A 93.184.216.35", "both-site.net. 300 IN A 93.184.216.34",
		"dropped-site.net. 300 IN A 93.184.216.35", "empty-site.net. 300 IN TXT x",
		"mixed-site.net. 300 IN A 93.184.216.34", "mixed-site.net. 300 IN A 10.0.0.1")
	n.Listen("93.184.216.34:43")
	n.Drop("93.184.216.35:43")
	client := n.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error { t.Errorf("%v is charged", to); return nil }
	})
	for _, c := range []struct {
		host string
		kind fault.Kind // 0 for a connection
		says string
	}{
		{"open-site.net", 0, ""},
		{"both-site.net", 0, ""},
		{"closed-site.net", fault.Upstream, "closed-site.net refused the connection."},
		{"dropped-site.net", fault.Timeout, "dropped-site.net did not accept a connection in time."},
		{"mixed-site.net", fault.Refused, ""},
		{"empty-site.net", fault.NoAddress, ""},
		{"gone-site.net", fault.NoAddress, ""},
	} {
		t.Run(c.host, func(t *testing.T) {
			t.Parallel()
			host, err := target.ParseHost(c.host)
			if err != nil {
				t.Fatal(err)
			}
			limit := 30 * time.Second
			if c.kind == fault.Timeout {
				limit = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			conn, err := client.ConnectUncharged(ctx, host, 43)
			if conn != nil {
				defer func() { _ = conn.Close() }()
			}
			switch {
			case c.kind != 0:
				if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case conn.RemoteAddr().String() != "93.184.216.34:43":
				t.Errorf("connected to %v", conn.RemoteAddr())
			}
		})
	}
}
