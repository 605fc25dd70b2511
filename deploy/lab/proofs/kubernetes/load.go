package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"diagnostics/lab/internal/netns"
)

// The visitors' host has the whole of this range, of which the last addresses are no servers.
var visitorRange = netip.MustParsePrefix("11.94.0.0/24")

const (
	firstVisitor, visitors = 64, 180
	// requestRate is in a second, of all visitors together: pages, my-ip, and two pings through the worker.
	requestRate = 100
	domain      = "tools.example.com"
)

// visitor is a client at an address of its own, which keeps its connection as browsers do, or not.
type visitor struct {
	address netip.Addr
	client  *http.Client
}

func newVisitor(ns *netns.NS, n int, keep bool) *visitor {
	a := visitorRange.Addr().As4()
	a[3] = byte(firstVisitor + n%visitors)
	v := &visitor{address: netip.AddrFrom4(a)}
	dialer := &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(v.address, 0)), Timeout: 5 * time.Second}
	v.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: !keep,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ns.DialFrom(ctx, dialer, "tcp", publicHost+":80")
		},
	}}
	return v
}

// send is a request through the ingress; a path below /api/tools/ is a run of the body.
func (v *visitor) send(ctx context.Context, path string, body any, header http.Header) (int, string, error) {
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		var err error
		if content, err = json.Marshal(body); err != nil {
			return 0, "", err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+domain+path, bytes.NewReader(content))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// run runs a tool.
func (v *visitor) run(ctx context.Context, slug, input string, options map[string]any) (int, string, error) {
	return v.send(ctx, "/api/tools/"+slug, map[string]any{"input": input, "options": options}, nil)
}

// load is visitors that send requests until stop.
type load struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	requests int
	lost     []string
	slowest  time.Duration
}

func startLoad(ctx context.Context, ns *netns.NS) *load {
	l := &load{}
	ctx, l.cancel = context.WithCancel(ctx)
	all := make([]*visitor, visitors)
	for i := range all {
		all[i] = newVisitor(ns, i, i%2 == 0)
	}
	l.done.Go(func() {
		tick := time.NewTicker(time.Second / requestRate)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A request that has begun is waited for.
				l.done.Go(func() { l.request(context.WithoutCancel(ctx), all[n%visitors], n) })
			}
		}
	})
	return l
}

func (l *load) request(ctx context.Context, v *visitor, n int) {
	path, body, want := "/", any(nil), "<html"
	switch {
	case n%50 == 0:
		path, body, want = "/api/tools/ping", map[string]any{"input": fmt.Sprintf("11.90.0.%d", n/50%200+1)}, `"received":10`
	case n/visitors%3 == 0:
		path, body, want = "/api/tools/my-ip", map[string]any{"input": ""}, v.address.String()
	}
	begin := time.Now()
	status, text, err := v.send(ctx, path, body, nil)
	took := time.Since(begin)
	if err == nil && (status != http.StatusOK || !strings.Contains(text, want)) {
		err = fmt.Errorf("%d %.80s", status, text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.slowest = max(l.slowest, took)
	if err != nil {
		l.lost = append(l.lost, fmt.Sprintf("%s %s: %v", begin.Format(time.TimeOnly), path, err))
	}
}

// stop waits for the requests that have begun.
func (l *load) stop() {
	l.cancel()
	l.done.Wait()
}

// under runs something while visitors send requests, from two seconds before until two seconds after, and adds a row of
// what they saw. More than so many lost requests are an error.
func (p *proof) under(ctx context.Context, name string, mayLose int, do func(context.Context) error) error {
	l := startLoad(ctx, p.ns)
	sleep(ctx, 2*time.Second)
	begin := time.Now()
	err := do(ctx)
	took := time.Since(begin)
	sleep(ctx, 2*time.Second)
	l.stop()
	p.rows = append(p.rows, fmt.Sprintf("| %s | %.1f | %d | %d | %.2f |", name, took.Seconds(), l.requests, len(l.lost),
		l.slowest.Seconds()))
	if len(l.lost) > mayLose {
		slices.Sort(l.lost)
		err = errors.Join(err, fmt.Errorf("%d of %d requests were lost:\n%s", len(l.lost), l.requests,
			strings.Join(l.lost[:min(len(l.lost), 10)], "\n")))
		log, _ := p.cluster.output(ctx, "kubectl", "-n", "tools", "logs", "-l", "app.kubernetes.io/component=gateway",
			"--since=2m", "--tail=-1", "--prefix")
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"status":502`) || strings.Contains(line, `"level":"WARN"`) {
				fmt.Fprint(os.Stderr, line)
			}
		}
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
