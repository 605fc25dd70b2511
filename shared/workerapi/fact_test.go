package workerapi

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestValidFacts(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`{"about":"trace","code":"AB"},`, maxFacts), ",")
	for facts, valid := range map[string]bool{
		`[]`:   true,
		`null`: true, // of an earlier release
		`[{"about":"hop","ttl":1,"code":"HOP_SILENT","args":{"within":1.5}}]`:          true,
		`[{"about":"mtu","code":"MTU_MUTE","args":{"hop":1}}]`:                         true,
		`[{"about":"trace","code":"TRACE_SPREAD","args":{"hops":["1","30"]}}]`:         true,
		`[{"about":"trace","code":"TRACE_REFUSED","args":{"refusal":"REFUSAL_HOST"}}]`: true,
		`[{"about":"trace","code":"AB","args":{"a":1,"b":1,"c":1,"d":1,"e":1}}]`:       true,
		`[{"about":"trace","code":"AB","args":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}}]`: false,
		`[` + many + `]`: true,
		`[` + many + `,{"about":"trace","code":"AB"}]`:                             false,
		`[{"about":"hop","ttl":2,"code":"HOP_SILENT"}]`:                            false,
		`[{"about":"host","code":"HOP_SILENT"}]`:                                   false,
		`[{"about":"trace","code":"a sentence"}]`:                                  false,
		`[{"about":"trace","code":"TRACE_REFUSED","args":{"refusal":"10.0.0.1"}}]`: false,
		`[{"about":"trace","code":"TRACE_SPREAD","args":{"hops":["10.0.0.1"]}}]`:   false,
		`[{"about":"trace","code":"TRACE_SPREAD","args":{"hops":[1]}}]`:            false,
		`[{"about":"trace","code":"TRACE_SPREAD","args":{"Hops":1}}]`:              false,
		`[{"about":"trace","code":"TRACE_SPREAD","args":{"hops":{"a":1}}}]`:        false,
	} {
		var traced Traced
		text := `{"target":"11.0.0.1","address":"11.0.0.1","family":4,"stopReason":"gapLimit","explanation":[],` +
			`"measuredAt":"2026-05-01T12:00:00Z","mtu":{"hopMtus":[]},` +
			`"hops":[{"ttl":1,"addresses":[],"rttsMs":[],"lossPercent":100}],"facts":` + facts + `}`
		if err := json.Unmarshal([]byte(text), &traced); err != nil {
			t.Fatal(err)
		}
		err := traced.Validate(netip.MustParseAddr("11.0.0.1"))
		if (err == nil) != valid || err != nil && !errors.Is(err, ErrContract) {
			t.Errorf("%.120s: %v", facts, err)
		}
	}
}
