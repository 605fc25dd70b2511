package myip

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestMyIP(t *testing.T) {
	t.Parallel()
	const unavailable = `{"available":false,"ip":null,"version":null,"reason":"`
	cases := []struct {
		name    string
		visitor tool.Visitor
		want    string // the whole answer, or its beginning up to the reason
	}{
		{"IPv4", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("8.8.8.8")}, `{"available":true,"ip":"8.8.8.8","version":4,"reason":null}`},
		{"IPv6", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("2606:4700:4700:0:0:0:0:1111")}, `{"available":true,"ip":"2606:4700:4700::1111","version":6,"reason":null}`},
		{"mapped IPv4", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("::ffff:8.8.8.8")}, `{"available":true,"ip":"8.8.8.8","version":4,"reason":null}`},
		{"mapped private", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("::ffff:10.0.0.1")}, unavailable},
		{"private", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("192.168.1.2")}, unavailable},
		{"loopback", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("::1")}, unavailable},
		{"link-local with a zone", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("fe80::1%eth0")}, unavailable},
		{"public with a zone", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("2606:4700::1%eth0")}, unavailable},
		{"just below shared space", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("100.63.255.255")}, `{"available":true,"ip":"100.63.255.255","version":4,"reason":null}`},
		{"shared space", tool.Visitor{HeadersTrusted: true, Addr: netip.MustParseAddr("100.64.0.0")}, unavailable},
		{"no header", tool.Visitor{HeadersTrusted: true}, unavailable},
		{"not trusted", tool.Visitor{}, unavailable},
		{"own machine", tool.Visitor{OwnMachine: true}, unavailable + "This is your own machine; on a server,"},
		{"not trusted and yet an address", tool.Visitor{Addr: netip.MustParseAddr("8.8.8.8")}, unavailable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			job, err := New().Parse(tool.Input{Visitor: c.visitor})
			if err != nil {
				t.Fatal(err)
			}
			if job.LimitKey() != "" {
				t.Errorf("limit key %q", job.LimitKey())
			}
			got, err := job.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			result := got.(Result)
			if (result.Conclusion.State == finding.OK) != result.Available || (len(result.Findings) == 0) != result.Available {
				t.Errorf("%+v", result.Report)
			}
			whole, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(whole), `"available"`)
			out := `{"available"` + rest
			if !strings.HasPrefix(out, c.want) {
				t.Fatalf("got %s, want %s", out, c.want)
			}
			if strings.HasPrefix(c.want, unavailable) && c.visitor.Addr.IsValid() &&
				strings.Contains(string(whole), c.visitor.Addr.String()) {
				t.Fatalf("the address is shown: %s", whole)
			}
		})
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}

// TestMyIPReasonsDiffer: what the visitor or the operator can do about it is another thing each time.
func TestMyIPReasonsDiffer(t *testing.T) {
	t.Parallel()
	reasons := make(map[string]bool)
	for _, v := range []tool.Visitor{{}, {OwnMachine: true}, {HeadersTrusted: true},
		{HeadersTrusted: true, Addr: netip.MustParseAddr("10.0.0.1")}} {
		reasons[*describeVisitor(v).Reason] = true
	}
	if len(reasons) != 4 {
		t.Fatalf("reasons are %v", reasons)
	}
}

func TestMyIPTakesNoInput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"8.8.8.8", "me", "-"} {
		if _, err := New().Parse(tool.Input{Text: text}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
