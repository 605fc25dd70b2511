package dnsdelegation

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(i int) string
		most    int
	}{
		"an address":   {func(int) string { return "93.184.216.1" }, maxPerAddress},
		"a /24":        {func(i int) string { return fmt.Sprintf("93.184.216.%d", i) }, maxPerNetwork},
		"a /48":        {func(i int) string { return fmt.Sprintf("2606:2800:220:%x::1", i) }, maxPerNetwork},
		"every second": {func(i int) string { return fmt.Sprintf("93.184.%d.1", i) }, maxMessages},
	} {
		b := newBudget()
		for i := range c.most {
			if err := b.take(netip.MustParseAddr(c.address(i))); err != nil {
				t.Errorf("%s: %d of %d: %v", name, i, c.most, err)
			}
		}
		if err := b.take(netip.MustParseAddr(c.address(c.most))); err == nil {
			t.Errorf("%s: %d", name, c.most+1)
		}
		if sent, _ := b.spent(); sent != c.most {
			t.Errorf("%s: %d are counted", name, sent)
		}
	}
}

// many is the delegation of example.com to servers with an address each, in networks of their own.
func many(n int) (com []string, zone string, addresses []string) {
	var names, lines []string
	for i := range n {
		name, address := fmt.Sprintf("ns%d", i), fmt.Sprintf("93.185.%d.1", i)
		names, addresses = append(names, name), append(addresses, address)
		lines = append(lines, name+" IN A "+address)
		com = append(com, "example.com. IN NS "+name+".example.com.", name+".example.com. IN A "+address)
	}
	return com, zoneText("example.com", names, append(lines, "@ IN A 93.184.216.34")...), addresses
}

func TestBoundsOfAZone(t *testing.T) {
	t.Parallel()
	for n, complete := range map[int]bool{maxNames: true, maxNames + 1: false} {
		com, zone, addresses := many(n)
		w := newWorld(t, com...)
		w.ZoneServer(addresses, zone)
		r := w.check(t, "example.com")
		last := r.Zones[2]
		if r.Complete != complete || len(last.Servers) != maxNames || strings.Contains(codes(r), codeCut) == complete ||
			r.Delegation != delegationOK {
			t.Errorf("%d servers: %s", n, show(r))
		}
	}
	for n, complete := range map[int]bool{maxAddresses: true, maxAddresses + 1: false} {
		com := []string{"example.com. IN NS ns1.example.com."}
		var addresses []string
		zone := zoneText("example.com", []string{"ns1"}, "@ IN A 93.184.216.34")
		for i := range n {
			addresses = append(addresses, fmt.Sprintf("93.185.%d.1", i))
			com = append(com, "ns1.example.com. IN A "+addresses[i])
			zone += "ns1 IN A " + addresses[i] + "\n"
		}
		w := newWorld(t, com...)
		w.ZoneServer(addresses, zone)
		r := w.check(t, "example.com")
		queried := slices.DeleteFunc(r.Zones[2].Servers, func(s serverResult) bool { return s.UDP != stateAnswer })
		if r.Complete != complete || len(queried) != maxAddresses {
			t.Errorf("%d addresses: %s", n, show(r))
		}
	}
}

func TestBoundOfServersElsewhere(t *testing.T) {
	t.Parallel()
	for n, complete := range map[int]bool{maxOutside: true, maxOutside + 1: false} {
		com := []string{"example.com. IN NS ns1.example.com.", "ns1.example.com. IN A " + oneV4}
		names := []string{"ns1"}
		for i := range n {
			com = append(com, fmt.Sprintf("example.com. IN NS ns%d.provider.net.", i))
			names = append(names, fmt.Sprintf("ns%d.provider.net.", i))
		}
		w := newWorld(t, com...)
		w.ZoneServer([]string{oneV4}, zoneText("example.com", names, "ns1 IN A "+oneV4, "@ IN A 1.1.1.1"))
		provider := w.ZoneServer([]string{other}, zoneText("provider.net", []string{"ns"}, "ns IN A "+other))
		r := w.check(t, "example.com")
		if asked := len(provider.Queries()); r.Complete != complete || asked != 2*maxOutside {
			t.Errorf("%d: %d queries, %s", n, asked, show(r))
		}
	}
}

// Levels of servers in other zones: each zone's only server is in the next, the last in provider.net.
func TestBoundOfDepth(t *testing.T) {
	t.Parallel()
	for levels, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		server := func(i int) (name, address string) { // of example.com, and of the zones level1.com and on
			if i == levels {
				return "ns.provider.net.", other
			}
			return fmt.Sprintf("ns.level%d.com.", i), fmt.Sprintf("93.186.%d.1", i)
		}
		var com []string
		name, address := server(1)
		com = append(com, "example.com. IN NS "+name)
		zones := map[string]string{address: zoneText("example.com", []string{name}, "@ IN A 1.1.1.1")}
		for i := 1; i < levels; i++ {
			zone := fmt.Sprintf("level%d.com", i)
			_, own := server(i)
			name, address := server(i + 1)
			com = append(com, zone+". IN NS "+name)
			zones[address] = zoneText(zone, []string{name}, "ns IN A "+own)
		}
		w := newWorld(t, com...)
		for address, zone := range zones {
			if address != other {
				w.ZoneServer([]string{address}, zone)
			}
		}
		w.ZoneServer([]string{other}, zones[other], zoneText("provider.net", []string{"ns"}, "ns IN A "+other))
		r := w.check(t, "example.com")
		if r.Complete != ok || (r.Delegation == delegationFail) == ok {
			t.Errorf("%d levels: %s", levels, show(r))
		}
	}
}

func TestBoundOfAliases(t *testing.T) {
	t.Parallel()
	for n, complete := range map[int]bool{maxAliases: true, maxAliases + 1: false} {
		com := slices.Clone(twoServers)
		for i := 1; i <= n; i++ {
			com = append(com, fmt.Sprintf("zone%d.com. IN NS ns1.zone%[1]d.com.\nns1.zone%[1]d.com. IN A 93.186.%[1]d.1", i))
		}
		w := newWorld(t, com...)
		w.both(healthy("a IN CNAME a.zone1.com."))
		for i := 1; i <= n; i++ {
			line, address := fmt.Sprintf("a IN CNAME a.zone%d.com.", i+1), fmt.Sprintf("93.186.%d.1", i)
			if i == n {
				line = "a IN A 1.1.1.1"
			}
			w.ZoneServer([]string{address}, zoneText(fmt.Sprintf("zone%d.com", i), []string{"ns1"}, "ns1 IN A "+address, line))
		}
		r := w.check(t, "a.example.com")
		if len(r.Aliases) != maxAliases || r.Complete != complete {
			t.Errorf("%d aliases: %s", n, show(r))
		}
	}
}

// Whatever the servers do, no more is sent than is promised, and no more than is counted.
func TestMessagesAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	com, zone, addresses := many(maxNames)
	truncating := func(rw dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Truncated = true
		_ = rw.WriteMsg(m)
	}
	for name, script := range map[string]func(dns.ResponseWriter, *dns.Msg){
		"healthy": nil, "silent": silent, "refusing": refusing, "truncating": truncating,
		"without EDNS": func(rw dns.ResponseWriter, q *dns.Msg) {
			_ = rw.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeFormatError))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, com...)
			for _, a := range addresses {
				s := w.ZoneServer([]string{a}, zone)
				if script != nil {
					s.HandleAll(script)
				}
			}
			r := w.check(t, "example.com")
			dials := w.Dials()
			each := map[netip.Addr]int{}
			for _, d := range dials {
				each[d.Addr()]++
			}
			for a, n := range each {
				if n > maxPerAddress {
					t.Errorf("%d messages to %s", n, a)
				}
			}
			if len(dials) != r.Queries || r.Queries > maxMessages {
				t.Errorf("%d dials, %d queries", len(dials), r.Queries)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve func(w *world)
		most  time.Duration
	}{
		"healthy, 40 ms for each exchange": {func(w *world) {
			w.both(healthy())
			w.client = w.Client(nil, egress.WithDialer(delayed(w.Dial, 40*time.Millisecond)))
		}, time.Second},
		"one is silent": {func(w *world) { w.scripted(silent) }, 4 * time.Second},
		"all are silent": {func(w *world) {
			w.NameServer(oneV4 + ":53").HandleAll(silent)
			w.NameServer(twoV4 + ":53").HandleAll(silent)
		}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoServers...)
			w.times = defaultTimes
			c.serve(w)
			began := time.Now()
			r := w.check(t, "example.com")
			took := time.Since(began)
			t.Log(took)
			if took > c.most || !r.Complete { // the times that the tool promises, over real sockets
				t.Errorf("%s, %s", took, show(r))
			}
		})
	}
}

// delayed makes every connection take a while, as the way to a server and back does.
func delayed(dial egress.DialFunc, by time.Duration) egress.DialFunc {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		select {
		case <-time.After(by):
		case <-ctx.Done():
		}
		return dial(ctx, network, to)
	}
}

// The bound of time leaves what is known by then.
func TestTotalTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoServers...)
	w.times = times{try: time.Second, stagger: 50 * time.Millisecond, total: 200 * time.Millisecond}
	w.scripted(silent)
	r := w.check(t, "example.com")
	if r.Complete || zonesOf(r) != ". com example.com" || !strings.Contains(codes(r), codeCut) {
		t.Error(show(r))
	}
}

func TestRunsShareTheRootAndTopLevelZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoServers...)
	w.both(healthy())
	var now time.Time
	w.shared = NewShared(func() time.Time { return now })
	now = time.Unix(1e9, 0)
	first := w.check(t, "example.com")
	if first.Zones[0].Shared || first.Zones[1].Shared {
		t.Error("the first run is marked as shared")
	}
	root, com := len(w.root.Queries()), len(w.com.Queries())
	second := w.check(t, "example.com")
	if got := len(w.root.Queries()); got != root {
		t.Errorf("the root was queried %d times more", got-root)
	}
	z := second.Zones
	if got := len(w.com.Queries()); got != com+2 || !z[0].Shared || !z[1].Servers[0].Shared || z[2].Shared {
		t.Errorf("com was queried %d times for NS and DS: %+v", got-com, z)
	}
	now = now.Add(time.Hour - time.Second)
	w.check(t, "example.com")
	if len(w.root.Queries()) != root {
		t.Error("the root was queried within the hour")
	}
	now = now.Add(time.Second)
	if w.check(t, "example.com").Zones[0].Shared || len(w.root.Queries()) == root {
		t.Error("the root is kept for more than an hour")
	}
}

func TestSharedIsBounded(t *testing.T) {
	t.Parallel()
	s := NewShared(nil)
	for i := range 2 * maxShared {
		s.put(&zone{cut: cut{name: fmt.Sprintf("tld%d.", i)}}, 3600)
	}
	if len(s.zones) != maxShared || s.get(fmt.Sprintf("tld%d.", 2*maxShared-1)) == nil {
		t.Errorf("%d zones are kept", len(s.zones))
	}
}

// The domain's own servers are charged; those of the root, of top-level zones are not.
func TestCharges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoServers...)
	w.both(healthy())
	var mu sync.Mutex
	charged := map[string]bool{}
	w.client = w.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			mu.Lock()
			defer mu.Unlock()
			charged[to.Addr().String()] = true
			return nil
		}
	})
	w.check(t, "example.com")
	if diff := cmp.Diff(map[string]bool{oneV4: true, twoV4: true}, charged); diff != "" {
		t.Error(diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	limited := func(addresses ...string) func(*egress.Settings) {
		return func(s *egress.Settings) {
			s.Charge = func(_ context.Context, to netip.AddrPort) error {
				if slices.Contains(addresses, to.Addr().String()) {
					return fault.LimitedFor(7*time.Second, "TOO_MANY_REQUESTS")
				}
				return nil
			}
		}
	}
	w := newWorld(t, twoServers...)
	w.both(healthy())
	w.client = w.Client(limited(twoV4))
	r := w.check(t, "example.com")
	if r.Delegation != delegationOK || codes(r) != codeNotAsked || !strings.Contains(show(r), "Too many") {
		t.Error(show(r))
	}
	w.client = w.Client(limited(oneV4, twoV4))
	if _, err := toolstest.Run(t.Context(), w.tool(t), tool.Input{Text: "example.com"}); !fault.Is(err, fault.Limited) {
		t.Error(err)
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(slices.Clone(twoServers), "ns1.example.com. IN AAAA "+oneV6)...)
	w.both(healthy("ns1 IN AAAA " + oneV6))
	w.client = w.Client(nil, egress.WithFamilies(egress.Families{V4: true}))
	r := w.check(t, "example.com")
	row := r.Zones[2].Servers[1]
	if r.Delegation != delegationOK || *row.Family != 6 || row.UDP != stateSkipped ||
		toolstest.Text(row.Reason) != rows.Sentence(reasonNoFamily, nil) {
		t.Error(show(r))
	}
}

func TestRootThatCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Drop(rootV4 + ":53")
	r := w.check(t, "example.com")
	if r.Conclusion.State != "unknown" || zonesOf(r) != "." {
		t.Error(show(r))
	}
}

func TestRunEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoServers...)
	ctx, cancel := context.WithCancel(t.Context())
	w.NameServer(oneV4 + ":53").HandleAll(func(dns.ResponseWriter, *dns.Msg) { cancel() })
	if _, err := toolstest.Run(ctx, w.tool(t), tool.Input{Text: "example.com"}); err == nil {
		t.Error("no error")
	}
}
