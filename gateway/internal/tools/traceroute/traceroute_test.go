package traceroute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

func hopsAt(addresses ...string) []workerapi.Hop {
	hops := make([]workerapi.Hop, len(addresses))
	for i, a := range addresses {
		hops[i] = workerapi.Hop{TTL: i + 1, Addresses: []string{}, RTTsMs: []*float64{}}
		if a != "" {
			hops[i].Address, hops[i].Addresses = &a, []string{a}
		}
	}
	return hops
}

func run(t *testing.T, n *egresstest.Network, hops []workerapi.Hop, text, family string) Result {
	t.Helper()
	f := &toolstest.Worker{Families: []int{4, 6}, Hops: hops}
	got, err := toolstest.Run(t.Context(), New(n.Client(nil), f.Start(t), nil), toolstest.ProbeInput(text, family))
	if err != nil {
		t.Fatal(err)
	}
	return got.(Result)
}

func TestTracerouteNamesPublicHops(t *testing.T) {
	t.Parallel()
	n := toolstest.ProbeNetwork(t)
	n.Records(
		"1.0.0.10.in-addr.arpa. 300 IN PTR gw.corp.example.com.",
		"1.1.1.1.in-addr.arpa. 300 IN PTR ONE.example.net.",
		"2.1.1.1.in-addr.arpa. 300 IN PTR localhost.",
		`3.1.1.1.in-addr.arpa. 300 IN PTR <script>alert\(1\)</script>.example.net.`,
		"4.1.1.1.in-addr.arpa. 300 IN PTR router.corp.internal.",
		"5.1.1.1.in-addr.arpa. 300 IN PTR core_1.example.net.",
		"6.1.1.1.in-addr.arpa. 300 IN TXT no-name",
		"7.1.1.1.in-addr.arpa. 300 IN CNAME 7.0-15.1.1.1.in-addr.arpa.",
		"7.0-15.1.1.1.in-addr.arpa. 300 IN PTR seven.example.net.",
	)
	got := run(t, n, hopsAt("10.0.0.1", "1.1.1.1", "", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5", "1.1.1.6", "1.1.1.7",
		"1.1.1.8"), "Both.example.com", "")
	if got.Target != "both.example.com" || got.Address != toolstest.ProbeV4 {
		t.Errorf("target %s, address %s", got.Target, got.Address)
	}
	want := []string{"", "one.example.net", "", "", "", "", "core_1.example.net", "", "seven.example.net", ""}
	for i, h := range got.Hops {
		name := ""
		if h.Hostname != nil {
			name = *h.Hostname
		}
		if name != want[i] || h.ASN != nil {
			t.Errorf("hop %d is %q (ASN %v), want %q", h.TTL, name, h.ASN, want[i])
		}
	}
	if h := got.Hops[0]; !h.Hidden || h.Address != nil {
		t.Errorf("the private hop is told: %+v", h)
	}
	for _, q := range n.Queries() {
		if strings.HasPrefix(q.Name, "1.0.0.10.") {
			t.Error("the private hop was looked up")
		}
	}
}

func TestTracerouteTellsTheNetworksOfPublicHops(t *testing.T) {
	t.Parallel()
	n := toolstest.ProbeNetwork(t)
	n.Records(
		// Either address of the block may be the one that is asked for.
		toolstest.ASNLine("1.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"),
		toolstest.ASNLine("2.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"),
		toolstest.ASNLine("as13335", "13335 | US | arin | 2010-07-14 | CLOUDFLARENET, US"),
		toolstest.ASNLine("9.9.9.9.origin", "42 | 9.9.0.0/16 | US | arin | 2017-09-13"),
		toolstest.ASNLine("9.9.9.9.origin", "19281 64999 19282 | 9.9.9.0/24 | US | arin | 2017-09-13"),
		"1.1.1.1.in-addr.arpa. 300 IN PTR one.example.net.",
	)
	f := &toolstest.Worker{Families: []int{4, 6}, Hops: hopsAt("1.1.1.1", "1.1.1.2", "", "9.9.9.9", "8.8.8.8", "10.0.0.1")}
	client := n.Client(nil)
	result, err := toolstest.Run(t.Context(), New(client, f.Start(t), toolstest.ASNClient(t, client)),
		toolstest.ProbeInput(toolstest.ProbeV4, ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range result.(Result).Hops {
		line := "-"
		if h.ASN != nil {
			line = fmt.Sprint(h.ASN.ASN)
			if h.ASN.Name != nil {
				line += " " + *h.ASN.Name
			}
			if h.ASN.Others != nil {
				line += fmt.Sprint(" and ", h.ASN.Others)
			}
		}
		got = append(got, line)
	}
	want := []string{"13335 CLOUDFLARENET, US", "13335 CLOUDFLARENET, US", "-", "19281 and [19282 64999]", "-", "-"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	asked := 0
	for _, q := range n.Queries() {
		if strings.HasSuffix(q.Name, ".origin."+asn.DefaultZone+".") ||
			strings.HasSuffix(q.Name, ".origin."+asn.DefaultZone) {
			asked++
			if strings.HasPrefix(q.Name, "1.0.0.10.") {
				t.Error("the hidden hop was looked up")
			}
		}
	}
	if asked != 3 {
		t.Errorf("%d lookups for three blocks", asked)
	}
}

func TestTracerouteNamesIPv6Hops(t *testing.T) {
	t.Parallel()
	n := toolstest.ProbeNetwork(t)
	n.Records("1.1.1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.7.4.0.0.7.4.6.0.6.2.ip6.arpa. 300 IN PTR six.example.net.")
	got := run(t, n, hopsAt("2606:4700:4700::1111"), toolstest.ProbeV6, "ipv6")
	if h := got.Hops[0]; h.Hostname == nil || *h.Hostname != "six.example.net" {
		t.Fatalf("hop is %+v", h)
	}
}

// A hop that answers with the target's address without being the target has neither its name nor its network.
func TestTracerouteNamesNoBorrowedAddress(t *testing.T) {
	t.Parallel()
	n := toolstest.ProbeNetwork(t)
	n.Records("34.216.184.93.in-addr.arpa. 300 IN PTR target.example.net.")
	hops := hopsAt(toolstest.ProbeV4, "1.1.1.1", toolstest.ProbeV4, toolstest.ProbeV4)
	hops[0].TargetAddress, hops[2].TargetAddress = true, true
	got := run(t, n, hops, toolstest.ProbeV4, "")
	for i, h := range got.Hops {
		if named := h.Hostname != nil; named != (i == 3) || h.ASN != nil {
			t.Errorf("hop %d: %+v", i+1, h)
		}
	}
	if !slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Code == codeTranslated }) {
		t.Errorf("%+v", got.Findings)
	}
}

// TestTracerouteDoesNotWaitForNames: thirty routers whose names never come cost 300 ms together.
func TestTracerouteDoesNotWaitForNames(t *testing.T) {
	t.Parallel()
	n := toolstest.ProbeNetwork(t)
	var addresses []string
	for i := range workerapi.MaxHops {
		addresses = append(addresses, fmt.Sprintf("1.1.1.%d", i+1))
		toolstest.SilentName(n, fmt.Sprintf("%d.1.1.1.in-addr.arpa", i+1))
	}
	start := time.Now()
	got := run(t, n, hopsAt(addresses...), toolstest.ProbeV4, "")
	if took := time.Since(start); took > 5*hopNamesTime { // real sockets; one by one it were thirty times as long
		t.Errorf("took %v", took)
	}
	if len(got.Hops) != workerapi.MaxHops || got.Hops[29].Hostname != nil {
		t.Errorf("got %d hops", len(got.Hops))
	}
}

func TestTracerouteResultShape(t *testing.T) {
	t.Parallel()
	got := run(t, toolstest.ProbeNetwork(t), hopsAt(""), toolstest.ProbeV4, "auto")
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), `"findings":[`)
	_, rest, _ = strings.Cut(rest, "],")
	want := `"target":"93.184.216.34","address":"93.184.216.34","family":4,"reached":false,"stopReason":"gapLimit",` +
		`"hops":[{"ttl":1,"address":null,"addresses":[],"hostname":null,"hidden":false,"asn":null,"sent":0,"received":0,"lossPercent":0,` +
		`"bestMs":null,"averageMs":null,"worstMs":null,"rttsMs":[],"note":null}],"explanation":[],` +
		`"measuredAt":"2026-05-01T12:00:00Z","shared":true,"protocol":"icmp","port":null}`
	if !strings.HasPrefix(string(out), `{"conclusion":{`) || rest != want {
		t.Fatalf("got  %s\nwant %s", out, want)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options string
		want    workerapi.TraceOptions
	}{
		{`{}`, workerapi.TraceOptions{}},
		{`{"protocol":"icmp"}`, workerapi.TraceOptions{}},
		{`{"protocol":"icmp","port":null}`, workerapi.TraceOptions{}},
		{`{"protocol":null}`, workerapi.TraceOptions{}},
		{`{"protocol":"tcp"}`, workerapi.TraceOptions{Protocol: "tcp", Port: 443}},
		{`{"protocol":"udp"}`, workerapi.TraceOptions{Protocol: "udp", Port: 33434}},
		{`{"protocol":"tcp","port":1}`, workerapi.TraceOptions{Protocol: "tcp", Port: 1}},
		{`{"protocol":"udp","port":65535,"family":"ipv4"}`, workerapi.TraceOptions{Protocol: "udp", Port: 65535}},
		{`{"mtu":false}`, workerapi.TraceOptions{}},
		{`{"mtu":null}`, workerapi.TraceOptions{}},
		{`{"mtu":true}`, workerapi.TraceOptions{MTU: true}},
		{`{"mtu":true,"protocol":"tcp"}`, workerapi.TraceOptions{Protocol: "tcp", Port: 443, MTU: true}},
	} {
		got, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, c.options)})
		if err != nil || got.probes != c.want || got.Port != c.want.Port {
			t.Errorf("%s: %+v, %v", c.options, got, err)
		}
	}
	for _, c := range []struct{ options, about string }{
		{`{"port":443}`, "port"},
		{`{"protocol":"icmp","port":443}`, "port"},
		{`{"protocol":"tcp","port":0}`, "port"},
		{`{"protocol":"tcp","port":65536}`, "port"},
		{`{"protocol":"tcp","port":-1}`, "port"},
		{`{"protocol":"tcp","port":"443"}`, "port"},
		{`{"protocol":"tcp","port":443.5}`, "port"},
		{`{"protocol":"tcp","port":1e99}`, "port"},
		{`{"protocol":"tcp","port":[443]}`, "port"},
		{`{"protocol":"TCP"}`, "protocol"},
		{`{"protocol":"sctp"}`, "protocol"},
		{`{"protocol":""}`, "protocol"},
		{`{"protocol":6}`, "protocol"},
		{`{"protocol":"tcp","family":"ipv5"}`, "family"},
		{`{"mtu":1}`, "mtu"},
		{`{"mtu":"true"}`, "mtu"},
		{`{"mtu":"yes"}`, "mtu"},
		{`{"mtu":[true]}`, "mtu"},
		{`{"mtu":{}}`, "mtu"},
	} {
		_, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, c.options)})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != c.about {
			t.Errorf("%s: %v", c.options, err)
		}
	}
}

// The port is charged with the address, and asked of the worker.
func TestTheProbedPortIsCharged(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]workerapi.TraceOptions{
		`{}`: {}, `{"protocol":"udp"}`: {Protocol: "udp", Port: 33434}, `{"protocol":"tcp","port":8443}`: {Protocol: "tcp", Port: 8443},
	} {
		var charged []netip.AddrPort
		n := toolstest.ProbeNetwork(t)
		client := n.Client(func(s *egress.Settings) {
			s.Charge = func(_ context.Context, to netip.AddrPort) error { charged = append(charged, to); return nil }
		})
		f := &toolstest.Worker{Families: []int{4, 6}}
		got, err := toolstest.Run(t.Context(), New(client, f.Start(t), nil),
			tool.Input{Text: toolstest.ProbeV4, Options: toolstest.Options(t, options)})
		if err != nil {
			t.Fatal(err)
		}
		to := netip.AddrPortFrom(netip.MustParseAddr(toolstest.ProbeV4), want.Port)
		if len(charged) != 1 || charged[0] != to {
			t.Errorf("%s: charged %v", options, charged)
		}
		asked := f.Requests()
		if len(asked) != 1 || (asked[0].Options == nil) != (want.Port == 0) || want.Port != 0 && *asked[0].Options != want {
			t.Errorf("%s: asked %+v", options, asked)
		}
		r := got.(Result)
		told := r.Protocol + " " + fmt.Sprint(r.Port != nil && *r.Port == int(want.Port))
		if wantTold := map[bool]string{true: "icmp false", false: want.Protocol + " true"}[want.Port == 0]; told != wantTold {
			t.Errorf("%s: told %s", options, told)
		}
	}
}

func TestMain(m *testing.M) { toolstest.Main(m) }
