package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"diagnostics/lab"
)

// measure is one thing that must not grow.
type measure struct {
	name  string
	unit  float64 // of what is shown
	shown string
	// What the last third may be above the first, by median: a part of it and an amount.
	part, amount float64
	settles      time.Duration // how long it takes to its usual level
}

const mebibyte = 1 << 20

// The names of the measures, in the order in which they are shown. The worker's heap is what a collection leaves of it:
// it grows to 24 MiB before, however little is in use, which takes the worker minutes.
var measures = []measure{
	{name: "gateway: resident", unit: mebibyte, shown: "MiB", part: .2, amount: 16 * mebibyte},
	{name: "gateway: heap", unit: mebibyte, shown: "MiB", part: .25, amount: 16 * mebibyte},
	{name: "gateway: goroutines", unit: 1, part: .25, amount: 60},
	{name: "gateway: open files", unit: 1, part: .25, amount: 60},
	{name: "gateway: runs in flight", unit: 1, part: .25, amount: 20},
	{name: "gateway: log lines dropped", unit: 1},
	{name: "worker: resident", unit: mebibyte, shown: "MiB", part: .2, amount: 8 * mebibyte},
	{name: "worker: heap", unit: mebibyte, shown: "MiB", part: .25, amount: 4 * mebibyte},
	{name: "worker: goroutines", unit: 1, part: .25, amount: 30},
	{name: "worker: open files", unit: 1, part: .25, amount: 30},
	{name: "worker: log lines dropped", unit: 1},
	{name: "host: TCP sockets", unit: 1, part: .25, amount: 200},
	{name: "host: TIME-WAIT", unit: 1, part: .25, amount: 500, settles: 70 * time.Second},
	{name: "host: tracked connections", unit: 1, part: .25, amount: 500, settles: 130 * time.Second},
	{name: "Redis: keys", unit: 1, part: .3, amount: 300},
}

// samples are the measures over time.
type samples struct {
	stack  *stack
	series map[string][]point
}

type point struct {
	at    time.Time
	value float64
}

func newSamples(s *stack) *samples {
	return &samples{stack: s, series: map[string][]point{}}
}

// watch takes samples until ctx ends.
func (s *samples) watch(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		for name, value := range s.now(ctx) {
			s.series[name] = append(s.series[name], point{time.Now(), value})
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// now is one sample. What does not answer at the moment, as a stopped worker, is left out.
func (s *samples) now(ctx context.Context) map[string]float64 {
	out := map[string]float64{}
	if m := s.scrape(ctx, gatewayMeter); m != nil {
		out["gateway: resident"] = m["process_resident_memory_bytes"]
		out["gateway: heap"] = m["go_memstats_heap_alloc_bytes"]
		out["gateway: goroutines"] = m["go_goroutines"]
		out["gateway: open files"] = m["process_open_fds"]
		out["gateway: runs in flight"] = m["diagnostics_runs_in_flight"]
		out["gateway: log lines dropped"] = m["diagnostics_dropped_log_lines_total"]
	}
	if m := s.scrape(ctx, workerMeter); m != nil {
		out["worker: heap"] = m["go_gc_heap_live_bytes"]
		out["worker: goroutines"] = m["go_goroutines"]
		out["worker: log lines dropped"] = m["diagnostics_dropped_log_lines_total"]
	}
	if all, _, err := s.stack.worker.Process.Resident(); err == nil {
		out["worker: resident"] = float64(all)
	}
	if list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.stack.worker.Process.PID())); err == nil {
		out["worker: open files"] = float64(len(list))
	}
	if keys, err := s.stack.keys(ctx); err == nil {
		out["Redis: keys"] = keys
	}
	s.host(ctx, out)
	return out
}

// host adds the sockets of the service's host.
func (s *samples) host(ctx context.Context, out map[string]float64) {
	text, err := s.stack.lab.Exec(ctx, lab.ServiceHost, "cat", "/proc/net/sockstat")
	if err != nil {
		return
	}
	if m := regexp.MustCompile(`TCP: inuse (\d+) orphan \d+ tw (\d+)`).FindSubmatch(text); m != nil {
		out["host: TCP sockets"], _ = strconv.ParseFloat(string(m[1]), 64)
		out["host: TIME-WAIT"], _ = strconv.ParseFloat(string(m[2]), 64)
	}
	// The file is there where the kernel tracks connections at all.
	text, err = s.stack.lab.Exec(ctx, lab.ServiceHost, "cat", "/proc/sys/net/netfilter/nf_conntrack_count")
	if n, bad := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64); err == nil && bad == nil {
		out["host: tracked connections"] = n
	}
}

// scrape is nil where there is no answer.
func (s *samples) scrape(ctx context.Context, addr string) map[string]float64 {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m, err := s.stack.lab.Metrics(ctx, addr)
	if err != nil {
		return nil
	}
	return m
}

// growth compares the first third of a measure with its last, once it has settled.
type growth struct {
	first, last, most, bound float64
	known                    bool
}

func (g growth) grew() bool { return g.known && g.last > g.bound }

// fewest samples give a median of a third.
const fewest = 4

func (m measure) growth(points []point, start time.Time, length time.Duration) growth {
	settled := start.Add(max(m.settles, min(length/4, 2*time.Minute)))
	var values []float64
	for _, p := range points {
		if p.at.After(settled) {
			values = append(values, p.value)
		}
	}
	third := len(values) / 3
	if third < fewest {
		return growth{}
	}
	g := growth{first: median(values[:third]), last: median(values[len(values)-third:]), most: slices.Max(values),
		known: true}
	g.bound = g.first*(1+m.part) + m.amount
	return g
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
