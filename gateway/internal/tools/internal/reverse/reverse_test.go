package reverse

import (
	"errors"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

func TestName(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"1.1.1.1.in-addr.arpa. 300 IN PTR ONE.example.net.",
		"2.1.1.1.in-addr.arpa. 300 IN PTR localhost.",
		`3.1.1.1.in-addr.arpa. 300 IN PTR <script>alert\(1\)</script>.example.net.`,
		"4.1.1.1.in-addr.arpa. 300 IN PTR router.corp.internal.",
		"5.1.1.1.in-addr.arpa. 300 IN PTR core_1.example.net.",
		"6.1.1.1.in-addr.arpa. 300 IN TXT no-name",
		"7.1.1.1.in-addr.arpa. 300 IN CNAME 7.0-15.1.1.1.in-addr.arpa.",
		"7.0-15.1.1.1.in-addr.arpa. 300 IN PTR seven.example.net.",
		"8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.ip6.arpa. 300 IN PTR six.example.net.",
	)
	n.Handle("9.1.1.1.in-addr.arpa", toolstest.Failing(dns.RcodeServerFailure))
	client := n.Client(nil)
	for address, want := range map[string]string{
		"1.1.1.1": "one.example.net", "1.1.1.2": "", "1.1.1.3": "", "1.1.1.4": "", "1.1.1.5": "core_1.example.net", "1.1.1.6": "",
		"1.1.1.7": "seven.example.net", "1.1.1.8": "", "2001:4860:4860::8888": "six.example.net",
	} {
		name, err := Name(t.Context(), client, netip.MustParseAddr(address))
		if err != nil || want == "" != (name == nil) || name != nil && *name != want {
			t.Errorf("%s: %v, %v; want %q", address, name, err, want)
		}
	}
	name, err := Name(t.Context(), client, netip.MustParseAddr("1.1.1.9"))
	if name != nil || !errors.Is(err, ErrUnanswered) {
		t.Errorf("a server that fails: %v, %v", name, err)
	}
	if name, err := Name(t.Context(), client, netip.Addr{}); name != nil || err != nil {
		t.Errorf("no address: %v, %v", name, err)
	}
}
