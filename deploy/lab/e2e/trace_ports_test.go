//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/trace"
)

// portProbes are the probes that go to a port, with the options by which the system's traceroute and mtr send the same.
var portProbes = []struct {
	protocol        string
	port, at        int
	traceroute, mtr []string
}{
	{"tcp", 80, 1, []string{"-T", "-p", "80"}, []string{"-T", "-P", "80"}},
	{"tcp", 4321, 1, []string{"-T", "-p", "4321"}, []string{"-T", "-P", "4321"}},
	{"udp", 33434, ownAddress, []string{"-U", "-p", "33434"}, []string{"-u", "-P", "33434"}},
}

// ownAddress is that of the node itself. For the others of its range, Linux sends its ICMPv6 errors from this one too.
const ownAddress = 254

// On the clean path our traces with UDP and TCP equal those of the system's traceroute and mtr, hop for hop.
func TestPortTracesEqualTheSystems(t *testing.T) {
	for _, p := range portProbes {
		for i, to := range bothFamilies(lab.Clean, p.at) {
			t.Run(fmt.Sprint(to, "/", p.protocol, p.port), func(t *testing.T) {
				a := call(t, "traceroute", to.String(), map[string]any{"protocol": p.protocol, "port": p.port})
				if a.Status != 200 {
					t.Fatalf("status %d: %s", a.Status, a.Body)
				}
				facts{"reached": true, "stopReason": "reached", "address": to.String(), "family": []int{4, 6}[i],
					"protocol": p.protocol, "port": p.port}.hold(t, a)
				holdTruth(t, a, internet.PathTo(to))
				ours := fmt.Sprint(hopsOf(t, a))
				for name, args := range map[string][]string{
					"traceroute": append([]string{"-n", "-q", "3"}, append(p.traceroute, to.String())...),
					"mtr":        append([]string{"-n", "-r", "-c", "3", "-i", "0.1", "-G", "0.3"}, append(p.mtr, to.String())...),
				} {
					out, err := internet.Exec(t.Context(), lab.ServiceHost, name, args...)
					if err != nil {
						t.Fatal(err)
					}
					theirs := trace.Parse(out)
					if name == "mtr" {
						theirs = report(out)
					}
					if fmt.Sprint(theirs) != ours {
						t.Errorf("%s\nours   %v\ntheirs %v", name, ours, theirs)
					}
				}
			})
		}
	}
}

// report reads what `mtr -n -r` prints. A destination that answers is sometimes printed twice.
func report(out []byte) [][]netip.Addr {
	var hops [][]netip.Addr
	for line := range strings.Lines(string(out)) {
		number, rest, found := strings.Cut(strings.TrimSpace(line), ".|--")
		if _, err := strconv.Atoi(number); !found || err != nil {
			continue
		}
		hop := []netip.Addr{}
		if a, err := netip.ParseAddr(strings.Fields(rest)[0]); err == nil {
			hop = append(hop, a)
		}
		if len(hops) == 0 || !slices.Equal(hops[len(hops)-1], hop) {
			hops = append(hops, hop)
		}
	}
	return hops
}

// A host that drops echo requests is silent to a trace of them and reached by one with SYNs, as by traceroute -T. No
// connection comes of it.
func TestHostThatDropsEcho(t *testing.T) {
	for _, to := range bothFamilies(lab.Mute, 1) {
		t.Run(to.String(), func(t *testing.T) {
			silent := call(t, "traceroute", to.String(), nil)
			facts{"reached": false, "stopReason": "gapLimit", "protocol": "icmp", "port": nil}.hold(t, silent)
			a := call(t, "traceroute", to.String(), map[string]any{"protocol": "tcp"})
			if a.Status != 200 {
				t.Fatalf("status %d: %s", a.Status, a.Body)
			}
			facts{"reached": true, "stopReason": "reached", "protocol": "tcp", "port": 443}.hold(t, a)
			holdTruth(t, a, internet.PathTo(to))
			for option, reached := range map[string]bool{"-I": false, "-T": true} {
				args := []string{"-n", option, "-q", "1", "-m", "8", "-w", "0.5"}
				if option == "-T" {
					args = append(args, "-p", "443")
				}
				out, err := internet.Exec(t.Context(), lab.ServiceHost, "traceroute", append(args, to.String())...)
				if err != nil {
					t.Fatal(err)
				}
				theirs := trace.Parse(out)
				if got := slices.ContainsFunc(theirs, func(h []netip.Addr) bool { return slices.Contains(h, to) }); got != reached {
					t.Errorf("traceroute %s: reached %t: %s", option, got, out)
				}
				if reached && fmt.Sprint(theirs) != fmt.Sprint(hopsOf(t, a)) {
					t.Errorf("ours   %v\ntheirs %v", hopsOf(t, a), theirs)
				}
			}
		})
	}
}

// On the dirty path the truth holds for every kind of probe, and the rounds see both legs.
func TestPortTracesOfTheDirtyPath(t *testing.T) {
	for _, p := range []string{"udp", "tcp"} {
		for _, to := range bothFamilies(lab.Wild, ownAddress) {
			t.Run(p+"/"+to.String(), func(t *testing.T) {
				a := call(t, "traceroute", to.String(), map[string]any{"protocol": p, "port": 33})
				if a.Status != 200 {
					t.Fatalf("status %d: %s", a.Status, a.Body)
				}
				facts{"reached": true, "stopReason": "reached", "protocol": p, "port": 33}.hold(t, a)
				holdTruth(t, a, internet.PathTo(to))
			})
		}
	}
}

// The listener of a port never sees a connection, and the host waits for none.
func TestSYNsNeverConnect(t *testing.T) {
	for _, to := range bothFamilies(lab.Clean, 34) {
		l, err := internet.Listen("far", "tcp", netip.AddrPortFrom(to, 8443).String())
		if err != nil {
			t.Fatal(err)
		}
		connected := make(chan net.Addr, 100)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					close(connected)
					return
				}
				connected <- c.RemoteAddr()
				c.Close()
			}
		}()
		a := call(t, "traceroute", to.String(), map[string]any{"protocol": "tcp", "port": 8443})
		facts{"reached": true, "stopReason": "reached"}.hold(t, a)
		time.Sleep(200 * time.Millisecond) // a round trip for the last RST; to poll would accept a later one
		out, err := internet.Exec(t.Context(), "far", "ss", "-Htan", "state", "syn-recv")
		if err != nil || len(strings.TrimSpace(string(out))) > 0 {
			t.Errorf("%s waits: %v %s", to, err, out)
		}
		l.Close()
		for from := range connected {
			t.Errorf("%s: a connection from %s", to, from)
		}
	}
}

// A client has twenty ports of an address, whichever tool tries them.
func TestTracedPortsAreCounted(t *testing.T) {
	v4, _ := lab.Clean(35)
	gateway, err := service.StartGateway(t.Context(), "gateway-traced-ports", "RATE_LIMIT_REQUESTS=0")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(port int) answer {
		return post(t, gateway, "traceroute", map[string]any{"input": v4.String(),
			"options": map[string]any{"protocol": "tcp", "port": port}}, nil)
	}
	if a := post(t, gateway, "port-checker", map[string]any{"input": fmt.Sprint(v4, ":1")}, nil); a.Status != 200 {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	for port := 1; port <= 20; port++ {
		if a := ask(port); a.Status != 200 {
			t.Fatalf("port %d: %d: %s", port, a.Status, a.Body)
		}
	}
	a := ask(21)
	if a.Status != 429 || !strings.Contains(a.Error, "different ports") || a.Header.Get("Retry-After") == "" {
		t.Errorf("the 21st port: %d, %s", a.Status, a.Error)
	}
	if a := ask(20); a.Status != 200 {
		t.Errorf("a port again: %d: %s", a.Status, a.Error)
	}
	if a := post(t, gateway, "traceroute", map[string]any{"input": v4.String()}, nil); a.Status != 200 {
		t.Errorf("no port: %d: %s", a.Status, a.Error)
	}
}
