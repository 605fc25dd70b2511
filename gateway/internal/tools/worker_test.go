package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/packetloss"
	"diagnostics/gateway/internal/tools/ping"
	"diagnostics/gateway/internal/tools/traceroute"
)

func TestProbeParse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text, option string
		want         fault.Kind
	}{
		{"EXAMPLE.com.", ``, 0},
		{"example.com", `null`, 0},
		{"example.com", `"ipv6"`, 0},
		{"8.8.8.8", `"ipv4"`, 0},
		{"8.8.8.8", `"ipv6"`, fault.Invalid},
		{"2606:4700:4700::1111", `"ipv4"`, fault.Invalid},
		{"example.com", `"IPv6"`, fault.Invalid},
		{"example.com", `""`, fault.Invalid},
		{"example.com", `6`, fault.Invalid},
		{"example.com", `["ipv4"]`, fault.Invalid},
		{"localhost", ``, fault.Refused},
		{"10.0.0.1", `"ipv4"`, fault.Refused},
		{"", ``, fault.Invalid},
		{"https://example.com/", ``, fault.Invalid},
	}
	for _, tl := range []tool.Tool{traceroute.New(nil, nil, nil), ping.New(nil, nil), packetloss.New(nil, nil)} {
		for _, c := range cases {
			t.Run(tl.Slug()+" "+c.text+" "+c.option, func(t *testing.T) {
				t.Parallel()
				in := tool.Input{Text: c.text}
				if c.option != "" {
					in.Options = tool.Options{"family": json.RawMessage(c.option)}
				}
				job, err := tl.Parse(in)
				if c.want == 0 && err != nil || c.want != 0 && !fault.Is(err, c.want) {
					t.Fatalf("got %v, want kind %d", err, c.want)
				}
				if err == nil && job.LimitKey() != strings.ToLower(strings.TrimSuffix(c.text, ".")) {
					t.Fatalf("limit key %q", job.LimitKey())
				}
			})
		}
		if !tl.NeedsWorker() {
			t.Errorf("%s runs without a worker", tl.Slug())
		}
	}
	_, err := ping.New(nil, nil).Parse(tool.Input{Text: "example.com",
		Options: tool.Options{"family": json.RawMessage(`"both"`)}})
	if err == nil || !strings.Contains(err.Error(), "auto, ipv4, ipv6") {
		t.Errorf("the sentence does not name what is allowed: %v", err)
	}
}

func TestProbeWithoutWorkerIsNotEnabled(t *testing.T) {
	t.Parallel()
	for _, tl := range []tool.Tool{traceroute.New(nil, nil, nil), ping.New(nil, nil), packetloss.New(nil, nil)} {
		if _, err := toolstest.Run(t.Context(), tl, toolstest.ProbeInput("example.com", "")); !fault.Is(err,
			fault.NotEnabled) {
			t.Errorf("%s: %v", tl.Slug(), err)
		}
	}
}
