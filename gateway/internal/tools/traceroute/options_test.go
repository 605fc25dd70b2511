package traceroute

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

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
		r := got.(workerapi.Traceroute)
		told := r.Protocol + " " + fmt.Sprint(r.Port != nil && *r.Port == int(want.Port))
		if wantTold := map[bool]string{true: "icmp false", false: want.Protocol + " true"}[want.Port == 0]; told != wantTold {
			t.Errorf("%s: told %s", options, told)
		}
	}
}
