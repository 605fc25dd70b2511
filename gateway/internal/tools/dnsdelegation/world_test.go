package dnsdelegation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// The addresses of a world.
const (
	rootV4 = "198.41.0.4"
	comV4  = "192.5.6.30"
	oneV4  = "93.184.216.1"
	twoV4  = "93.184.217.2"
	oneV6  = "2606:2800:220:1::1"
	other  = "203.119.25.1" // of ns.provider.net
)

// quick are waits for servers that a test knows to be silent.
var quick = times{try: 700 * time.Millisecond, stagger: 200 * time.Millisecond, total: 12 * time.Second}

const soaTail = " 2026112601 7200 3600 1209600 3600\n"

// world is a root, com and net, each with one server, and what they delegate.
type world struct {
	*egresstest.Network
	root, com *egresstest.ZoneServer // the second serves net as well
	client    *egress.Client
	shared    *Shared
	times     times
}

// newWorld has the given lines in the zone com, and in net the delegation of provider.net.
func newWorld(t *testing.T, com ...string) *world {
	t.Helper()
	w := &world{Network: egresstest.New(t), shared: NewShared(nil), times: quick}
	w.root = w.ZoneServer([]string{rootV4}, ". IN SOA a.root-servers.net. nstld.verisign-grs.com."+soaTail+
		". IN NS a.root-servers.net.\na.root-servers.net. IN A "+rootV4+"\n"+
		". IN DNSKEY 257 3 8 AwEAAQ==\n"+
		"com. IN NS a.gtld-servers.net.\nnet. IN NS a.gtld-servers.net.\na.gtld-servers.net. IN A "+comV4+"\n"+
		"com. IN DS 1 8 2 "+strings.Repeat("00", 32)+"\n")
	w.com = w.ZoneServer([]string{comV4}, "com. IN SOA a.gtld-servers.net. nstld.verisign-grs.com."+soaTail+
		"com. IN NS a.gtld-servers.net.\ncom. IN DNSKEY 257 3 8 AwEAAQ==\n"+strings.Join(com, "\n")+"\n",
		"net. IN SOA a.gtld-servers.net. nstld.verisign-grs.com."+soaTail+
			"net. IN NS a.gtld-servers.net.\na.gtld-servers.net. IN A "+comV4+"\nnet. IN DNSKEY 257 3 8 AwEAAQ==\n"+
			"provider.net. IN NS ns.provider.net.\nns.provider.net. IN A "+other+"\n")
	return w
}

// zoneText is a zone with the given NS names and lines; names without a dot at their end are inside it.
func zoneText(zone string, ns []string, lines ...string) string {
	text := "$ORIGIN " + zone + ".\n@ IN SOA ns1 hostmaster" + soaTail
	for _, name := range ns {
		text += "@ IN NS " + name + "\n"
	}
	return text + strings.Join(lines, "\n") + "\n"
}

// twoServers is the delegation of example.com to ns1 and ns2 with their glue.
var twoServers = []string{
	"example.com. IN NS ns1.example.com.", "example.com. IN NS ns2.example.com.",
	"ns1.example.com. IN A " + oneV4, "ns2.example.com. IN A " + twoV4,
}

// healthy is the zone example.com as both serve it.
func healthy(lines ...string) string {
	return zoneText("example.com", []string{"ns1", "ns2"}, append([]string{
		"ns1 IN A " + oneV4, "ns2 IN A " + twoV4, "@ IN A 93.184.216.34", "@ IN MX 10 mail", "@ IN TXT \"v=spf1 -all\"",
		"www IN A 93.184.216.34", "mail IN A 93.184.216.34",
	}, lines...)...)
}

func (w *world) tool(t *testing.T) tool.Tool {
	t.Helper()
	if w.client == nil {
		w.client = w.Client(nil)
	}
	hints, err := rootzone.ParseHints(". IN NS a.root-servers.net.\na.root-servers.net. IN A " + rootV4)
	if err != nil {
		t.Fatal(err)
	}
	return newTool(Config{
		Egress: w.client, Hints: hints, Anchors: rootzone.DefaultAnchors(), Shared: w.shared,
		Now: time.Now,
	}, w.times)
}

func (w *world) check(t *testing.T, name string) Result {
	t.Helper()
	return toolstest.MustRun[Result](t, w.tool(t), tool.Input{Text: name})
}

// unmatched is the finding of every world: its root is not that of the built-in trust anchors.
const unmatched = "DNSSEC_ANCHOR_UNMATCHED"

// codes are those of the findings, in order, without unmatched.
func codes(r Result) string {
	var list []string
	for _, f := range r.Findings {
		if f.Code != unmatched {
			list = append(list, f.Code)
		}
	}
	return strings.Join(list, " ")
}

func zonesOf(r Result) string {
	var list []string
	for _, z := range r.Zones {
		list = append(list, z.Zone)
	}
	return strings.Join(list, " ")
}

// refusing answers REFUSED, as a server without the zone does.
func refusing(w dns.ResponseWriter, q *dns.Msg) {
	_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeRefused))
}

// silent answers nothing.
func silent(dns.ResponseWriter, *dns.Msg) {}

func show(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %+v\n%s, %d queries, complete %t\n", r.Delegation, r.Conclusion, zonesOf(r), r.Queries, r.Complete)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  %s %s: %s\n", f.Severity, f.Code, f.Message)
	}
	for _, z := range r.Zones {
		for _, s := range z.Servers {
			fmt.Fprintf(&b, "  %s %s %s udp %s tcp %s glue %t %s\n", z.Zone, s.Name, toolstest.Text(s.Address), s.UDP, s.TCP,
				s.Glue, toolstest.Text(s.Reason))
		}
	}
	for _, a := range r.Answers {
		fmt.Fprintf(&b, "  %s %s %s %q\n", a.Name, a.Type, toolstest.Text(a.RCode), a.Values)
	}
	return b.String()
}
