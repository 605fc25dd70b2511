package portchecker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/hostroute"

	"github.com/google/go-cmp/cmp"
)

// testTimeout stands for the seven seconds.
const testTimeout = 150 * time.Millisecond

func checkPort(t *testing.T, client *egress.Client, input string) Result {
	t.Helper()
	result, err := checker{egress: client, timeout: testTimeout}.run(t.Context(), toolstest.HostPort(t, input))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// serveNothing accepts at the public address and closes.
func serveNothing(n *egresstest.Network, public string) { n.ServeConn(public, func(net.Conn) {}) }

func TestPortStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		arrange   func(*egresstest.Network)
		state     string
		timed     bool
		reasonHas string
	}{
		{"open", func(n *egresstest.Network) { serveNothing(n, "93.184.216.34:443") }, "open", true, ""},
		{"refused", func(*egresstest.Network) {}, "closed", true, "refused"},
		{"dropped", func(n *egresstest.Network) { n.Drop("93.184.216.34:443") }, "filtered", false, "No answer"},
		{"timed out by the kernel", failWith(syscall.ETIMEDOUT), "filtered", false, "No answer"},
		{"host unreachable", failWith(syscall.EHOSTUNREACH), "unreachable", false, "cannot be reached"},
		{"network unreachable", failWith(syscall.ENETUNREACH), "unreachable", false, "no route"},
		{"prohibited", failWith(syscall.EACCES), "unreachable", false, "firewall"},
		{"not permitted", failWith(syscall.EPERM), "unreachable", false, "firewall"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			c.arrange(n)
			got := checkPort(t, n.Client(nil), "93.184.216.34:443")
			if got.State != c.state || got.Reachable != (c.state == "open") || got.Address != "93.184.216.34" {
				t.Errorf("got %+v", got)
			}
			if (got.ResponseTimeMs != nil) != c.timed {
				t.Errorf("responseTimeMs = %v", got.ResponseTimeMs)
			}
			only := got.Addresses[0]
			if len(got.Addresses) != 1 || only.State != c.state || only.Family != 4 {
				t.Errorf("addresses: %+v", got.Addresses)
			}
			if (only.Reason != nil) != (c.reasonHas != "") || only.Reason != nil &&
				!strings.Contains(*only.Reason, c.reasonHas) {
				t.Errorf("reason = %v", only.Reason)
			}
		})
	}
}

func failWith(err error) func(*egresstest.Network) {
	return func(n *egresstest.Network) { n.Fail("93.184.216.34:443", err) }
}

// TestPortAddressesAreTriedOnTheirOwn is the trap of Happy Eyeballs: the broken address shows beside the good one, all
// at once, at most two of each family.
func TestPortAddressesAreTriedOnTheirOwn(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A 93.184.216.34", "example.com. 300 IN A 93.184.216.35", "example.com. 300 IN A 93.184.216.36",
		"example.com. 300 IN AAAA 2606:2800:220:1::1", "example.com. 300 IN AAAA 2606:2800:220:1::2", "example.com. 300 IN AAAA 2606:2800:220:1::3",
	)
	n.Drop("93.184.216.34:25")
	serveNothing(n, "93.184.216.35:25")
	n.Drop("[2606:2800:220:1::1]:25")
	n.Fail("[2606:2800:220:1::2]:25", syscall.EHOSTUNREACH)

	var dialled sync.WaitGroup
	dialled.Add(4)
	together := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		if to.Port() == 25 {
			dialled.Done()
			dialled.Wait() // without end where one is tried after the other
		}
		return n.Dial(ctx, network, to)
	}
	got := checkPort(t, n.Client(nil, egress.WithDialer(together)), "example.com:25")
	states := map[string]string{}
	for _, a := range got.Addresses {
		states[a.Address] = fmt.Sprintf("%d %s", a.Family, a.State)
	}
	want := map[string]string{
		"93.184.216.34": "4 filtered", "93.184.216.35": "4 open",
		"2606:2800:220:1::1": "6 filtered", "2606:2800:220:1::2": "6 unreachable",
	}
	if d := cmp.Diff(want, states); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
	if got.State != "open" || got.Address != "93.184.216.35" || !got.Reachable || *got.Service != "smtp" {
		t.Errorf("top: %+v", got)
	}
	if len(n.Dials()) != 4 {
		t.Errorf("dialled %v", n.Dials())
	}
}

func TestPortBestState(t *testing.T) {
	t.Parallel()
	fast, slow := 1.0, 9.0
	at := func(address, state string, took *float64) attempt {
		return attempt{Address: address, State: state, ResponseTimeMs: took}
	}
	order := []string{"open", "closed", "filtered", "unreachable", "skipped"}
	for i, better := range order {
		for _, worse := range order[i+1:] {
			tried := []attempt{at("worse", worse, nil), at("better", better, nil)}
			got := summarize(toolstest.HostPort(t, "example.com:1"), tried)
			if got.Address != "better" || got.State != better {
				t.Errorf("%s and %s: %s by %s", better, worse, got.State, got.Address)
			}
		}
	}
	got := summarize(toolstest.HostPort(t, "example.com:1"),
		[]attempt{at("slow", "open", &slow), at("fast", "open", &fast), at("equal", "open", &fast)})
	if got.Address != "fast" || *got.ResponseTimeMs != fast {
		t.Errorf("of several open ones: %+v", got)
	}
	got = summarize(toolstest.HostPort(t, "example.com:1"),
		[]attempt{at("first", "filtered", nil), at("second", "filtered", nil)})
	if got.Address != "first" {
		t.Errorf("of several silent ones: %+v", got)
	}
}

// TestPortAbsentFamilyIsSkipped is the trap of ENETUNREACH for want of a route of our own.
func TestPortAbsentFamilyIsSkipped(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A 93.184.216.34", "example.com. 300 IN AAAA 2606:2800:220:1::1")
	onlyV4 := n.Client(nil, egress.WithFamilies(egress.Families{V4: true}))

	got := checkPort(t, onlyV4, "example.com:443")
	if got.State != "closed" || got.Address != "93.184.216.34" {
		t.Errorf("top: %+v", got)
	}
	i := slices.IndexFunc(got.Addresses, func(a attempt) bool { return a.Family == 6 })
	if a := got.Addresses[i]; a.State != "skipped" || a.ResponseTimeMs != nil ||
		*a.Reason != "This service has no IPv6 connection." {
		t.Errorf("the absent family: %+v", a)
	}

	got = checkPort(t, onlyV4, "[2606:2800:220:1::1]:443")
	if got.State != "unreachable" || got.Reachable || got.Address != "2606:2800:220:1::1" ||
		got.Addresses[0].State != "skipped" {
		t.Errorf("all skipped: %+v", got)
	}
	for _, d := range n.Dials() {
		if d.Addr().Is6() {
			t.Errorf("dialled %v", d)
		}
	}
}

func TestPortRefusedTargets(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"mixed.example.com. 300 IN A 93.184.216.34", "mixed.example.com. 300 IN A 10.0.0.1",
		"inside.example.com. 300 IN A 127.0.0.1",
		"empty.example.com. 300 IN TXT x",
	)
	client := n.Client(nil)
	for input, kind := range map[string]fault.Kind{
		"mixed.example.com:443":   fault.Refused,
		"inside.example.com:443":  fault.Refused,
		"empty.example.com:443":   fault.NoAddress,
		"nowhere.example.com:443": fault.NoAddress,
	} {
		_, err := checker{egress: client, timeout: testTimeout}.run(t.Context(), toolstest.HostPort(t, input))
		if !fault.Is(err, kind) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if len(n.Dials()) != 0 {
		t.Errorf("dialled %v", n.Dials())
	}
}

// TestPortFaultsOfThisHost: a host-side error is not reported as a state of the target.
func TestPortFaultsOfThisHost(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail("93.184.216.34:443", syscall.EMFILE)
	_, err := checker{egress: n.Client(nil), timeout: testTimeout}.run(t.Context(),
		toolstest.HostPort(t, "93.184.216.34:443"))
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
	if _, _, known := readFailure(fault.New(fault.Refused, "TARGET_NOT_PUBLIC", nil)); known {
		t.Error("a refusal by the policy reads as a state")
	}
	if state, _, _ := readFailure(os.ErrDeadlineExceeded); state != portFiltered {
		t.Errorf("a timeout reads as %q", state)
	}
}

// TestPortAddressesThatWereNotTried: where nothing is open, the port may be so at the address that was not tried. The
// first of them gives the reason.
func TestPortAddressesThatWereNotTried(t *testing.T) {
	t.Parallel()
	const open, closed, limited, busy = "open", "closed", "limited", "busy"
	for _, c := range []struct {
		four, six string
		kind      fault.Kind // 0 for a result
	}{
		{open, limited, 0},
		{busy, open, 0},
		{closed, limited, fault.Limited},
		{closed, busy, fault.Busy},
		{limited, closed, fault.Limited},
		{busy, closed, fault.Busy},
		{limited, busy, fault.Limited},
		{busy, limited, fault.Busy},
		{limited, limited, fault.Limited},
	} {
		n := egresstest.New(t)
		n.Records("example.com. 300 IN A 93.184.216.34", "example.com. 300 IN AAAA 2606:2800:220:1::1")
		at := map[string]string{"93.184.216.34:443": c.four, "[2606:2800:220:1::1]:443": c.six}
		for address, state := range at {
			switch state {
			case open:
				serveNothing(n, address)
			case busy:
				n.Fail(address, syscall.EMFILE)
			}
		}
		client := n.Client(func(s *egress.Settings) {
			s.Charge = func(_ context.Context, to netip.AddrPort) error {
				if at[to.String()] == limited {
					return fault.LimitedFor(time.Second, "ADDRESS_BUSY")
				}
				return nil
			}
		})
		got, err := checker{egress: client, timeout: testTimeout}.run(t.Context(),
			toolstest.HostPort(t, "example.com:443"))
		if c.kind == 0 && (err != nil || got.State != portOpen) || c.kind != 0 && !fault.Is(err, c.kind) {
			t.Errorf("%s and %s: %s, %v", c.four, c.six, got.State, err)
		}
	}
}

// TestPortsThatAreNotDialledAreNotCharged: neither to the visitor nor to the address.
func TestPortsThatAreNotDialledAreNotCharged(t *testing.T) {
	t.Parallel()
	for way, kind := range map[hostroute.Kind]fault.Kind{hostroute.Nowhere: fault.Busy, hostroute.Here: fault.Refused} {
		var charged atomic.Int32
		client := egresstest.New(t).Client(func(s *egress.Settings) {
			s.Charge = func(context.Context, netip.AddrPort) error { charged.Add(1); return nil }
		}, egress.WithRoutes(func(netip.Addr) (hostroute.Kind, error) { return way, nil }))
		_, err := checker{egress: client, timeout: testTimeout}.run(t.Context(),
			toolstest.HostPort(t, "93.184.216.34:443"))
		if !fault.Is(err, kind) || charged.Load() != 0 {
			t.Errorf("%v: %v, charged %d times", way, err, charged.Load())
		}
	}
}

func TestPortVisitorLeaves(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Drop("93.184.216.34:443")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(n.Dials()) == 0 {
			runtime.Gosched()
		}
		cancel()
	}()
	_, err := checker{egress: n.Client(nil), timeout: time.Minute}.run(ctx, toolstest.HostPort(t, "93.184.216.34:443"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPortCheckerShape(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail("93.184.216.34:50000", syscall.EHOSTUNREACH)
	result := toolstest.MustRun[Result](t, New(n.Client(nil)), tool.Input{Text: "93.184.216.34:50000"})
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	want := `"reachable":false,"state":"unreachable","address":"93.184.216.34","responseTimeMs":null,` +
		`"addresses":[{"address":"93.184.216.34","family":4,"state":"unreachable","responseTimeMs":null,` +
		`"reason":"A router reports that the host cannot be reached."}],"untried":0,"service":null}`
	_, rest, _ := strings.Cut(string(raw), `"host":"93.184.216.34","port":50000,"reachable"`)
	if d := cmp.Diff(want, `"reachable"`+rest); d != "" || !strings.HasPrefix(string(raw), `{"conclusion":{`) {
		t.Errorf("shape (-want +got):\n%s", d)
	}
}

func TestPortNeedsAPort(t *testing.T) {
	t.Parallel()
	if _, err := New(nil).Parse(tool.Input{Text: "example.com"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
}

func TestPortService(t *testing.T) {
	t.Parallel()
	for port, want := range map[uint16]string{22: "ssh", 53: "domain", 443: "https", 465: "submissions",
		3389: "ms-wbt-server", 8080: "http-alt"} {
		if got := serviceName(port); got == nil || *got != want {
			t.Errorf("portService(%d) = %v, want %s", port, got, want)
		}
	}
	for _, port := range []uint16{1, 4444, 65535} {
		if got := serviceName(port); got != nil {
			t.Errorf("portService(%d) = %s", port, *got)
		}
	}
}

// TestPortUntried counts what a name has beyond the addresses that are tried, family by family.
func TestPortUntried(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ four, six, untried int }{
		{1, 0, 0}, {2, 2, 0}, {3, 0, 1}, {2, 3, 1}, {4, 1, 2}, {0, 5, 3}, {5, 5, 6},
	} {
		n := egresstest.New(t)
		for i := range row.four {
			n.Records(fmt.Sprintf("example.com. 300 IN A 93.184.216.%d", i+1))
		}
		for i := range row.six {
			n.Records(fmt.Sprintf("example.com. 300 IN AAAA 2606:2800:220:1::%d", i+1))
		}
		got := checkPort(t, n.Client(nil), "example.com:25")
		if got.Untried != row.untried || got.Untried+len(got.Addresses) != row.four+row.six {
			t.Errorf("%d and %d addresses: %d tried, %d not", row.four, row.six, len(got.Addresses), got.Untried)
		}
	}
}

func TestMain(m *testing.M) { toolstest.Main(m) }
