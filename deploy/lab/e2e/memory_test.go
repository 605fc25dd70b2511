//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/skiptest"
	"diagnostics/shared/waittest"
)

const (
	mebibyte = 1 << 20
	// groupLimit is half of what docker-compose.yml gives the gateway, so that its settings have room.
	groupLimit = 256 * mebibyte
	// calm is how far above its rest the gateway may be three minutes after an attack: the runtime collects every two.
	calm = 64 * mebibyte
	// prompt is how much longer than an idle process the gateway may take for /healthz: 99 of 100 times, and at worst
	// (but for two of a thousand, and two at least, where the machine itself stalls), which is five times as much. The
	// attackers run on the same processors, and keep the idle process waiting too.
	prompt, promptAtWorst = 100 * time.Millisecond, 500 * time.Millisecond
)

// Four attacks on the memory of a gateway that has 256 MiB, one after another: it lives, /healthz answers throughout,
// and it is back at its rest soon.
func TestMemoryUnderAttack(t *testing.T) {
	proofOnly(t)
	allowFiles(t, 12_000)
	g := bounded(t)
	rest := g.rest(t)
	health := g.watchHealth(t)
	for _, attack := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"sixty clients read nothing", g.unread},
		{"ten clients ask for eight of the worst answers at once", g.worst},
		{"readers of one byte every nine seconds", g.trickle},
		{"10,000 idle connections", g.idle},
	} {
		start := time.Now()
		g.peak.Store(0)
		attack.run(t)
		t.Logf("%s: %.1f s, at most %d MiB, %s", attack.name, time.Since(start).Seconds(), g.peak.Load()/mebibyte, health)
		g.alive(t)
		if peak := g.peak.Load(); peak > groupLimit {
			t.Errorf("%s took %d MiB with what the kernel holds for sockets", attack.name, peak/mebibyte)
		}
	}
	g.recovers(t, rest)
	if usual, slowest := health.over(); usual > prompt || slowest > promptAtWorst {
		t.Errorf("/healthz took %v longer than that of an idle process 99 of 100 times, and %v at worst", usual, slowest)
	}
	if health.failed.Load() > 0 {
		t.Errorf("/healthz failed: %s", health)
	}
}

// boundedGateway is a gateway in a group of its own.
type boundedGateway struct {
	*lab.Server
	group   *lab.MemoryGroup
	metrics string
	peak    atomic.Int64 // of the group's usage
}

func bounded(t *testing.T, settings ...string) *boundedGateway {
	t.Helper()
	name := strings.ToLower(t.Name())
	group, err := internet.NewMemoryGroup(name, groupLimit)
	if errors.Is(err, lab.ErrNoMemoryGroups) {
		skiptest.Skip(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &boundedGateway{group: group, metrics: freeAddr(t, 9090)}
	settings = append(settings, "TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-real-ip",
		"METRICS_LISTEN_ADDR="+g.metrics, fmt.Sprintf("GOMEMLIMIT=%d", goLimit(t)))
	g.Server, err = service.StartGatewayIn(t.Context(), group, "gateway-"+name, append(unlimited[:4:4], settings...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = g.Process.Stop(ctx)
	})
	return g
}

// goLimit is GOMEMLIMIT for the group, in the proportion that docker-compose.yml sets.
func goLimit(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, gateway, _ := strings.Cut(string(text), "\n  gateway:\n")
	limit := regexp.MustCompile(`(?m)^    mem_limit: (\d+)m$`).FindStringSubmatch(gateway)
	soft := regexp.MustCompile(`(?m)^      GOMEMLIMIT: (\d+)MiB$`).FindStringSubmatch(gateway)
	if limit == nil || soft == nil {
		t.Fatal("docker-compose.yml gives the gateway no mem_limit with a GOMEMLIMIT")
	}
	whole, _ := strconv.ParseInt(limit[1], 10, 64)
	part, _ := strconv.ParseInt(soft[1], 10, 64)
	return groupLimit * part / whole
}

// allowFiles lets this process and its children open as many files.
func allowFiles(t *testing.T, n uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if before.Cur >= n {
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: max(n, before.Max)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
}

func (g *boundedGateway) resident(t *testing.T) int64 {
	t.Helper()
	all, _, err := g.Process.Resident()
	if err != nil {
		t.Fatalf("the gateway is gone: %v\n%s", err, tail(g.Process.Log()))
	}
	return all
}

func (g *boundedGateway) usage(t *testing.T) int64 {
	t.Helper()
	n, err := g.group.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// level is what a gateway holds: resident pages, and all that its group is charged with.
type level struct{ resident, group int64 }

func (g *boundedGateway) level(t *testing.T) level { return level{g.resident(t), g.usage(t)} }

// rest is the level of a gateway that has answered one ordinary request.
func (g *boundedGateway) rest(t *testing.T) level {
	t.Helper()
	post(t, g.Server, "dns-lookup", map[string]any{"input": lab.DNSZone}, nil)
	l := g.level(t)
	t.Logf("at rest: %d MiB resident, %d MiB in the group", l.resident/mebibyte, l.group/mebibyte)
	return l
}

// recovers waits for the level of the rest, for five minutes at most: an idle process collects garbage every two
// minutes, and returns memory to the system after the second collection that did not need it.
func (g *boundedGateway) recovers(t *testing.T, rest level) {
	t.Helper()
	start := time.Now()
	var now level
	if !waittest.Within(5*time.Minute, func() bool {
		now = g.level(t)
		return now.resident <= rest.resident+calm && now.group <= rest.group+calm
	}) {
		t.Errorf("never at rest again: %d and %d MiB before", rest.resident/mebibyte, rest.group/mebibyte)
	}
	t.Logf("after %.1f s: %d MiB resident, %d MiB in the group", time.Since(start).Seconds(), now.resident/mebibyte,
		now.group/mebibyte)
}

// alive ends the test where the kernel has ended the gateway.
func (g *boundedGateway) alive(t *testing.T) {
	t.Helper()
	killed, err := g.group.Killed()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Process.Done():
		t.Fatalf("the gateway has ended; the kernel killed %d for memory\n%s", killed, tail(g.Process.Log()))
	default:
	}
	if killed > 0 {
		t.Fatalf("the kernel killed %d for memory", killed)
	}
}

// health is how /healthz answered on new connections.
type health struct {
	mu      sync.Mutex
	beyond  []time.Duration // the worker's
	longest time.Duration
	failed  atomic.Int64
	last    error
}

// over is how much longer than the idle worker the gateway took: 99 of 100 times, and at worst but for two of a
// thousand times. Of a short series both leave out the three slowest: a busy machine stalls one process now and then.
func (h *health) over() (usual, slowest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sorted := slices.Sorted(slices.Values(h.beyond))
	stalls := max(3, len(sorted)*2/1000)
	if len(sorted) <= stalls {
		return 0, 0
	}
	slowest = sorted[len(sorted)-1-stalls]
	return min(sorted[len(sorted)*99/100], slowest), slowest
}

func (h *health) String() string {
	usual, slowest := h.over()
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%d times /healthz, slowest %d ms (over an idle process %d ms but for the few slowest, and "+
		"%d ms 99 of 100 times), %d failed (%v)", len(h.beyond), h.longest.Milliseconds(), slowest.Milliseconds(), usual.Milliseconds(),
		h.failed.Load(), h.last)
}

// watchHealth polls until the test ends, and records the group's usage. The worker, which has nothing to do, is
// polled at the same time: what it takes is the machine's doing, and that of this process.
func (g *boundedGateway) watchHealth(t *testing.T) *health {
	h := &health{}
	client := internet.HTTPClient()
	client.Transport.(*http.Transport).DisableKeepAlives = true
	client.Timeout = 10 * time.Second
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			var idle time.Duration
			var both sync.WaitGroup
			both.Go(func() { idle, _ = askHealth(ctx, client, service.Worker.Addr) })
			took, err := askHealth(ctx, client, g.Addr)
			both.Wait()
			if ctx.Err() == nil {
				h.note(took, idle, err)
			}
			if n, err := g.group.Usage(); err == nil {
				g.peak.Store(max(g.peak.Load(), n))
			}
			time.Sleep(20 * time.Millisecond) // the interval of the samples
		}
	})
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	return h
}

func (h *health) note(took, idle time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.longest = max(h.longest, took)
	h.beyond = append(h.beyond, took-idle)
	if err != nil {
		h.failed.Add(1)
		h.last = err
	}
}

func askHealth(ctx context.Context, client *http.Client, addr string) (time.Duration, error) {
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return time.Since(start), err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return time.Since(start), fmt.Errorf("status %d", resp.StatusCode)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(start), err
}

// request is a run of dns-lookup for a client, as it is on the wire.
func (g *boundedGateway) request(client, name string) string {
	return g.requestOf("dns-lookup", client, name, "application/json")
}

func (g *boundedGateway) requestOf(slug, client, input, accept string) string {
	return g.requestWith(slug, client, `{"input":"`+input+`"}`, accept)
}

func (g *boundedGateway) requestWith(slug, client, body, accept string) string {
	return fmt.Sprintf("POST /api/tools/%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: %s\r\n"+
		"X-Real-IP: %s\r\nContent-Length: %d\r\n\r\n%s", slug, g.Addr, accept, client, len(body), body)
}

// attacker is the n-th client of an attack.
func attacker(n int) string { return fmt.Sprintf("11.200.%d.%d", n/250, 1+n%250) }

func (g *boundedGateway) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := internet.Dial(t.Context(), "tcp", g.Addr)
	if err != nil {
		t.Error(err)
		return nil
	}
	return conn
}

// send sends requests on connections of their own, and leaves them open.
func (g *boundedGateway) send(t *testing.T, requests []string) (conns []net.Conn) {
	t.Helper()
	for _, request := range requests {
		conn := g.connect(t)
		if conn == nil {
			break
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Error(err)
		}
		conns = append(conns, conn)
	}
	return conns
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}

// unread is sixty clients with large answers that none of them reads. All are cut off, and while they are not a client
// with eight has no place for a ninth.
func (g *boundedGateway) unread(t *testing.T) {
	var requests []string
	for client := range 60 {
		each := 1
		if client == 0 {
			each = 8
		}
		for n := range each {
			requests = append(requests, g.request(attacker(client), fmt.Sprintf("u%d-%d.%s", client, n, lab.HeavyName)))
		}
	}
	conns := g.send(t, requests)
	defer closeAll(conns)
	g.until(t, "answers wait for their readers", func(m metrics) bool { return m["diagnostics_held_bytes"] > 8*mebibyte })
	header := http.Header{"X-Real-Ip": {attacker(0)}}
	if a := post(t, g.Server, "dns-lookup", map[string]any{"input": lab.HeavyName}, header); a.Status != 429 {
		t.Errorf("a client whose eight answers are unread gets %d for a ninth", a.Status)
	}
	g.until(t, "no answer waits any more", func(m metrics) bool {
		if m["diagnostics_held_bytes"] > 64*mebibyte {
			t.Errorf("%.0f bytes wait for their readers", m["diagnostics_held_bytes"])
		}
		return m["diagnostics_held_bytes"] == 0 && m["diagnostics_runs_in_flight"] == 0
	})
}

// worst is eight of the worst answers for each of ten clients, all at once, and all read.
func (g *boundedGateway) worst(t *testing.T) {
	statuses := map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for client := range 10 {
		for n := range 8 {
			all.Go(func() {
				name := fmt.Sprintf("w%d-%d.%s", client, n, lab.WorstName)
				status, size := g.ask(t, g.request(attacker(100+client), name))
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
				if size > mebibyte+mebibyte/16 {
					t.Errorf("%s: an answer of %d bytes", name, size)
				}
			})
		}
	}
	all.Wait()
	t.Logf("by status: %v", statuses)
	if statuses[200] == 0 || statuses[200]+statuses[429]+statuses[503] != 80 {
		t.Errorf("by status: %v", statuses)
	}
}

// ask reads a whole answer.
func (g *boundedGateway) ask(t *testing.T, request string) (status, size int) {
	t.Helper()
	conn := g.connect(t)
	if conn == nil {
		return 0, 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Error(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, int(n)
}

// trickle is readers that read so little that the kernel does not report it: each is cut off like one that reads
// nothing.
func (g *boundedGateway) trickle(t *testing.T) {
	cut := g.scrape(t)["diagnostics_readers_cut_total"]
	var requests []string
	for client := range 40 {
		requests = append(requests, g.request(attacker(200+client), fmt.Sprintf("t%d.%s", client, lab.HeavyName)))
	}
	conns := g.send(t, requests)
	defer closeAll(conns)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, conn := range conns {
		go func() {
			for ctx.Err() == nil {
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					return
				}
				select {
				case <-time.After(9 * time.Second):
				case <-ctx.Done():
				}
			}
		}()
	}
	g.until(t, "every reader is cut off", func(m metrics) bool {
		return int(m["diagnostics_readers_cut_total"]-cut) >= len(conns)
	})
}

// idle is 10,000 connections. Every eighth has begun a request: of half of them with fields that are many times as
// large in memory, of the others with a header that is whole, and with no body.
func (g *boundedGateway) idle(t *testing.T) {
	const connections, most = 10_000, 8192
	begun := "GET / HTTP/1.1\r\nHost: a\r\n"
	for i := range 1200 {
		begun += strconv.FormatInt(int64(2000+i), 36) + ":\r\n"
	}
	whole := "POST /api/tools/dns-lookup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n" +
		"X-Long: " + strings.Repeat("x", 30<<10) + "\r\n\r\n"
	var mu sync.Mutex
	var conns []net.Conn
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := range connections / 16 {
				conn := g.connect(t)
				if conn == nil {
					return
				}
				// Some have made room already.
				switch n % 16 {
				case 0:
					_, _ = io.WriteString(conn, begun)
				case 8:
					_, _ = io.WriteString(conn, whole)
				}
				mu.Lock()
				conns = append(conns, conn)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	defer closeAll(conns)
	g.until(t, "as many are open as may be", func(m metrics) bool {
		open, evicted := m["diagnostics_connections"], `diagnostics_connections_evicted_total{reason="%s"}`
		full, unfinished := m[fmt.Sprintf(evicted, "full")], m[fmt.Sprintf(evicted, "unfinished")]
		if open > most {
			t.Errorf("%.0f connections are open", open)
		}
		return full+unfinished >= connections-most && unfinished > 0
	})
}

// metrics are those of the private listener, by name with labels.
type metrics map[string]float64

func (g *boundedGateway) scrape(t *testing.T) metrics {
	t.Helper()
	found, err := internet.Metrics(t.Context(), g.metrics)
	if err != nil {
		g.alive(t)
		t.Fatal(err)
	}
	return found
}

// until waits for something that the metrics show, five times as long as the 10 s after which a reader is cut off.
func (g *boundedGateway) until(t *testing.T, what string, ok func(metrics) bool) {
	t.Helper()
	start := time.Now()
	if !waittest.Within(50*time.Second, func() bool { g.alive(t); return ok(g.scrape(t)) }) {
		t.Errorf("it does not happen: %s", what)
	}
	t.Logf("%s after %.1f s", what, time.Since(start).Seconds())
}
