package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/gateway/internal/tools"
	"diagnostics/shared/waittest"

	"github.com/redis/go-redis/v9"
)

// What a request costs Redis. docs/scaling.md has it in a table, and calculates with it; each number is a bound that
// TestRedisCost checks, and `make generate` rewrites the table from a measurement.
const (
	scalingDoc = "../docs/scaling.md"
	costBegin  = "<!-- redis-cost -->"
	costEnd    = "<!-- /redis-cost -->"
	costHead   = "| request | commands | round trips | keys | bytes |\n|---|---|---|---|---|\n"
	// costStep is what bytes are rounded up to. How long a bucket's text is differs from run to run.
	costStep = 200
)

// redisCost is the cost of one request in Redis: the commands sent, the times that the gateway waited for an answer to
// some, and the memory used after it, by MEMORY USAGE.
type redisCost struct{ commands, trips, keys, bytes int }

// costedRequest is a request whose cost is measured. An empty tool is a GET of the path.
type costedRequest struct {
	what, path, tool, input, client string
	status                          int
	// again keeps what the one before it left, caches above all.
	again bool
}

// costedRequests are in an order in which each "again" follows its first. Each "first" finds Redis empty.
func costedRequests() []costedRequest {
	const four, six = "198.51.100.1", "2600:db8:1:2::1"
	site, address := "site.test-site.com", "93.184.216.34"
	run := func(what, tool, input, client string) costedRequest {
		return costedRequest{what: what, tool: tool, input: input, client: client, status: http.StatusOK}
	}
	again := func(r costedRequest) costedRequest {
		r.what, r.again = strings.Replace(r.what, ", first", ", again", 1), true
		return r
	}
	asnFirst := run("`asn-lookup`, first", "asn-lookup", address, four)
	place := run("`ip-geolocation`, first", "ip-geolocation", address, four)
	whoisFirst := run("`whois-lookup`, first", "whois-lookup", "test-site.com", four)
	suites := run("`ssl-checker`, first", "ssl-checker", address, four)
	return []costedRequest{
		{what: "a page", path: "/", client: four, status: http.StatusOK},
		{what: "`/healthz`", path: "/healthz", client: four, status: http.StatusOK},
		{what: "a run refused before the limits", tool: "http-headers", input: "http://10.0.0.1/",
			client: four, status: http.StatusBadRequest},
		{what: "a sample of the browser's connection tools", path: "/api/connection/ping", client: four,
			status: http.StatusOK},
		{what: "the same over IPv6", path: "/api/connection/ping", client: six, status: http.StatusOK},
		run("`my-ip`", "my-ip", "", four),
		run("`dns-lookup`", "dns-lookup", site, four),
		run("`dns-lookup` over IPv6", "dns-lookup", site, six),
		run("`dns-resolver-check`", "dns-resolver-check", site, four),
		run("`email-dns-health`", "email-dns-health", "null-site.com", four),
		run("`port-checker`, one address", "port-checker", address+":443", four),
		run("`http-headers`, one address", "http-headers", "http://"+address+"/", four),
		run("`security-headers`, one address", "security-headers", "http://"+address+"/", four),
		run("`redirect-checker`, one address", "redirect-checker", "http://"+address+"/moved", four),
		run("`robots-sitemap`, one address", "robots-sitemap", "http://"+address+"/", four),
		run("`uptime`, one address", "uptime", "http://"+address+"/", four),
		run("`ping`", "ping", address, four),
		run("`packet-loss`", "packet-loss", address, four),
		run("`traceroute`, first", "traceroute", address, four),
		again(run("`traceroute`, first", "traceroute", address, four)),
		asnFirst, again(asnFirst), place, again(place), whoisFirst, again(whoisFirst), suites, again(suites),
	}
}

// TestRedisCost holds what each kind of request costs against the table, on a real redis-server.
func TestRedisCost(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	measured := measureCosts(t, server)
	told := costsTold(t)
	if *update {
		daemontest.Section(t, scalingDoc, costBegin, costEnd, costTable(atLeast(measured, told)), true)
		return
	}
	for _, r := range costedRequests() {
		bound, is := told[r.what]
		got := measured[r.what]
		if !is {
			t.Errorf("%s does not tell of %s: `make generate` writes the table", scalingDoc, r.what)
		} else if got.commands > bound.commands || got.trips > bound.trips || got.keys > bound.keys ||
			got.bytes > bound.bytes {
			t.Errorf("%s costs %+v, and %s promises at most %+v", r.what, got, scalingDoc, bound)
		}
		delete(told, r.what)
	}
	for what := range told {
		t.Errorf("%s tells of %s, which nothing measures", scalingDoc, what)
	}
}

// TestALimitedRunCostsLess: who is refused reaches no wider bucket, whatever the flood.
func TestALimitedRunCostsLess(t *testing.T) {
	t.Parallel()
	edge := newCostedGateway(t, redistest.Start(t), hourly(1))
	over := costedRequest{tool: "dns-lookup", input: "site.test-site.com", client: "2600:db8::1", status: 200}
	first := edge.cost(t, over)
	over.status = http.StatusTooManyRequests
	if got := edge.cost(t, over); got.commands != 2 || got.trips != 1 || got.keys > first.keys {
		t.Errorf("a refused run costs %+v, and the one before it %+v", got, first)
	}
}

func measureCosts(t *testing.T, server *redistest.Server) map[string]redisCost {
	t.Helper()
	edge := newCostedGateway(t, server, hourly(1000))
	// The scripts are loaded once in a server's life.
	edge.cost(t, costedRequest{tool: "port-checker", input: "93.184.216.34:443", client: "198.51.100.9", status: 200})
	measured := map[string]redisCost{}
	for _, r := range costedRequests() {
		if !r.again {
			if err := edge.plain.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		measured[r.what] = edge.cost(t, r)
	}
	return measured
}

// costedGateway is the real edge with the real tools, on a private internet, with limits and caches in Redis alone.
type costedGateway struct {
	http  *httptest.Server
	plain *redis.Client // looks at what was kept, uncounted
	calls callCounter
}

func newCostedGateway(t *testing.T, server *redistest.Server, each ratelimit.Limit) *costedGateway {
	t.Helper()
	g := &costedGateway{plain: redis.NewClient(&redis.Options{Addr: server.Addr()})}
	t.Cleanup(func() { _ = g.plain.Close() })
	counted := redis.NewUniversalClient(server.Options())
	breaker := breaker.New(counted, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = breaker.Close() })
	awaitProbe(t, g.plain)
	counted.AddHook(&g.calls)
	limiter, store := ratelimit.NewRedis(counted), cache.NewRedis(breaker)

	n, certs := network(t)
	// With limits of a minute the first keys would be gone before they are looked at.
	wide := hourly(1000)
	charge := addresslimit.New(limiter, wide.Requests, wide.Window).Allow
	client := n.Client(func(s *egress.Settings) { s.Charge = charge }, egress.WithChecker(certs))
	worker := fakeWorker(t)
	g.http = gatewayOn(t, client, certs, worker, func(c *httpapi.Config) {
		registry, err := rdap.New(rdap.Config{Egress: client, Base: "https://site.test-site.com/rdap", Cache: store,
			Pace: pace.New(serverBuckets{limiter})})
		if err != nil {
			t.Fatal(err)
		}
		port43, err := whois.New(whois.Config{Egress: client, Cache: store, Pace: pace.New(serverBuckets{limiter})})
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = tools.All(tools.Deps{Egress: client, RDAP: registry, WHOIS: port43, ASN: asn.New(client, "", store),
			Worker: worker, Certs: certs, Cache: store, Now: time.Now})
		pages, err := newPages(config.Config{}, c.Tools, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Pages, c.LimitedPage, c.Limiter = pages.Serve, pages.ServeLimited, limiter
		c.Limits = requests.Limits{Tool: each, Client: wide, Target: wide, Samples: wide, Pages: wide}
	})
	return g
}

// awaitProbe waits for the breaker's first probe, at its start.
func awaitProbe(t *testing.T, plain *redis.Client) {
	t.Helper()
	waittest.Until(t, "the breaker has asked", func() bool { return plain.DBSize(t.Context()).Val() > 0 })
}

// cost makes a request and returns what it added to Redis.
func (g *costedGateway) cost(t *testing.T, r costedRequest) redisCost {
	t.Helper()
	before := g.kept(t)
	g.calls.reset()
	g.ask(t, r)
	commands, trips := g.calls.settled()
	after := g.kept(t)
	c := redisCost{commands: commands, trips: trips}
	for key, bytes := range after {
		if _, was := before[key]; !was {
			c.keys++
			c.bytes += bytes
		}
	}
	return c
}

func (g *costedGateway) ask(t *testing.T, r costedRequest) {
	t.Helper()
	if r.tool != "" {
		if resp, body := askAs(t, g.http, r.client, r.tool, r.input); resp.StatusCode != r.status {
			t.Fatalf("%s: %d %s", r.what, resp.StatusCode, body)
		}
		return
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.http.URL+r.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Real-IP", r.client)
	resp, err := g.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != r.status {
		t.Fatalf("%s: %d", r.what, resp.StatusCode)
	}
}

// kept is what MEMORY USAGE says of each key.
func (g *costedGateway) kept(t *testing.T) map[string]int {
	t.Helper()
	keys, err := g.plain.Keys(t.Context(), "diagnostics:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]int, len(keys))
	for _, key := range keys {
		if strings.HasSuffix(key, ":probe") {
			continue
		}
		bytes, err := g.plain.MemoryUsage(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		out[key] = int(bytes)
	}
	return out
}

// callCounter counts the commands and the round trips of a client.
type callCounter struct {
	mu              sync.Mutex
	commands, trips int
}

func (c *callCounter) add(commands int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands += commands
	c.trips++
}

func (c *callCounter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands, c.trips = 0, 0
}

func (c *callCounter) counts() (commands, trips int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commands, c.trips
}

// settled is counts once nothing is added any more: what a run leaves in a cache may come after its answer.
func (c *callCounter) settled() (commands, trips int) {
	const quiet = 50 * time.Millisecond
	for {
		commands, trips = c.counts()
		time.Sleep(quiet) // that no more comes is no event
		if later, _ := c.counts(); later == commands {
			return commands, trips
		}
	}
}

func (c *callCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *callCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.add(1)
		return next(ctx, cmd)
	}
}

func (c *callCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.add(len(cmds))
		return next(ctx, cmds)
	}
}

// atLeast keeps the higher bounds that the table has: some runs cost a command less by chance. A bound that is to
// become lower is taken out of the table first.
func atLeast(measured, told map[string]redisCost) map[string]redisCost {
	for what, c := range measured {
		t := told[what]
		measured[what] = redisCost{commands: max(c.commands, t.commands), trips: max(c.trips, t.trips),
			keys: max(c.keys, t.keys), bytes: max(c.bytes, t.bytes)}
	}
	return measured
}

func costTable(measured map[string]redisCost) string {
	var b strings.Builder
	b.WriteString(costHead)
	for _, r := range costedRequests() {
		c := measured[r.what]
		bytes := (c.bytes + costStep - 1) / costStep * costStep
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", r.what, c.commands, c.trips, c.keys, bytes)
	}
	return b.String()
}

// costsTold reads the table.
func costsTold(t *testing.T) map[string]redisCost {
	t.Helper()
	text, err := os.ReadFile(scalingDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), costBegin+"\n")
	table, _, found := strings.Cut(rest, costEnd)
	if !found || !strings.HasPrefix(table, costHead) {
		t.Fatalf("%s has no table of costs", scalingDoc)
	}
	out := map[string]redisCost{}
	for line := range strings.Lines(strings.TrimPrefix(table, costHead)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(strings.TrimSpace(cells[i+1])); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		out[strings.TrimSpace(cells[0])] = redisCost{commands: n[0], trips: n[1], keys: n[2], bytes: n[3]}
	}
	return out
}
