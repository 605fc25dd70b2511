package workerapi

import (
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var asked = netip.MustParseAddr("93.184.216.34")

func ptr[T any](v T) *T { return &v }

// times gives one entry a probe; a negative time is a silent one.
func times(ms ...float64) []*float64 {
	out := make([]*float64, 0, len(ms))
	for _, v := range ms {
		if v < 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, &v)
	}
	return out
}

func goodTrace() Traceroute {
	return Traceroute{
		Target: asked.String(), Address: asked.String(), Family: 4, Reached: true, StopReason: StopReached,
		Hops: []Hop{
			{TTL: 1, Hidden: true, Addresses: []string{}, Sent: 3, Received: 3, RTTsMs: times(1, 2, 3), BestMs: ptr(1.0), AverageMs: ptr(2.0), WorstMs: ptr(3.0)},
			{TTL: 2, Addresses: []string{}, Sent: 3, LossPercent: 100, RTTsMs: times(-1, -1, -1)},
			{TTL: 3, Address: ptr(asked.String()), Addresses: []string{asked.String()}, Sent: 3, Received: 2, LossPercent: 33.3, RTTsMs: times(5, -1, 6), BestMs: ptr(5.0), AverageMs: ptr(5.5), WorstMs: ptr(6.0), Note: ptr("One probe was lost.")},
		},
		Explanation: []string{"The destination answered."},
	}
}

func goodPing() Ping {
	return Ping{
		Target: asked.String(), Address: asked.String(), Family: 4, Sent: 3, Received: 2, LossPercent: 33.3,
		MinMs: ptr(1.0), AverageMs: ptr(1.5), MedianMs: ptr(1.5), MaxMs: ptr(2.0), StddevMs: ptr(0.5), JitterMs: ptr(1.0),
		Replies:    []Reply{{Seq: 0, RTTMs: ptr(1.0), TTL: ptr(57)}, {Seq: 1}, {Seq: 2, RTTMs: ptr(2.0), TTL: ptr(57)}},
		StopReason: StopCompleted,
	}
}

func goodConfirmation() *Confirmation {
	return &Confirmation{IntervalMs: 1000, Sent: 6, Received: 5, LossPercent: 16.67}
}

func goodLoss() PacketLoss {
	return PacketLoss{Ping: goodPing(), Bursts: []Burst{{StartSeq: 1, Length: 1}}}
}

func TestTracerouteValidate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*Traceroute)
		ok     bool
	}{
		{"as promised", func(*Traceroute) {}, true},
		{"no hops", func(r *Traceroute) { r.Hops = []Hop{} }, true},
		{"thirty hops", func(r *Traceroute) { r.Hops = silentHops(30) }, true},
		{"thirty-one hops", func(r *Traceroute) { r.Hops = silentHops(31) }, false},
		{"longest time", func(r *Traceroute) { r.Hops[0].WorstMs = ptr(15000.0) }, true},
		{"time longer than a job", func(r *Traceroute) { r.Hops[0].WorstMs = ptr(15000.1) }, false},
		{"longest note", func(r *Traceroute) { r.Hops[0].Note = ptr(strings.Repeat("é", maxNoteRunes)) }, true},
		{"note too long", func(r *Traceroute) { r.Hops[0].Note = ptr(strings.Repeat("é", maxNoteRunes+1)) }, false},
		{"note with a control character", func(r *Traceroute) { r.Hops[0].Note = ptr("a\nb") }, false},
		{"other target", func(r *Traceroute) { r.Target = "8.8.8.8" }, false},
		{"target is a name", func(r *Traceroute) { r.Target = "example.com" }, false},
		{"other address", func(r *Traceroute) { r.Address = "8.8.8.8" }, false},
		{"mapped address", func(r *Traceroute) { r.Address = "::ffff:93.184.216.34" }, false},
		{"other family", func(r *Traceroute) { r.Family = 6 }, false},
		{"unknown stop reason", func(r *Traceroute) { r.StopReason = "bored" }, false},
		{"a ping's stop reason", func(r *Traceroute) { r.StopReason = StopCompleted }, false},
		{"reached and not", func(r *Traceroute) { r.Reached = false }, false},
		{"null hops", func(r *Traceroute) { r.Hops = nil }, false},
		{"a moment before its clock was set", func(r *Traceroute) { r.MeasuredAt = time.Unix(0, 0) }, false},
		{"null explanation", func(r *Traceroute) { r.Explanation = nil }, false},
		{"too many explanations", func(r *Traceroute) { r.Explanation = make([]string, maxExplanations+1) }, false},
		{"explanation with a control character", func(r *Traceroute) { r.Explanation = []string{"\x1b[31m"} }, false},
		{"first hop is 0", func(r *Traceroute) { r.Hops[0].TTL = 0 }, false},
		{"first hop is 2", func(r *Traceroute) { r.Hops = r.Hops[1:] }, false},
		{"same hop twice", func(r *Traceroute) { r.Hops[1].TTL = 1 }, false},
		{"hops downward", func(r *Traceroute) { r.Hops[1].TTL, r.Hops[2].TTL = 3, 2 }, false},
		{"hop address is a name", func(r *Traceroute) { r.Hops[2].Address = ptr("router.example.com") }, false},
		{"hop address with a zone", func(r *Traceroute) { r.Hops[2].Address = ptr("fe80::1%eth0") }, false},
		{"hop address of the other family", func(r *Traceroute) { r.Hops[2].Address = ptr("2606:2800:220:1::1") }, false},
		{"null addresses", func(r *Traceroute) { r.Hops[2].Addresses = nil }, false},
		{"bad one of the addresses", func(r *Traceroute) { r.Hops[2].Addresses = []string{"8.8.8.8", "8.8.8.8.8"} }, false},
		{"more received than sent", func(r *Traceroute) { r.Hops[0].Received = 4 }, false},
		{"negative sent", func(r *Traceroute) { r.Hops[0].Sent, r.Hops[0].Received = -1, -1 }, false},
		{"loss below 0", func(r *Traceroute) { r.Hops[0].LossPercent = -0.1 }, false},
		{"loss over 100", func(r *Traceroute) { r.Hops[0].LossPercent = 100.1 }, false},
		{"loss is not a number", func(r *Traceroute) { r.Hops[0].LossPercent = math.NaN() }, false},
		{"null times", func(r *Traceroute) { r.Hops[0].RTTsMs = nil }, false},
		{"null times of no probes", func(r *Traceroute) { r.Hops[1].RTTsMs, r.Hops[1].Sent = nil, 0 }, false},
		{"fewer times than probes", func(r *Traceroute) { r.Hops[0].RTTsMs = times(1, 2) }, false},
		{"fewer times than answers", func(r *Traceroute) { r.Hops[0].RTTsMs = times(1, -1, 3) }, false},
		{"negative time", func(r *Traceroute) { r.Hops[0].RTTsMs[0] = ptr(-0.001) }, false},
		{"infinite time", func(r *Traceroute) { r.Hops[0].BestMs = ptr(math.Inf(1)) }, false},
		{"time is not a number", func(r *Traceroute) { r.Hops[0].AverageMs = ptr(math.NaN()) }, false},
		{"a path MTU", withMTU(func(*MTU) {}), true},
		{"least path MTU", withMTU(func(m *MTU) { m.Path = ptr(68) }), true},
		{"path MTU below the least", withMTU(func(m *MTU) { m.Path = ptr(67) }), false},
		{"largest path MTU", withMTU(func(m *MTU) { m.Path = ptr(1500) }), true},
		{"path MTU above the largest", withMTU(func(m *MTU) { m.Path = ptr(1501) }), false},
		{"no path MTU", withMTU(func(m *MTU) { *m = MTU{HopMTUs: []HopMTU{}} }), true},
		{"limited at hop 1", withMTU(func(m *MTU) { m.LimitedAt = ptr(1) }), true},
		{"limited at hop 0", withMTU(func(m *MTU) { m.LimitedAt = ptr(0) }), false},
		{"limited at hop 30", withMTU(func(m *MTU) { m.LimitedAt = ptr(30) }), true},
		{"limited at hop 31", withMTU(func(m *MTU) { m.LimitedAt = ptr(31) }), false},
		{"null MTUs of hops", withMTU(func(m *MTU) { m.HopMTUs = nil }), false},
		{"MTU of hop 0", withMTU(func(m *MTU) { m.HopMTUs[0].TTL = 0 }), false},
		{"MTU of hop 30", withMTU(func(m *MTU) { m.HopMTUs[1].TTL = 30 }), true},
		{"MTU of hop 31", withMTU(func(m *MTU) { m.HopMTUs[1].TTL = 31 }), false},
		{"MTUs of one hop", withMTU(func(m *MTU) { m.HopMTUs[1].TTL = 2 }), false},
		{"MTUs downward", withMTU(func(m *MTU) { m.HopMTUs[1].TTL = 1 }), false},
		{"least MTU of a hop", withMTU(func(m *MTU) { m.HopMTUs[0].MTU = 68 }), true},
		{"MTU of a hop below the least", withMTU(func(m *MTU) { m.HopMTUs[0].MTU = 67 }), false},
		{"largest MTU of a hop", withMTU(func(m *MTU) { m.HopMTUs[0].MTU = 1500 }), true},
		{"MTU of a hop above the largest", withMTU(func(m *MTU) { m.HopMTUs[0].MTU = 1501 }), false},
		{"longest note on the MTU", withMTU(func(m *MTU) { m.Note = ptr(strings.Repeat("é", maxNoteRunes)) }), true},
		{"note on the MTU too long", withMTU(func(m *MTU) { m.Note = ptr(strings.Repeat("é", maxNoteRunes+1)) }), false},
		{"note on the MTU with a control character", withMTU(func(m *MTU) { m.Note = ptr("a\tb") }), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := goodTrace()
			c.change(&r)
			check(t, r.Validate(asked), c.ok)
		})
	}
}

// withMTU changes a good path MTU.
func withMTU(change func(*MTU)) func(*Traceroute) {
	return func(r *Traceroute) {
		r.MTU = &MTU{Path: ptr(1400), LimitedAt: ptr(3), Reported: ptr(true), HopMTUs: []HopMTU{{2, 1450}, {3, 1400}}}
		change(r.MTU)
	}
}

func silentHops(n int) []Hop {
	hops := make([]Hop, n)
	for i := range hops {
		hops[i] = Hop{TTL: i + 1, Addresses: []string{}, RTTsMs: []*float64{}}
	}
	return hops
}

func TestPingValidate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*Ping)
		ok     bool
	}{
		{"as promised", func(*Ping) {}, true},
		{"all probes", func(p *Ping) { p.Sent = PingProbes }, true},
		{"more probes than promised", func(p *Ping) { p.Sent = PingProbes + 1 }, false},
		{"total loss", func(p *Ping) { p.Received, p.LossPercent, p.Replies = 0, 100, []Reply{} }, true},
		{"other target", func(p *Ping) { p.Target = "" }, false},
		{"other family", func(p *Ping) { p.Family = 0 }, false},
		{"a trace's stop reason", func(p *Ping) { p.StopReason = StopGapLimit }, false},
		{"more received than sent", func(p *Ping) { p.Received = 4 }, false},
		{"negative duplicates", func(p *Ping) { p.Duplicates = -1 }, false},
		{"negative jitter", func(p *Ping) { p.JitterMs = ptr(-1.0) }, false},
		{"null replies", func(p *Ping) { p.Replies = nil }, false},
		{"more replies than probes", func(p *Ping) { p.Sent, p.Received = 2, 2 }, false},
		{"more times than answers", func(p *Ping) { p.Received = 1 }, false},
		{"same seq twice", func(p *Ping) { p.Replies[1].Seq = 0 }, false},
		{"negative seq", func(p *Ping) { p.Replies[0].Seq = -1 }, false},
		{"largest ttl", func(p *Ping) { p.Replies[0].TTL = ptr(255) }, true},
		{"ttl over a byte", func(p *Ping) { p.Replies[0].TTL = ptr(256) }, false},
		{"negative ttl", func(p *Ping) { p.Replies[0].TTL = ptr(-1) }, false},
		{"negative time", func(p *Ping) { p.Replies[0].RTTMs = ptr(-1.0) }, false},
		{"a late reply", func(p *Ping) { p.Late, p.Replies[0].Late = 1, true }, true},
		{"more late than listed", func(p *Ping) { p.Late = 1 }, false},
		{"more listed late", func(p *Ping) { p.Replies[0].Late = true }, false},
		{"negative late", func(p *Ping) { p.Late = -1 }, false},
		{"late among replies that are left out", func(p *Ping) { p.Late, p.Replies = 2, p.Replies[:0] }, true},
		{"more late than received", func(p *Ping) { p.Late, p.Replies = 3, p.Replies[:0] }, false},
		{"late without a time", func(p *Ping) { p.Late, p.Replies[1].Late = 1, true }, false},
		{"one undecided", func(p *Ping) { p.Undecided, p.Replies[1].Undecided = 1, true }, true},
		{"undecided among none", func(p *Ping) { p.Replies[1].Undecided = true }, false},
		{"undecided with a time", func(p *Ping) { p.Undecided, p.Replies[0].Undecided = 1, true }, false},
		{"more undecided than unanswered", func(p *Ping) { p.Undecided = 2 }, false},
		{"one damaged", func(p *Ping) { p.Damaged, p.Replies[1].Damaged = 1, true }, true},
		{"damaged among none", func(p *Ping) { p.Replies[1].Damaged = true }, false},
		{"damaged with a time", func(p *Ping) { p.Damaged, p.Replies[0].Damaged = 1, true }, false},
		{"damaged and undecided", func(p *Ping) {
			p.Undecided, p.Replies[1].Undecided, p.Replies[1].Damaged = 1, true, true
		}, false},
		{"more damaged than unanswered", func(p *Ping) { p.Damaged, p.Undecided = 1, 1 }, false},
		{"negative damaged", func(p *Ping) { p.Damaged = -1 }, false},
		{"negative undecided", func(p *Ping) { p.Undecided = -1 }, false},
		{"confirmed", func(p *Ping) { p.Confirmation = goodConfirmation() }, true},
		{"not confirmed", func(p *Ping) { p.Confirmation = goodConfirmation(); p.Confirmation.Received = 0 }, true},
		{"confirmed by none", func(p *Ping) { p.Confirmation = &Confirmation{IntervalMs: 1000} }, false},
		{"confirmed by too many", func(p *Ping) { p.Confirmation = goodConfirmation(); p.Confirmation.Sent = 7 }, false},
		{"more confirmed than asked", func(p *Ping) { p.Confirmation = goodConfirmation(); p.Confirmation.Received = 7 }, false},
		{"confirmed at once", func(p *Ping) { p.Confirmation = goodConfirmation(); p.Confirmation.IntervalMs = 0 }, false},
		{"confirmed some day", func(p *Ping) {
			p.Confirmation = goodConfirmation()
			p.Confirmation.IntervalMs = math.Inf(1)
		}, false},
		{"confirmed loss over 100", func(p *Ping) {
			p.Confirmation = goodConfirmation()
			p.Confirmation.LossPercent = 101
		}, false},
		{"a moment", func(p *Ping) { p.MeasuredAt = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }, true},
		{"a moment before its clock was set", func(p *Ping) { p.MeasuredAt = time.Unix(0, 0) }, false},
		{"a moment past all years", func(p *Ping) {
			p.MeasuredAt = time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600))
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := goodPing()
			c.change(&p)
			check(t, p.Validate(asked), c.ok)
		})
	}
}

func TestPacketLossValidate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*PacketLoss)
		ok     bool
	}{
		{"as promised", func(*PacketLoss) {}, true},
		{"all probes", func(p *PacketLoss) { p.Sent = LossProbes }, true},
		{"more probes than promised", func(p *PacketLoss) { p.Sent = LossProbes + 1 }, false},
		{"bad ping", func(p *PacketLoss) { p.StopReason = "" }, false},
		{"null bursts", func(p *PacketLoss) { p.Bursts = nil }, false},
		{"no bursts", func(p *PacketLoss) { p.Bursts = []Burst{} }, true},
		{"empty burst", func(p *PacketLoss) { p.Bursts[0].Length = 0 }, false},
		{"burst past the end", func(p *PacketLoss) { p.Bursts[0] = Burst{StartSeq: 4, Length: 1} }, false},
		{"burst at the end, counted from 1", func(p *PacketLoss) { p.Bursts[0] = Burst{StartSeq: 3, Length: 1} }, true},
		{"burst that overflows", func(p *PacketLoss) { p.Bursts[0] = Burst{StartSeq: 1, Length: math.MaxInt} }, false},
		{"burst before the start", func(p *PacketLoss) { p.Bursts[0].StartSeq = -1 }, false},
		{"bursts overlap", func(p *PacketLoss) { p.Received, p.Replies, p.Bursts = 0, []Reply{}, []Burst{{1, 2}, {2, 1}} }, false},
		{"an undecided one in a burst", func(p *PacketLoss) { p.Undecided, p.Replies[1].Undecided = 1, true }, false},
		{"more in bursts than lost", func(p *PacketLoss) { p.Bursts = []Burst{{1, 2}} }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := goodLoss()
			c.change(&p)
			check(t, p.Validate(asked), c.ok)
		})
	}
}

func TestReadyValidate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		ready Ready
		ok    bool
	}{
		{"both families", Ready{Status: StatusReady, Families: []int{4, 6}, Mode: "raw"}, true},
		{"one family", Ready{Status: StatusReady, Families: []int{6}, Mode: "datagram"}, true},
		{"draining", Ready{Status: StatusDraining, Families: []int{4}}, false},
		{"no family", Ready{Status: StatusReady, Families: []int{}}, false},
		{"unknown family", Ready{Status: StatusReady, Families: []int{4, 5}}, false},
		{"nothing", Ready{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, c.ready.Validate(), c.ok)
		})
	}
}

func check(t *testing.T, err error, ok bool) {
	t.Helper()
	if ok && err != nil {
		t.Fatalf("refused: %v", err)
	}
	if !ok && !errors.Is(err, ErrContract) {
		t.Fatalf("got %v, want a breach of the contract", err)
	}
}

// FuzzValidate holds that whatever a worker sends either is refused or can be shown: it marshals again (no infinite
// number), its lists are lists, and it is about what was asked.
func FuzzValidate(f *testing.F) {
	for _, v := range []any{goodTrace(), goodPing(), goodLoss()} {
		seed, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		holds[Traceroute](t, body)
		holds[Ping](t, body)
		holds[PacketLoss](t, body)
	})
}

func holds[T interface{ Validate(netip.Addr) error }](t *testing.T, body []byte) {
	var v T
	if json.Unmarshal(body, &v) != nil || v.Validate(asked) != nil {
		return
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("accepted, but does not marshal: %v", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(out, &fields); err != nil {
		t.Fatal(err)
	}
	if fields["target"] != asked.String() || fields["address"] != asked.String() {
		t.Fatalf("accepted for another target: %s", out)
	}
	for _, list := range []string{"hops", "explanation", "replies", "bursts"} {
		if v, present := fields[list]; present && v == nil {
			t.Fatalf("%s is null: %s", list, out)
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ slots, client, group, place int }{
		{1, 3, 3, 1}, {2, 3, 3, 1}, {3, 3, 3, 1}, {12, 3, 3, 6}, {15, 3, 3, 7}, {16, 3, 4, 8}, {63, 3, 15, 31},
		{64, 4, 16, 32}, {79, 4, 19, 39}, {80, 5, 20, 40}, {1000, 62, 250, 500},
	} {
		if place := PlaceShare(c.slots); place != c.place {
			t.Errorf("of %d slots a place has %d, want %d", c.slots, place, c.place)
		}
		if client, group := ClientShare(c.slots), GroupShare(c.slots); client != c.client || group != c.group {
			t.Errorf("of %d slots: %d and %d, want %d and %d", c.slots, client, group, c.client, c.group)
		}
	}
}

func TestPseudonym(t *testing.T) {
	t.Parallel()
	const token, name = "0123456789abcdef", "2001:db8::/64"
	p := Pseudonym(token, "client", name)
	if len(p) != 32 || !ValidPseudonym(p) || p != Pseudonym(token, "client", name) {
		t.Errorf("pseudonym %q", p)
	}
	for what, other := range map[string]string{
		"another token": Pseudonym(token+"x", "client", name), "another kind": Pseudonym(token, "group", name),
		"another name": Pseudonym(token, "client", "2001:db8:0:1::/64"), "no token": Pseudonym("", "client", name),
	} {
		if other == p {
			t.Errorf("%s gives the same", what)
		}
	}
	if got := Pseudonym(token, "client", ""); got != "" {
		t.Errorf("no client is %q", got)
	}
}

func TestValidPseudonym(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": true, "a": true, "~!": true, strings.Repeat("f", 64): true, strings.Repeat("f", 65): false,
		"a b": false, "a\n": false, "\x7f": false, "\x00": false, "é": false,
	} {
		if got := ValidPseudonym(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

func TestTraceOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given, want TraceOptions
		ok          bool
	}{
		{TraceOptions{}, TraceOptions{Protocol: ProtocolICMP}, true},
		{TraceOptions{Protocol: ProtocolICMP}, TraceOptions{Protocol: ProtocolICMP}, true},
		{TraceOptions{Protocol: ProtocolTCP}, TraceOptions{Protocol: ProtocolTCP, Port: 443}, true},
		{TraceOptions{Protocol: ProtocolUDP}, TraceOptions{Protocol: ProtocolUDP, Port: 33434}, true},
		{TraceOptions{Protocol: ProtocolTCP, Port: 1}, TraceOptions{Protocol: ProtocolTCP, Port: 1}, true},
		{TraceOptions{Protocol: ProtocolUDP, Port: 65535}, TraceOptions{Protocol: ProtocolUDP, Port: 65535}, true},
		{TraceOptions{Protocol: ProtocolICMP, Port: 1}, TraceOptions{}, false},
		{TraceOptions{Protocol: "", Port: 1}, TraceOptions{}, false},
		{TraceOptions{Protocol: "sctp"}, TraceOptions{}, false},
		{TraceOptions{MTU: true}, TraceOptions{Protocol: ProtocolICMP, MTU: true}, true},
	} {
		got, err := c.given.Complete()
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%+v: %+v, %v", c.given, got, err)
		}
	}
}

func TestValidFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		protocol string
		port     *int
		asked    TraceOptions
		ok       bool
	}{
		{"ICMP", ProtocolICMP, nil, TraceOptions{Protocol: ProtocolICMP}, true},
		{"a worker that knows nothing else", "", nil, TraceOptions{Protocol: ProtocolICMP}, true},
		{"that worker, asked for TCP", "", nil, TraceOptions{Protocol: ProtocolTCP, Port: 443}, false},
		{"TCP", ProtocolTCP, ptr(443), TraceOptions{Protocol: ProtocolTCP, Port: 443}, true},
		{"another port", ProtocolTCP, ptr(80), TraceOptions{Protocol: ProtocolTCP, Port: 443}, false},
		{"another protocol", ProtocolUDP, ptr(443), TraceOptions{Protocol: ProtocolTCP, Port: 443}, false},
		{"no port", ProtocolTCP, nil, TraceOptions{Protocol: ProtocolTCP, Port: 443}, false},
		{"a port of ICMP", ProtocolICMP, ptr(7), TraceOptions{Protocol: ProtocolICMP}, false},
	} {
		r := goodTrace()
		r.Protocol, r.Port = c.protocol, c.port
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, r.ValidFor(c.asked), c.ok)
		})
	}
	r := goodTrace()
	check(t, r.ValidFor(TraceOptions{Protocol: ProtocolICMP, MTU: true}), true)
	r.MTU = &MTU{HopMTUs: []HopMTU{}}
	check(t, r.ValidFor(TraceOptions{Protocol: ProtocolICMP, MTU: true}), true)
	check(t, r.ValidFor(TraceOptions{Protocol: ProtocolICMP}), false)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
