package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/progress"
)

// shot is what one run of wrk measured.
type shot struct {
	Rate     float64 // answers a second
	P50, P99 time.Duration
	CPU      time.Duration // processor time of the server for each answer
}

// load is the requests of wrk. Lua gives request(), which is called for each request; n is how often it was called by
// this thread, and begins elsewhere in each thread.
type load struct {
	server string // 127.0.0.1:8080
	lua    string
	stamp  int // of this run, for names that no other run had
}

func (l load) stamped(n int) load {
	l.stamp = n
	return l
}

// script is the load as a script of wrk, which prints what it measured as one line of JSON.
func (l load) script() string {
	return fmt.Sprintf("stamp = %d", l.stamp) + `
local threads = 0
function setup(thread)
	thread:set("n", threads * 10000000)
	threads = threads + 1
end
` + l.lua + `
function done(summary, latency, requests)
	local e = summary.errors
	io.write(string.format('{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}\n', summary.requests,
		summary.duration, latency:percentile(50), latency:percentile(99),
		e.connect + e.read + e.write + e.status + e.timeout))
end
`
}

// posts sends requests to a tool of the gateway; input is an expression of Lua over n.
func posts(slug, input string) string { return asks(slug, input, "application/json") }

func streams(slug, input string) string { return asks(slug, input, progress.MediaType) }

func asks(slug, input, accept string) string {
	return fmt.Sprintf(`
function request()
	n = n + 1
	return wrk.format("POST", %q, {["Content-Type"] = "application/json", ["Accept"] = %q,
		["X-Real-IP"] = "11.7.0." .. (1 + n %% 200)}, '{"input":"' .. %s .. '"}')
end`, "/api/tools/"+slug, accept, input)
}

// probes sends requests to the exporter; module and target are expressions of Lua over n.
func probes(module, target string) string {
	return fmt.Sprintf(`
function request()
	n = n + 1
	return wrk.format("GET", "/probe?module=" .. %s .. "&target=" .. %s)
end`, module, target)
}

// fire runs wrk on the service's host. An answer that is not a success fails it.
func (b *bench) fire(ctx context.Context, l load, server *lab.Process, connections int, d time.Duration) (shot, error) {
	path := filepath.Join(b.lab.Dir(), "wrk.lua")
	if err := os.WriteFile(path, []byte(l.script()), 0o644); err != nil {
		return shot{}, err
	}
	before, err := server.CPU()
	if err != nil {
		return shot{}, err
	}
	out, err := b.lab.Exec(ctx, lab.ServiceHost, "wrk", "-t", strconv.Itoa(min(2, connections)), "-c",
		strconv.Itoa(connections), "-d", d.String(), "--timeout", "30s", "-s", path, "http://"+l.server)
	if err != nil {
		return shot{}, err
	}
	after, err := server.CPU()
	if err != nil {
		return shot{}, err
	}
	var reported struct{ Requests, Microseconds, P50, P99, Failed int }
	begin := bytes.LastIndex(out, []byte(`{"requests"`))
	if begin < 0 {
		return shot{}, fmt.Errorf("wrk says: %s", out)
	}
	if err := json.Unmarshal(bytes.TrimSpace(out[begin:]), &reported); err != nil {
		return shot{}, fmt.Errorf("wrk says: %s: %w", out, err)
	}
	if reported.Failed > 0 || reported.Requests == 0 {
		return shot{}, fmt.Errorf("%d of %d requests to %s failed", reported.Failed, reported.Requests, l.server)
	}
	return shot{
		Rate: float64(reported.Requests) / (float64(reported.Microseconds) / 1e6),
		P50:  time.Duration(reported.P50) * time.Microsecond,
		P99:  time.Duration(reported.P99) * time.Microsecond,
		CPU:  (after - before) / time.Duration(reported.Requests),
	}, nil
}
