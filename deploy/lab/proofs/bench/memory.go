package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"diagnostics/lab"
)

const (
	inFlight = 1000
	// mostPerRun is the bound on what a run at a silent target holds: heap, stacks and the kernel's part of its sockets,
	// its visitor's connection included.
	mostPerRun = 64 << 10
	// collectOften has the runtime of Go collect early, before the runs and while they wait: what handshakes have left
	// behind and no run holds is not counted then.
	collectOften = "GOGC=25"
	// groupLimit is never reached; the group is there to count what the kernel holds.
	groupLimit = 4 << 30
)

// silence is a target that never answers, and the nth run's request for it.
type silence struct {
	name, slug string
	input      func(n int) string
}

// silences differ in how far a run gets before it waits.
func silences() []silence {
	silent := func(n int) netip.Addr { // of the silent range, by IPv6
		a := netip.MustParseAddr("2a10:92:3::").As16()
		a[14], a[15] = byte(n>>8)+1, byte(n)
		return netip.AddrFrom16(a)
	}
	mute := func(scheme string, port string) func(int) string {
		return func(n int) string { return fmt.Sprintf("%s://n%d.%s%s/", scheme, n, loadZone, port) }
	}
	port := func(n int) string { return netip.AddrPortFrom(silent(n), 443).String() }
	return []silence{
		{"port-checker, no answer to SYN", "port-checker", port},
		{"uptime, no answer to SYN", "uptime", func(n int) string { return fmt.Sprintf("https://[%s]/", silent(n)) }},
		{"http-headers, no answer to the request", "http-headers", mute("http", targetMute)},
		{"http-headers, no answer after the TLS handshake", "http-headers", mute("https", targetMuteTLS)},
	}
}

// silent measures what runs at silent targets hold.
func (b *bench) silent(ctx context.Context) error {
	t := table{name: "silent", head: []string{fmt.Sprintf("%d runs at silent targets", inFlight), "resident, each",
		"with the kernel's, each", "bound"}}
	var errs []error
	for _, s := range silences() {
		h, err := b.hold(ctx, s, inFlight)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all := max(h.resident, h.all)
		bound := fmt.Sprintf("%s, at most %s", verdict(all <= mostPerRun), kib(mostPerRun))
		fmt.Printf("%-50s %s resident and %s in all each: %s\n", s.name, kib(h.resident), kib(h.all), bound)
		t.add(s.name, kib(h.resident), kib(h.all), bound)
		if all > mostPerRun {
			errs = append(errs, fmt.Errorf("%s: misses its bound", s.name))
		}
	}
	b.tables = append(b.tables, t)
	return errors.Join(errs...)
}

// held is what a run holds on average: of the process's own memory, and with what the kernel holds for it (0 where that
// cannot be known). total is the process's, all runs together.
type held struct{ resident, all, total int64 }

// hold begins n runs at a target that never answers, and measures while all of them wait.
func (b *bench) hold(ctx context.Context, s silence, n int) (h held, err error) {
	group, err := b.lab.NewMemoryGroup(fmt.Sprintf("bench-%d", b.serial()), groupLimit)
	if err != nil && !errors.Is(err, lab.ErrNoMemoryGroups) {
		return h, err
	}
	gateway, err := b.startGateway(ctx, group, collectOften)
	if err != nil {
		return h, err
	}
	defer gateway.Kill()
	if _, err := b.post(ctx, "/api/tools/my-ip", ""); err != nil {
		return h, err
	}
	before, err := usage(gateway, group)
	if err != nil {
		return h, err
	}
	visits, leave := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer leave()
	client := b.lab.HTTPClient()
	defer client.CloseIdleConnections()
	for i := range n {
		all.Go(func() { visit(visits, client, s.slug, s.input(i)) })
	}
	if err := b.awaitInFlight(ctx, n); err != nil {
		return h, err
	}
	after, err := usage(gateway, group)
	h.total = after.resident
	h.resident = (after.resident - before.resident) / int64(n)
	h.all = (after.all - before.all) / int64(n)
	return h, err
}

func usage(p *lab.Process, group *lab.MemoryGroup) (h held, err error) {
	if _, h.resident, err = p.Resident(); err != nil || group == nil {
		return h, err
	}
	h.all, err = group.Usage()
	return h, err
}

// visit sends a request to the gateway and waits until ctx ends.
func visit(ctx context.Context, client *http.Client, slug, input string) {
	body := strings.NewReader(fmt.Sprintf(`{"input":%q}`, input))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+gatewayAddr+"/api/tools/"+slug, body)
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Real-IP", "11.7.0.1")
	if resp, err := client.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// settled is how long all runs are in flight before they are measured, within the least time that a tool waits: a
// thousand handshakes take more than a second of two processors, and a lookup that was lost is repeated after 2.5.
const settled = 3 * time.Second

func (b *bench) awaitInFlight(ctx context.Context, n int) error {
	for range 100 {
		pause(ctx, 20*time.Millisecond)
		now, err := b.gauge(ctx, "diagnostics_runs_in_flight")
		if err != nil {
			return err
		}
		if now == n {
			pause(ctx, settled)
			return nil
		}
	}
	return fmt.Errorf("%d runs are never in flight at once", n)
}

// gauge reads one of the gateway's metrics.
func (b *bench) gauge(ctx context.Context, name string) (int, error) {
	all, err := b.lab.Metrics(ctx, metricsAddr)
	if err != nil {
		return 0, err
	}
	value, ok := all[name]
	if !ok {
		return 0, fmt.Errorf("no metric %s", name)
	}
	return int(value), nil
}

func kib(n int64) string { return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)) }
