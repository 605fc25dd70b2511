//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// narrowPaths are the paths that narrow and one that does not, with what is true of them. system is the path MTU that
// tracepath and traceroute --mtu come to: 0 where the routers mislead them.
var narrowPaths = []struct {
	name   string
	at     func(int) (netip.Addr, netip.Addr)
	want   facts
	says   string // in the note, or that there is none
	code   string
	system int
}{
	{"whole", lab.Clean, facts{"path": 1500, "limitedAt": nil, "reported": nil, "hopMtus": []any{}}, "", "", 1500},
	{"reported", lab.Reported, facts{"path": 1400, "limitedAt": 5, "reported": true, "hopMtus.0.ttl": 5, "hopMtus.0.mtu": 1400}, "",
		"PATH_MTU_REDUCED", 1400},
	{"reported twice", lab.ReportedTwice, facts{"path": 1350, "limitedAt": 6, "reported": true, "hopMtus.0.ttl": 5,
		"hopMtus.0.mtu": 1400, "hopMtus.1.ttl": 6, "hopMtus.1.mtu": 1350}, "", "PATH_MTU_REDUCED", 1350},
	{"black hole", lab.BlackHole, facts{"path": 1400, "limitedAt": 5, "reported": false, "hopMtus.0.ttl": 5, "hopMtus.0.mtu": 1400},
		"vanish behind hop 5", "PATH_MTU_BLACK_HOLE", 0},
	{"narrow way back", lab.NarrowBack, facts{"path": 1400, "limitedAt": nil, "reported": nil, "hopMtus": []any{}},
		"lost on its way back", "PATH_MTU_UNKNOWN", 0},
	{"states 0", lab.StatesZero, facts{"path": 1400, "limitedAt": 5, "reported": true, "hopMtus": []any{}}, "which is wrong",
		"PATH_MTU_REPORT_WRONG", 0},
	{"states 68", lab.StatesLeast, facts{"path": 1400, "limitedAt": 5, "reported": true, "hopMtus": []any{}}, "which is wrong",
		"PATH_MTU_REPORT_WRONG", 0},
	{"states more than was sent", lab.StatesMore, facts{"path": 1400, "limitedAt": 5, "reported": true, "hopMtus": []any{}},
		"which is wrong", "PATH_MTU_REPORT_WRONG", 0},
	{"forged", lab.ForgedReports, facts{"path": 1500, "limitedAt": nil, "reported": nil, "hopMtus": []any{}}, "", "", 0},
}

// The path MTU is that of the lab's truth and of the system's own tools, from raw and from datagram sockets, whatever
// routers state. It is not parallel to others: see TestTracesOfUglyPathsEqualTheSystems.
func TestPathMTUEqualsTheSystems(t *testing.T) {
	datagrams := pairWith(t, "mtu-datagram", startDatagramWorker(t, "worker-mtu-datagram", workerOfOne...))
	for _, path := range narrowPaths {
		for _, to := range bothFamilies(path.at, 61) {
			t.Run(path.name+"/"+to.String(), func(t *testing.T) {
				t.Parallel()
				if path.system > 0 {
					holdSystem(t, to, path.system)
				}
				for mode, a := range map[string]answer{
					"raw":      call(t, "traceroute", to.String(), map[string]any{"mtu": true}),
					"datagram": post(t, datagrams.gateway, "traceroute", map[string]any{"input": to.String(), "options": map[string]any{"mtu": true}}, nil),
				} {
					t.Logf("%s: %v, %v", mode, a.Took, a.at("mtu"))
					if a.Status != 200 {
						t.Fatalf("%s: status %d: %s", mode, a.Status, a.Body)
					}
					holdMTU(t, mode, a, path.want, path.says, path.code)
					holdTruth(t, a, internet.PathTo(to))
					if a.Took > 10*time.Second {
						t.Errorf("%s: took %v", mode, a.Took)
					}
				}
			})
		}
	}
}

// holdMTU compares the path MTU of an answer with what is true.
func holdMTU(t *testing.T, mode string, a answer, want facts, says, code string) {
	t.Helper()
	of := facts{"reached": true}
	for name, value := range want {
		of["mtu."+name] = value
	}
	of["mtu.note"] = func(v any) bool {
		note, is := v.(string)
		return is == (says != "") && strings.Contains(note, says)
	}
	of.hold(t, a)
	codes := ""
	for i := range a.at("findings").([]any) {
		codes += fmt.Sprint(a.at(fmt.Sprintf("findings.%d.code", i)))
	}
	if codes != code {
		t.Errorf("%s: findings %s, want %s", mode, codes, code)
	}
}

var (
	tracepathMTU  = regexp.MustCompile(`(?m)^\s*Resume: pmtu (\d+)`)
	tracerouteMTU = regexp.MustCompile(`F=(\d+)`)
)

// holdSystem compares the path MTU with what tracepath and traceroute --mtu report.
func holdSystem(t *testing.T, to netip.Addr, want int) {
	t.Helper()
	for name, c := range map[string]struct {
		pattern *regexp.Regexp
		args    []string
	}{
		"tracepath":  {tracepathMTU, []string{"-n", "-m", "12", to.String()}},
		"traceroute": {tracerouteMTU, []string{"-n", "--mtu", "-w", "1", "-m", "12", to.String()}},
	} {
		out, err := internet.Exec(t.Context(), lab.ServiceHost, name, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		found := c.pattern.FindAllStringSubmatch(string(out), -1)
		if len(found) == 0 {
			t.Fatalf("%s: %s", name, out)
		}
		if got, _ := strconv.Atoi(found[len(found)-1][1]); got != want {
			t.Errorf("%s reports %d, want %d: %s", name, got, want, out)
		}
	}
}

// The kernel remembers the MTU of a path that was reported to it. A second measurement is not misled by it.
func TestPathMTUIsMeasuredAgain(t *testing.T) {
	v4, _ := lab.Reported(62)
	for range 2 {
		facts{"mtu.path": 1400, "mtu.reported": true, "mtu.limitedAt": 5}.hold(t,
			call(t, "traceroute", v4.String(), map[string]any{"mtu": true, "family": "ipv4"}))
		time.Sleep(3 * time.Second) // a measurement within this time is shared
	}
}

// A router may state the least MTU that there is, and be right.
func TestLeastPathMTU(t *testing.T) {
	for i, to := range bothFamilies(lab.Narrow, 65) {
		least := []int{68, 1280}[i]
		a := call(t, "traceroute", to.String(), map[string]any{"mtu": true})
		facts{"mtu.path": least, "mtu.reported": true, "mtu.limitedAt": 2, "mtu.hopMtus.0.mtu": least,
			"mtu.note": nil}.hold(t, a)
	}
}

// UDP probes distinguish a narrow way back from a narrow way there: that a port is closed is a short answer.
func TestPathMTUByUDP(t *testing.T) {
	for _, to := range bothFamilies(lab.NarrowBack, ownAddress) {
		t.Run(to.String(), func(t *testing.T) {
			t.Parallel()
			facts{"mtu.path": 1500, "mtu.limitedAt": nil, "mtu.reported": nil, "mtu.note": func(v any) bool {
				return strings.Contains(fmt.Sprint(v), "Packets of 1,500 octets arrive")
			}}.hold(t, call(t, "traceroute", to.String(), map[string]any{"mtu": true, "protocol": "udp"}))
		})
	}
}

// At most 40 packets leave for a path MTU, and none of them is larger than 1,500 octets.
func TestPathMTUPackets(t *testing.T) {
	v4, _ := lab.BlackHole(64)
	mustDo(t, lab.ServiceHost, "nft", "add table inet mtu; "+
		"add chain inet mtu out { type filter hook output priority 0; }; "+
		fmt.Sprintf("add rule inet mtu out ip daddr %s meta length > 1500 counter comment over; ", v4)+
		fmt.Sprintf("add rule inet mtu out ip daddr %s meta length > 100 counter comment sized", v4))
	defer mustDo(t, lab.ServiceHost, "nft", "delete table inet mtu")
	call(t, "traceroute", v4.String(), map[string]any{"mtu": true})
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "nft", "list table inet mtu")
	if err != nil {
		t.Fatal(err)
	}
	counts := regexp.MustCompile(`packets (\d+)`).FindAllStringSubmatch(string(out), -1)
	if len(counts) != 2 || counts[0][1] != "0" {
		t.Fatalf("%s", out)
	}
	if n, _ := strconv.Atoi(counts[1][1]); n < 9 || n > 40 {
		t.Errorf("%d packets: %s", n, out)
	}
}
