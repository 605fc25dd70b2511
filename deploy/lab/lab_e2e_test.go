//go:build e2e

package lab_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"diagnostics/lab"
	"diagnostics/lab/trace"

	"go.uber.org/goleak"
)

// shared is one lab for the tests that only look.
var shared *lab.Lab

func TestMain(m *testing.M) {
	var err error
	start := time.Now()
	if shared, err = lab.Build(context.Background(), lab.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("the lab stood after %d ms\n", time.Since(start).Milliseconds())
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "left behind:", err)
		code = 1
	}
	os.Exit(code)
}

// The system's own traceroute must see what the truth tables say.
func TestTracerouteShowsTheTruth(t *testing.T) {
	ends := []struct {
		name    string
		at      func(int) (netip.Addr, netip.Addr)
		verdict string
		wait    string
	}{
		{"clean", lab.Clean, "", "0.5"},
		{"dirty", lab.Wild, "", "0.5"},
		{"lossy", lab.LossyEnd, "", "0.5"},
		{"unreachable", lab.Unreachable, "!H", "0.5"},
		{"prohibited", lab.Prohibited, "!X", "0.5"},
		{"silent", lab.SilentEnd, "", "0.5"},
		{"shortcut", lab.Shortcut, "", "0.5"},
		{"slow routers", lab.SlowRouters, "", "1,0,0"}, // however soon the others answer
		{"distant", lab.Distant, "", "1.5"},
	}
	for _, end := range ends {
		v4, v6 := end.at(7)
		for _, to := range []netip.Addr{v4, v6} {
			t.Run(fmt.Sprintf("%s/%s", end.name, to), func(t *testing.T) {
				truth := shared.PathTo(to)
				out, err := shared.Exec(t.Context(), lab.ServiceHost, "traceroute", "-n", "-I", "-q", "3", "-w", end.wait,
					"-m", strconv.Itoa(len(truth)), to.String())
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(out), end.verdict) {
					t.Errorf("no %s in:\n%s", end.verdict, out)
				}
				seen := trace.Parse(out)
				if len(seen) != len(truth) {
					t.Fatalf("%d hops, want %d:\n%s", len(seen), len(truth), out)
				}
				for i, hop := range seen {
					checkHop(t, i+1, hop, truth[i])
				}
				if t.Failed() {
					t.Logf("%s", out)
				}
			})
		}
	}
}

func checkHop(t *testing.T, ttl int, seen []netip.Addr, truth lab.Hop) {
	t.Helper()
	for _, a := range seen {
		if !slices.Contains(truth.Addresses, a) {
			t.Errorf("hop %d: %s answered, want one of %v", ttl, a, truth.Addresses)
		}
	}
	switch truth.Temper {
	case lab.Silent:
		if len(seen) > 0 {
			t.Errorf("hop %d: the silent router answered", ttl)
		}
	case lab.Answers, lab.Private:
		if len(seen) == 0 {
			t.Errorf("hop %d: silence, want %v", ttl, truth.Addresses)
		}
	}
}

func TestBothLegsAreTaken(t *testing.T) {
	for _, family := range []int{4, 6} {
		seen := map[netip.Addr]bool{}
		var truth lab.Hop
		for n := range 8 {
			v4, v6 := lab.Wild(10 + n)
			to := map[int]netip.Addr{4: v4, 6: v6}[family]
			truth = shared.PathTo(to)[5]
			out, err := shared.Exec(t.Context(), lab.ServiceHost, "traceroute", "-n", "-I", "-q", "3", "-w", "0.3", "-f", "6",
				"-m", "6", to.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range trace.Parse(out)[0] {
				seen[a] = true
			}
		}
		if len(seen) != 2 || !seen[truth.Addresses[0]] || !seen[truth.Addresses[1]] {
			t.Errorf("family %d: answers from %v, want both of %v", family, seen, truth.Addresses)
		}
	}
}

var pingTimes = regexp.MustCompile(`time=([0-9.]+) ms`)

// pings are the round trips of an ICMP ping, in milliseconds; lost ones are missing.
func pings(t *testing.T, to netip.Addr, count int) []float64 {
	t.Helper()
	// ping exits 1 when nothing came back; what came is counted by the caller.
	out, _ := shared.Exec(t.Context(), lab.ServiceHost, "ping", "-n", "-i", "0.02", "-W", "1", "-c", strconv.Itoa(count),
		to.String())
	var times []float64
	for _, m := range pingTimes.FindAllStringSubmatch(string(out), -1) {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, ms)
	}
	return times
}

func TestCablesDelay(t *testing.T) {
	v4, v6 := lab.Clean(3)
	for _, to := range []netip.Addr{v4, v6} {
		times := pings(t, to, 40)
		if len(times) != 40 {
			t.Fatalf("%s: %d answers of 40", to, len(times))
		}
		slices.Sort(times)
		const cables = 2 * (10 + 12 + 9)
		best, median := times[0]-cables, times[20]-cables
		t.Logf("%s: %d ms of cable; the rest of the way %.3f ms at best, %.3f ms in the middle", to, cables, best, median)
		if best < 0 {
			t.Errorf("%s: %.3f ms, less than the cables' %d", to, times[0], cables)
		}
		// A millisecond is meant; a busy machine gets five.
		if best > 5 {
			t.Errorf("%s: %.3f ms past the cables", to, best)
		}
	}
}

func TestLossyCableLosesEveryTenth(t *testing.T) {
	v4, v6 := lab.LossyEnd(3)
	for _, to := range []netip.Addr{v4, v6} {
		if got := len(pings(t, to, 40)); got != 36 {
			t.Errorf("%s: %d answers of 40, want 36", to, got)
		}
	}
}

func TestIdleLabSendsNothing(t *testing.T) {
	if err := shared.ResetSent(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	total, flows, err := shared.Sent(t.Context())
	if err != nil || total != 0 {
		t.Errorf("%d packets, %v, %v", total, flows, err)
	}
}

func TestSentCountsWhatLeaves(t *testing.T) {
	tests := []struct {
		name string
		send func(to netip.Addr)
		to   string
		want string
	}{
		{"an echo over the uplink", func(to netip.Addr) { pings(t, to, 2) }, "11.90.0.9", "2 packets to 11.90.0.9 icmp"},
		{"an echo in IPv6", func(to netip.Addr) { pings(t, to, 2) }, "2a10:90::9", "2 packets to 2a10:90::9 ipv6-icmp"},
		{"a connection to this host itself", dial(9), "127.0.0.1", "1 packets to 127.0.0.1 tcp 9"},
		{"a connection to a private address", dial(81), "10.1.2.3", "1 packets to 10.1.2.3 tcp 81"},
		{"a connection to IPv6 loopback", dial(9), "::1", "1 packets to ::1 tcp 9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := shared.ResetSent(t.Context()); err != nil {
				t.Fatal(err)
			}
			test.send(netip.MustParseAddr(test.to))
			total, flows, err := shared.Sent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if total == 0 || !slices.ContainsFunc(flows, func(f lab.Flow) bool { return f.String() == test.want }) {
				t.Errorf("%d packets, %v; want among them: %s", total, flows, test.want)
			}
		})
	}
}

func dial(port int) func(netip.Addr) {
	return func(to netip.Addr) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		if c, err := shared.Dial(ctx, "tcp", net.JoinHostPort(to.String(), strconv.Itoa(port))); err == nil {
			c.Close()
		}
	}
}

func ask(t *testing.T, network, server, name string, qtype uint16) (*dns.Msg, error) {
	t.Helper()
	conn, err := shared.Dial(t.Context(), network, net.JoinHostPort(server, "53"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	c := &dns.Conn{Conn: conn, UDPSize: 1232}
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	q.SetEdns0(1232, false)
	if err := c.WriteMsg(q); err != nil {
		t.Fatal(err)
	}
	return c.ReadMsg()
}

func TestResolvers(t *testing.T) {
	servers := []string{shared.Resolver().String(), "2a10:77:53::1"}
	for _, both := range lab.PublicResolvers {
		servers = append(servers, both[0].String(), both[1].String())
	}
	for _, server := range servers {
		m, err := ask(t, "udp", server, "fast.lab-site.com", dns.TypeA)
		if err != nil || len(m.Answer) != 1 || m.Answer[0].(*dns.A).A.String() != "11.80.0.1" {
			t.Errorf("%s: %v, %v", server, m, err)
		}
	}
	if m, err := ask(t, "udp", servers[0], "timeout.lab-dns.com", dns.TypeA); err == nil {
		t.Errorf("the silent name was answered: %v", m)
	}
	m, err := ask(t, "udp", servers[0], "truncated.lab-dns.com", dns.TypeTXT)
	if err != nil || !m.Truncated {
		t.Errorf("over UDP: %v, %v", m, err)
	}
	m, err = ask(t, "tcp", servers[0], "truncated.lab-dns.com", dns.TypeTXT)
	if err != nil || len(m.Answer) != 1 {
		t.Errorf("over TCP: %v, %v", m, err)
	}
}

func TestSites(t *testing.T) {
	pem, err := os.ReadFile(shared.RootsFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	tests := []struct {
		label string
		as    any // what the error is; nil where the certificate is good
	}{
		{label: "fast"}, {label: "rsa"}, {label: "tls12"}, {label: "tls13"}, {label: "http1"},
		{label: "expired", as: &invalid}, {label: "notyet", as: &invalid},
		{label: "selfsigned", as: &unknown}, {label: "untrusted", as: &unknown}, {label: "nointermediate", as: &unknown},
		{label: "wronghost", as: &name},
	}
	for _, test := range tests {
		t.Run(test.label, func(t *testing.T) {
			s := shared.Site(test.label)
			for _, a := range []netip.Addr{s.V4, s.V6} {
				conn, err := shared.Dial(t.Context(), "tcp", net.JoinHostPort(a.String(), "443"))
				if err != nil {
					t.Fatal(err)
				}
				err = tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: s.Host}).HandshakeContext(t.Context())
				conn.Close()
				if test.as == nil && err != nil || test.as != nil && !errors.As(err, test.as) {
					t.Errorf("%s: %v", a, err)
				}
			}
		})
	}
}

// The name that is looked up inside is the lab's: ip-netns(8) gives a program the lab's resolv.conf.
func TestProgramsGetTheLabsResolver(t *testing.T) {
	p, err := shared.Start(lab.ServiceHost, "getent", nil, "/usr/bin/getent", "ahostsv4", "clean.lab-transit.net")
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if !strings.Contains(p.Log(), "11.90.0.1 ") {
		t.Errorf("getent says %q", p.Log())
	}
}

func TestForward(t *testing.T) {
	at, err := shared.Forward("127.0.0.1:0", net.JoinHostPort(shared.Site("fast").V4.String(), "80"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + at + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}
