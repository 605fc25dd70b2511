package httpapi

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

func TestTraceOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]exchange.Probe{
		`null`: {}, `{}`: {}, `{"protocol":"icmp"}`: {}, `{"protocol":""}`: {},
		`{"protocol":"tcp"}`:              {Protocol: exchange.TCP, Port: 443},
		`{"protocol":"udp"}`:              {Protocol: exchange.UDP, Port: 33434},
		`{"protocol":"tcp","port":1}`:     {Protocol: exchange.TCP, Port: 1},
		`{"protocol":"udp","port":65535}`: {Protocol: exchange.UDP, Port: 65535},
	} {
		f := start(t, nil)
		a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
		asked := append(f.prober.ports, exchange.Probe{})[0]
		if a.StatusCode != 200 || len(f.prober.asked) != 1 || asked != want {
			t.Errorf("%s: %d, asked %+v", options, a.StatusCode, f.prober.ports)
		}
	}
	f := start(t, nil)
	for _, options := range []string{
		`{"port":443}`, `{"protocol":"icmp","port":443}`, `{"protocol":"sctp"}`, `{"protocol":"TCP"}`, `{"protocol":6}`,
		`{"protocol":"tcp","port":-1}`, `{"protocol":"tcp","port":65536}`, `{"protocol":"tcp","port":"443"}`,
		`{"protocol":"tcp","port":443.5}`, `"tcp"`,
	} {
		a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
		f.checkError(options, a, 400)
	}
	if len(f.prober.asked) != 0 {
		t.Errorf("%d jobs began", len(f.prober.asked))
	}
	// A ping has no such options.
	if a := f.do(f.request("POST", workerapi.PathPing, `{"target":"11.0.0.1","options":{"port":443}}`)); a.StatusCode != 200 {
		t.Errorf("a ping: %d", a.StatusCode)
	}
}

// Traces of one address share a job only where protocol and port are the same too.
func TestTracesAreSharedByProtocolAndPort(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.Slots = 20 })
	f.prober.run = func(context.Context) error { time.Sleep(50 * time.Millisecond); return nil }
	var all parallel.Group
	for range 4 {
		for _, options := range []string{
			`{}`, `{"protocol":"tcp"}`, `{"protocol":"tcp","port":443}`, `{"protocol":"tcp","port":80}`, `{"protocol":"udp","port":443}`,
		} {
			all.Go(func() {
				a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
				if a.StatusCode != 200 {
					t.Errorf("%s: %d", options, a.StatusCode)
				}
			})
		}
	}
	all.Wait()
	slices.SortFunc(f.prober.ports, func(a, b exchange.Probe) int {
		return int(a.Protocol)<<16 + int(a.Port) - int(b.Protocol)<<16 - int(b.Port)
	})
	want := []exchange.Probe{{Protocol: exchange.UDP, Port: 443}, {Protocol: exchange.TCP, Port: 80}, {Protocol: exchange.TCP, Port: 443}}
	if len(f.prober.asked) != 4 || !slices.Equal(f.prober.ports, want) {
		t.Errorf("%d jobs, with ports %+v", len(f.prober.asked), f.prober.ports)
	}
}

func TestNoSocketsForTheProtocol(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.prober.run = func(context.Context) error { return exchange.ErrProtocol }
	a := f.do(f.request("POST", workerapi.PathTraceroute, `{"target":"11.0.0.1","options":{"protocol":"tcp"}}`))
	f.checkError("no sockets", a, 502)
	why := a.Header.Get(workerapi.HeaderRefused)
	if a.envelope.Error != "This worker can trace with ICMP only." || why != workerapi.RefusedProtocol {
		t.Errorf("%q, %v", a.envelope.Error, a.Header)
	}
}
