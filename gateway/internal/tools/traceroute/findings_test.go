package traceroute

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	router := workerapi.Hop{TTL: 1, Addresses: []string{"1.1.1.1"}, Sent: 3, Received: 1, AverageMs: new(1.0)}
	borrowed := workerapi.Hop{TTL: 1, Addresses: []string{"8.8.8.8"}, Sent: 3, Received: 3, AverageMs: new(1.0),
		TargetAddress: true}
	end := func(received int) workerapi.Hop {
		return workerapi.Hop{TTL: 2, Addresses: []string{"8.8.8.8"}, Sent: 3, Received: received, AverageMs: new(2.0)}
	}
	for name, c := range map[string]struct {
		stop  string
		hops  []workerapi.Hop
		state finding.State
		code  string
		found string
		facts []workerapi.Fact
	}{
		"reached":            {workerapi.StopReached, []workerapi.Hop{router, end(3)}, finding.OK, codeReached, "", nil},
		"with loss":          {workerapi.StopReached, []workerapi.Hop{router, end(2)}, finding.Warned, codeLoss, "warn safer DESTINATION_LOSS", nil},
		"without a distance": {workerapi.StopReached, []workerapi.Hop{router}, finding.Noted, codeNoDistance, "info note DISTANCE_UNKNOWN", nil},
		"without an answer":  {workerapi.StopReached, []workerapi.Hop{router, end(0)}, finding.Noted, codeNoDistance, "info note DISTANCE_UNKNOWN", nil},
		"translated, reached": {workerapi.StopReached, []workerapi.Hop{borrowed, end(3)}, finding.OK, codeReached,
			"info note TARGET_ADDRESS_ON_THE_WAY", nil},
		"translated, silence": {workerapi.StopGapLimit, []workerapi.Hop{borrowed}, finding.Warned, codeNoReply,
			"warn note NOT_REACHED, info note TARGET_ADDRESS_ON_THE_WAY", nil},
		"translated, unreachable": {workerapi.StopUnreachable, []workerapi.Hop{borrowed}, finding.Failed, codeUnreachable,
			"fail broken UNREACHABLE, info note TARGET_ADDRESS_ON_THE_WAY", nil},
		"silence":            {workerapi.StopGapLimit, []workerapi.Hop{router}, finding.Warned, codeNoReply, "warn note NOT_REACHED", nil},
		"silence from start": {workerapi.StopGapLimit, nil, finding.Warned, codeNoReply, "warn note NOT_REACHED", nil},
		"too many hops":      {workerapi.StopMaxHops, []workerapi.Hop{router}, finding.Warned, codeNoReply, "warn note NOT_REACHED", nil},
		"out of time":        {workerapi.StopDeadline, []workerapi.Hop{router}, finding.Unknown, codeNotFinished, "info note TRACE_NOT_FINISHED", nil},
		"unreachable":        {workerapi.StopUnreachable, []workerapi.Hop{router}, finding.Failed, codeUnreachable, "fail broken UNREACHABLE", nil},
		"refused before it": {workerapi.StopUnreachable, []workerapi.Hop{router}, finding.Warned, codePortRefused,
			"warn note PORT_REFUSED_ON_THE_WAY", []workerapi.Fact{{About: workerapi.AboutTrace, Code: "TRACE_PORT_REFUSED"}}},
		"prohibited":           {workerapi.StopProhibited, []workerapi.Hop{router}, finding.Failed, codeProhibited, "fail broken PROHIBITED", nil},
		"refused by itself":    {workerapi.StopUnreachable, []workerapi.Hop{router, end(1)}, finding.Warned, codeRefused, "warn note REFUSED_BY_DESTINATION", nil},
		"prohibited by itself": {workerapi.StopProhibited, []workerapi.Hop{router, end(1)}, finding.Warned, codeRefused, "warn note REFUSED_BY_DESTINATION", nil},
	} {
		got := conclude(workerapi.Traceroute{Target: "example.com", Address: "8.8.8.8", Hops: c.hops, StopReason: c.stop,
			Reached: c.stop == workerapi.StopReached}, c.facts)
		found := []string{}
		for _, f := range got.Findings {
			found = append(found, fmt.Sprintf("%s %s %s", f.Severity, f.Group, f.Code))
		}
		if got.Conclusion.State != c.state || got.Conclusion.Code != c.code || strings.Join(found, ", ") != c.found {
			t.Errorf("%s: %s %s, %q", name, got.Conclusion.State, got.Conclusion.Code, found)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
