package traceroute

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

func TestConclusionOfMTU(t *testing.T) {
	t.Parallel()
	at := func(ttl, mtu int) []workerapi.HopMTU { return []workerapi.HopMTU{{TTL: ttl, MTU: mtu}} }
	for name, c := range map[string]struct {
		mtu        *workerapi.MTU
		family     int
		conclusion string
		found      string
		says       string
		remedy     string
	}{
		"not requested": {nil, 4, codeReached, "", "", ""},
		"whole":         {&workerapi.MTU{Path: new(1500)}, 4, codeReached, "", "", ""},
		"told": {&workerapi.MTU{Path: new(1400), LimitedAt: new(3), Reported: new(true), HopMTUs: at(3, 1400)}, 4, codeReached,
			"info note PATH_MTU_REDUCED", "at most 1,400 octets behind hop 3, which a router reports: a TCP segment has at most 1,360 octets", "ICMP type 3"},
		"told, IPv6": {&workerapi.MTU{Path: new(1400), LimitedAt: new(3), Reported: new(true), HopMTUs: at(3, 1400)}, 6, codeReached,
			"info note PATH_MTU_REDUCED", "at most 1,340 octets", "ICMPv6 type 2"},
		"told from an unknown hop": {&workerapi.MTU{Path: new(1499), Reported: new(true)}, 4, codeReached,
			"info note PATH_MTU_REDUCED", "at most 1,499 octets, which", ""},
		"told wrong": {&workerapi.MTU{Path: new(1400), LimitedAt: new(3), Reported: new(true)}, 4, codeWrongReport,
			"warn safer PATH_MTU_REPORT_WRONG", "too big behind hop 3, but", "clamp the TCP MSS to 1360"},
		"vanishing": {&workerapi.MTU{Path: new(1400), LimitedAt: new(3), Reported: new(false), HopMTUs: at(3, 1400)}, 4, codeBlackHole,
			"warn safer PATH_MTU_BLACK_HOLE", "Packets of more than 1,400 octets to example.com (8.8.8.8) vanish behind hop 3,", "clamp the TCP MSS to 1360"},
		"vanishing, IPv6": {&workerapi.MTU{Path: new(1280), LimitedAt: new(3), Reported: new(false), HopMTUs: at(3, 1280)}, 6, codeBlackHole,
			"warn safer PATH_MTU_BLACK_HOLE", "", "clamp the TCP MSS to 1220"},
		"vanishing, whatever the size": {&workerapi.MTU{LimitedAt: new(3), Reported: new(false)}, 4, codeBlackHole,
			"warn safer PATH_MTU_BLACK_HOLE", "Large packets to example.com", "on the path."},
		"a bound": {&workerapi.MTU{Path: new(1420), Note: new("…")}, 4, codeReached,
			"info note PATH_MTU_UNKNOWN", "not found; packets of 1,420 octets pass.", ""},
		"unknown":                {&workerapi.MTU{}, 4, codeReached, "info note PATH_MTU_UNKNOWN", "was not found.", ""},
		"told, and nothing more": {&workerapi.MTU{Reported: new(true)}, 4, codeReached, "info note PATH_MTU_UNKNOWN", "", ""},
		"less than the headers":  {&workerapi.MTU{Path: new(68), Reported: new(true)}, 6, codeReached, "info note PATH_MTU_REDUCED", "", ""},
	} {
		end := workerapi.Hop{TTL: 2, Addresses: []string{"8.8.8.8"}, Sent: 3, Received: 3, AverageMs: new(2.0)}
		got := conclude(workerapi.Traceroute{Target: "example.com", Address: "8.8.8.8", Family: c.family,
			Hops: []workerapi.Hop{end}, StopReason: workerapi.StopReached, Reached: true, MTU: c.mtu}, nil)
		found, said, remedy := "", got.Conclusion.Message, ""
		for _, f := range got.Findings {
			found += fmt.Sprintf("%s %s %s", f.Severity, f.Group, f.Code)
			said = f.Message
			if f.Remedy != nil {
				remedy = *f.Remedy
			}
		}
		if got.Conclusion.Code != c.conclusion || found != c.found || !strings.Contains(said, c.says) ||
			!strings.Contains(remedy, c.remedy) {
			t.Errorf("%s: %+v, %s, %q, %q", name, got.Conclusion, found, said, remedy)
		}
	}
}

// The path MTU is in the answer only where it was requested, and of a worker that measures none it says so.
func TestMTUIsInTheAnswer(t *testing.T) {
	t.Parallel()
	measured := &workerapi.MTU{Path: new(1400), LimitedAt: new(1), Reported: new(true),
		HopMTUs: []workerapi.HopMTU{{TTL: 1, MTU: 1400}}}
	for name, c := range map[string]struct {
		options string
		mtu     *workerapi.MTU
		want    string // in the answer; empty for an error
	}{
		"requested":       {`{"mtu":true}`, measured, `"mtu":{"path":1400,"limitedAt":1,"reported":true,"hopMtus":[{"ttl":1,"mtu":1400}],"note":null}`},
		"an older worker": {`{"mtu":true}`, nil, `"mtu":{"path":null,"limitedAt":null,"reported":null,"hopMtus":[],"note":"The`},
		"not requested":   {`{}`, nil, `"port":null}`},
		"unasked":         {`{}`, measured, ""},
		"out of bounds":   {`{"mtu":true}`, &workerapi.MTU{Path: new(1501), HopMTUs: []workerapi.HopMTU{}}, ""},
	} {
		f := &toolstest.Worker{Families: []int{4, 6}, Hops: hopsAt("1.1.1.1"), MTU: c.mtu}
		n := toolstest.ProbeNetwork(t)
		got, err := toolstest.Run(t.Context(), New(n.Client(nil), f.Start(t), nil),
			tool.Input{Text: toolstest.ProbeV4, Options: toolstest.Options(t, c.options)})
		if (err != nil) != (c.want == "") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		out, err := json.Marshal(got)
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}
