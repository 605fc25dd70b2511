//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

const (
	// mostSent is what any tool may send for one request (docs/security.md).
	mostSent = 128_000

	worstDoc   = "../../../docs/security.md"
	worstBegin = "<!-- worst-cases -->\n"
	worstEnd   = "<!-- /worst-cases -->\n"
	worstHead  = "| tool | what is built against it | requests | packets | bytes sent | bytes received |\n" +
		"|---|---|---|---|---|---|\n"
	worstCells  = 6
	worstMargin = 1.25 // of a bound over what is measured
	worstLeast  = 4    // more, where little is measured
)

// worstCase is a request and what is built against it.
type worstCase struct {
	tool, built, input string
	options            map[string]any
}

// worstCases have each tool once or more: the table has the most of each.
func worstCases() []worstCase {
	_, far := lab.SilentEnd(7)
	_, fives := lab.FewEchoes(7)
	_, ones := lab.FewestEchoes(7)
	wild, _ := lab.Wild(9)
	hole, _ := lab.BlackHole(9)
	maze, secure := "http://"+mazeWeb+"/maze/0", "https://"+mazeWeb
	chain := "redirects to URLs and cookies as long as they are taken, two dead addresses before each answer"
	return []worstCase{
		{tool: "asn-lookup", built: "an address with several origins", input: "11.80.0.1"},
		{tool: "dns-delegation", built: "servers that truncate every answer", input: "lab-deleg-truncated.com"},
		{tool: "dns-delegation", built: "four silent servers", input: "lab-deleg-silent.com"},
		{tool: "dns-delegation", built: "ten name servers in other zones", input: "lab-deleg-many.com"},
		{tool: "dns-delegation", built: "sixteen servers with KeyTrap and NSEC3", input: lab.CostlyZone},
		{tool: "dns-delegation", built: "sixteen servers with KeyTrap and NSEC3", input: lab.CostlyName},
		{tool: "dns-lookup", built: "twenty answers of 64 KB", input: "a." + lab.WorstName,
			options: map[string]any{"types": "all"}},
		{tool: "dns-resolver-check", built: "answers of 62 KB from four resolvers and three name servers",
			input: "endless." + lab.ResolveZone, options: map[string]any{"recordType": "TXT"}},
		{tool: "dns-resolver-check", built: "name servers that are silent", input: "unreachable." + lab.ResolveZone},
		{tool: "email-dns-health", built: "ten SPF terms with ten exchanges each, all names long, all answers over TCP",
			input: mazeMail, options: map[string]any{"dkimSelector": "s"}},
		{tool: "email-dns-health", built: "a key at every selector that is tried; TLSA records, names and BIMI to look up",
			input: mazeMail},
		{tool: "http-headers", built: "a head of 50 KB before an endless body", input: secure + "/"},
		{tool: "http-headers", built: "silence after the handshake of HTTP/3", input: "https://waits." + lab.HTTP3Zone + "/",
			options: map[string]any{"http3": true}},
		{tool: "ip-geolocation", built: "a registry with a long answer", input: "11.80.0.1"},
		{tool: "my-ip", built: "", input: ""},
		{tool: "packet-loss", built: "a host that limits its answers", input: fives.String()},
		{tool: "ping", built: "a host that limits its answers", input: ones.String()},
		{tool: "port-checker", built: "a name with 120 dead addresses", input: mazeMany + ":81"},
		{tool: "redirect-checker", built: chain, input: maze},
		{tool: "redirect-checker", built: chain, input: secure + "/maze/0"},
		{tool: "redirect-checker", built: "an endless page", input: secure + "/"},
		{tool: "robots-sitemap", built: "robots.txt and six sitemaps without end", input: secure + "/"},
		{tool: "robots-sitemap", built: "robots.txt and six sitemaps without end", input: "http://" + mazeWeb + "/"},
		{tool: "security-headers", built: chain, input: maze},
		{tool: "security-headers", built: chain, input: secure + "/maze/0"},
		{tool: "ssl-checker", built: "120 dead addresses", input: mazeMany + ":81"},
		{tool: "ssl-checker", built: "greetings and garbage without end", input: fmt.Sprintf("%s:%d", mazeTLS, mazeMailPort)},
		{tool: "ssl-checker", built: "greetings and garbage without end",
			input: fmt.Sprintf("%s:%d", mazeTLS, mazeGarbagePort)},
		{tool: "ssl-checker", built: "two addresses that take every suite, and show 110 KiB of certificates each time",
			input: fmt.Sprintf("%s:%d", mazeTLS, mazeTLSPort)},
		{tool: "ssl-checker", built: "four lists of revoked certificates of 4 MB", input: mazeRevoked},
		{tool: "traceroute", built: "a path with silent routers", input: wild.String()},
		{tool: "traceroute", built: "UDP probes", input: far.String(), options: map[string]any{"protocol": "udp"}},
		{tool: "traceroute", built: "TCP probes", input: far.String(), options: map[string]any{"protocol": "tcp"}},
		{tool: "traceroute", built: "a path on which large packets vanish", input: hole.String(),
			options: map[string]any{"mtu": true}},
		{tool: "uptime", built: chain + ", over both families", input: maze},
		{tool: "uptime", built: chain + ", over both families", input: secure + "/maze/0",
			options: map[string]any{"http3": true}},
		{tool: "whois-lookup", built: "a registry and a registrar with long answers", input: "www.example-shop.com"},
		{tool: "whois-lookup", built: "a WHOIS server without end", input: "example.be"},
	}
}

// amount is what a request has cost: connections, questions and probes; packets and bytes of IP as this host's kernel
// handed them to its device and got them from it.
type amount struct{ requests, packets, sent, received int }

func (a amount) most(b amount) amount {
	return amount{max(a.requests, b.requests), max(a.packets, b.packets), max(a.sent, b.sent), max(a.received, b.received)}
}

// TestWorstCases measures what each tool sends and receives at its worst and holds it to the table of docs/security.md;
// -update writes the table.
func TestWorstCases(t *testing.T) {
	proofOnly(t)
	buildMazes(t)
	revokingMaze(t)
	http3Servers(t)
	gateway, err := service.StartGateway(t.Context(), "gateway-worst", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	measured, built, order := map[string]amount{}, map[string]string{}, []string{}
	meter := newWireMeter(t)
	for _, c := range worstCases() {
		began := time.Now()
		before := meter.read(t)
		a := post(t, gateway, c.tool, map[string]any{"input": c.input, "options": c.options}, nil)
		cost := meter.settled(t).minus(before)
		t.Logf("%-18s %-45.45s %d in %4d ms: %+v", c.tool, c.input, a.Status, time.Since(began).Milliseconds(), cost)
		t.Logf("%.300s", a.Body)
		if _, known := measured[c.tool]; !known {
			order = append(order, c.tool)
		}
		measured[c.tool] = measured[c.tool].most(cost)
		if !strings.Contains(built[c.tool], c.built) {
			built[c.tool] = strings.TrimPrefix(built[c.tool]+"; "+c.built, "; ")
		}
		if cost.sent > mostSent {
			t.Errorf("%s of %s sends %d bytes, and %d are the most", c.tool, c.input, cost.sent, mostSent)
		}
		if a.Status >= 500 && a.Status != 502 && a.Status != 504 {
			t.Errorf("%s of %s: status %d: %s", c.tool, c.input, a.Status, a.Body)
		}
	}
	holdEveryTool(t, measured)
	if *update {
		writeWorst(t, order, built, measured)
		return
	}
	holdWorst(t, measured)
}

// holdEveryTool fails for a tool that no maze was built for.
func holdEveryTool(t *testing.T, measured map[string]amount) {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range d.Tools() {
		if _, known := measured[tool.Slug]; !known {
			t.Errorf("no worst case is known of %s: add one to worstCases", tool.Slug)
		}
	}
}

// wireMeter counts at the service's host, whose loopback carries the conversation with this test and with the worker.
type wireMeter struct{}

func newWireMeter(t *testing.T) wireMeter {
	t.Helper()
	for _, line := range []string{
		"add table inet worst",
		"add counter inet worst requests", "add counter inet worst sent", "add counter inet worst received",
		"add chain inet worst out { type filter hook output priority raw; }",
		"add chain inet worst in { type filter hook prerouting priority raw; }",
		`add rule inet worst out oifname != "lo" counter name sent`,
		`add rule inet worst out oifname != "lo" tcp flags & (syn | ack) == syn counter name requests`,
		`add rule inet worst out oifname != "lo" meta l4proto { udp, icmp, ipv6-icmp } counter name requests`,
		`add rule inet worst in iifname != "lo" counter name received`,
	} {
		mustDo(t, lab.ServiceHost, "nft", line)
	}
	t.Cleanup(func() { mustDo(t, lab.ServiceHost, "nft", "delete table inet worst") })
	return wireMeter{}
}

func (wireMeter) read(t *testing.T) amount {
	t.Helper()
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "nft", "-j", "list", "counters", "table", "inet", "worst")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Nftables []struct {
			Counter *struct {
				Name           string
				Packets, Bytes int
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var a amount
	for _, item := range doc.Nftables {
		switch c := item.Counter; {
		case c == nil:
		case c.Name == "requests":
			a.requests = c.Packets
		case c.Name == "sent":
			a.packets, a.sent = c.Packets, c.Bytes
		case c.Name == "received":
			a.received = c.Bytes
		}
	}
	return a
}

// settled waits until nothing is under way any more.
func (m wireMeter) settled(t *testing.T) amount {
	t.Helper()
	last := m.read(t)
	for {
		time.Sleep(150 * time.Millisecond) // more than the longest way and back, since servers are late on a busy machine
		now := m.read(t)
		if now == last {
			return now
		}
		last = now
	}
}

func (a amount) minus(b amount) amount {
	return amount{a.requests - b.requests, a.packets - b.packets, a.sent - b.sent, a.received - b.received}
}

func (a amount) columns() []int { return []int{a.requests, a.packets, a.sent, a.received} }

// boundFor is a bound over what was measured, rounded up to two digits.
func boundFor(measured int) int {
	bound := max(int(float64(measured)*worstMargin), measured+worstLeast)
	step := 1
	for bound/step >= 100 {
		step *= 10
	}
	return (bound + step - 1) / step * step
}

func writeWorst(t *testing.T, order []string, built map[string]string, measured map[string]amount) {
	t.Helper()
	var table strings.Builder
	table.WriteString(worstHead)
	for _, tool := range order {
		fmt.Fprintf(&table, "| `%s` | %s |", tool, built[tool])
		for i, n := range measured[tool].columns() {
			bound := 0
			if n > 0 {
				bound = boundFor(n)
			}
			if i == 2 {
				bound = min(bound, mostSent)
			}
			fmt.Fprintf(&table, " %s (%s) |", grouped(bound), grouped(n))
		}
		table.WriteString("\n")
	}
	start, _, end := splitWorst(t)
	if err := os.WriteFile(filepath.FromSlash(worstDoc), []byte(start+table.String()+end), 0o644); err != nil {
		t.Fatal(err)
	}
}

// splitWorst gives the page before the table, the table, and the page after it.
func splitWorst(t *testing.T) (start, table, end string) {
	t.Helper()
	page, err := os.ReadFile(filepath.FromSlash(worstDoc))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := bytes.Cut(page, []byte(worstBegin))
	inside, after, ends := bytes.Cut(rest, []byte(worstEnd))
	if !begins || !ends {
		t.Fatalf("%s has no table between its marks", worstDoc)
	}
	return string(before) + worstBegin, string(inside), worstEnd + string(after)
}

func holdWorst(t *testing.T, measured map[string]amount) {
	t.Helper()
	_, table, _ := splitWorst(t)
	reported := map[string]bool{}
	for line := range strings.Lines(strings.TrimPrefix(table, worstHead)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != worstCells {
			t.Fatalf("a row of %d cells: %s", len(cells), line)
		}
		tool := strings.Trim(strings.TrimSpace(cells[0]), "`")
		reported[tool] = true
		for i, n := range measured[tool].columns() {
			text, _, _ := strings.Cut(strings.TrimSpace(cells[2+i]), " ")
			bound, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			if n > bound {
				t.Errorf("%s: %d %s, and docs/security.md promises at most %d", tool, n,
					[]string{"requests", "packets", "bytes sent", "bytes received"}[i], bound)
			}
		}
	}
	for tool := range measured {
		if !reported[tool] {
			t.Errorf("docs/security.md has no row for %s: `cmd/proof worst-cases` writes the table", tool)
		}
	}
}

// grouped writes a number with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
