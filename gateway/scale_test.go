package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/waittest"

	"github.com/redis/go-redis/v9"
)

// gatewaysVariable says how many gateways share the Redis of TestScale; `cmd/proof scale` sets a thousand.
const gatewaysVariable = "SCALE_GATEWAYS"

const fewGateways = 50

// maxClients is how many connections a Redis takes by default.
const maxClients = 10_000

// composeRedis are the settings that docker-compose.yml gives to Redis.
var composeRedis = []string{"--maxmemory", "128mb", "--maxmemory-policy", "volatile-lru"}

// simulated is what of a gateway uses Redis, made as the gateway makes it.
type simulated struct {
	*service
	limiter ratelimit.Limiter
	store   cache.Store
}

// fleet is many gateways in one process, with a pool of connections, a breaker and a memory each.
type fleet []*simulated

func newFleet(t *testing.T, url string, n int) fleet {
	t.Helper()
	c, err := config.Parse([]string{"RATE_LIMIT_REDIS_URL=" + url})
	if err != nil {
		t.Fatal(err)
	}
	f := make(fleet, n)
	for i := range f {
		s := &service{metrics: httpapi.NewMetrics()}
		t.Cleanup(s.close)
		limiter := s.newLimiter(c, slog.New(slog.DiscardHandler))
		f[i] = &simulated{service: s, limiter: limiter, store: s.newStore()}
	}
	return f
}

// each runs fn once for every gateway, all at the same time.
func (f fleet) each(fn func(g *simulated)) {
	var all sync.WaitGroup
	for _, g := range f {
		all.Go(func() { fn(g) })
	}
	all.Wait()
}

// await waits until so many gateways are in a state, and returns how long that took.
func (f fleet) await(t *testing.T, state string, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	if !waittest.Within(within, func() bool {
		return !slices.ContainsFunc(f, func(g *simulated) bool { return g.breaker.State() != state })
	}) {
		t.Fatalf("not every gateway reports Redis %s after %v", state, within)
	}
	return time.Since(began) // real processes, measured
}

func (f fleet) down() int {
	n := 0
	for _, g := range f {
		if g.breaker.State() != breaker.OK {
			n++
		}
	}
	return n
}

// visit is the Redis work of one http-headers run: a client of a million, at a target of a hundred thousand that are
// asked for as words are in a text, and its address.
func (g *simulated) visit(ctx context.Context, r *rand.Rand, targets *rand.Zipf) error {
	client := fmt.Sprintf("198.%d.%d.%d", r.IntN(16), r.IntN(256), r.IntN(256))
	target := targets.Uint64()
	// No request is refused, so that each costs the whole way.
	limit := ratelimit.Limit{Requests: 1_000_000, Window: time.Minute}
	charge := func(key string) ratelimit.Charge { return ratelimit.Charge{Key: key, Limit: limit} }
	host, address := fmt.Sprintf("host-%d.example.com", target), fmt.Sprintf("11.0.%d.%d", target>>8, target&0xff)
	_, err := g.limiter.Take(ctx,
		ratelimit.Stage{charge("tool|" + client + "|http-headers|" + host), charge("client|" + client)},
		ratelimit.Stage{charge("target|" + host)})
	if err != nil {
		return err
	}
	_, err = g.limiter.Take(ctx,
		ratelimit.Stage{
			{Key: "ports|" + client + "|" + address, Limit: ratelimit.Limit{Requests: 20, Window: time.Minute}, Item: 443},
			charge("own|" + client + "|" + address),
		},
		ratelimit.Stage{charge("address|" + address)})
	return err
}

// served is what a fleet did in a time.
type served struct {
	runs     int
	p50, p99 time.Duration
}

func (l served) String() string {
	const digits = 10 * time.Microsecond
	return fmt.Sprintf("%d runs, p50 %v, p99 %v", l.runs, l.p50.Round(digits), l.p99.Round(digits))
}

// visits has so many visitors at once use all gateways in turn, one run after another.
func (f fleet) visits(t *testing.T, visitors int, lasting time.Duration) served {
	t.Helper()
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	until := time.Now().Add(lasting)
	for v := range visitors {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(v), 1))
			targets := rand.NewZipf(r, 1.1, 1, 100_000)
			var own []time.Duration
			for time.Now().Before(until) {
				began := time.Now()
				if err := f[int(next.Add(1))%len(f)].visit(t.Context(), r, targets); err != nil {
					t.Error(err)
					return
				}
				own = append(own, time.Since(began)) // real processes, measured
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	all.Wait()
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("no visit ended")
	}
	return served{runs: len(took), p50: took[len(took)/2], p99: took[len(took)*99/100]}
}

// observer looks at one redis-server past all gateways.
type observer struct{ *redis.Client }

func observe(t *testing.T, s *redistest.Server) observer {
	t.Helper()
	o := observer{redis.NewClient(&redis.Options{Addr: s.Addr()})}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// info is a number of INFO.
func (o observer) info(t *testing.T, name string) float64 {
	t.Helper()
	text, err := o.Info(t.Context(), "all").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(text, "\n"+name+":")
	line, _, _ := strings.Cut(rest, "\r\n")
	value, err := strconv.ParseFloat(line, 64)
	if err != nil || !found {
		t.Fatalf("INFO's %s: %q, %v", name, line, err)
	}
	return value
}

// processor is the time that the server's processor has worked. Whatever else the machine does is none of it.
func (o observer) processor(t *testing.T) time.Duration {
	t.Helper()
	return time.Duration((o.info(t, "used_cpu_user") + o.info(t, "used_cpu_sys")) * float64(time.Second))
}

// alongside is how many gateways to simulate. The few of `make test` run beside the other tests.
func alongside(t *testing.T) int {
	t.Helper()
	text := os.Getenv(gatewaysVariable)
	if text == "" {
		t.Parallel()
		return fewGateways
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < fewGateways {
		t.Fatalf("%s=%q is not a number of at least %d", gatewaysVariable, text, fewGateways)
	}
	return n
}

// scaleLasting is how long each load lasts. That of few gateways is there for its assertions, not for its numbers.
func scaleLasting(gateways int) time.Duration {
	if gateways == fewGateways {
		return 300 * time.Millisecond
	}
	return 10 * time.Second
}

// TestScale has many gateways share one Redis: that a limit stays exact, that their connections fit, and that they
// come through a full Redis, one that restarts and one that hangs. Its log has the numbers of `cmd/proof scale`.
func TestScale(t *testing.T) {
	n := alongside(t)
	server := redistest.Start(t, composeRedis...)
	redis, f := observe(t, server), newFleet(t, "redis://"+server.Addr(), n)
	f.await(t, breaker.OK, 20*time.Second)
	t.Logf("%d gateways at rest: %.0f connections, %.1f MiB", n, redis.info(t, "connected_clients"),
		redis.info(t, "used_memory")/(1<<20))

	measureLoad(t, redis, f, "20 visitors at once", 20)
	measureLoad(t, redis, f, "200 visitors at once", 200)
	holdBurst(t, redis, f)
	holdExact(t, f)
	holdFull(t, redis, f)
	holdHang(t, server, f)
	holdRestart(t, server, f)
}

func measureLoad(t *testing.T, redis observer, f fleet, what string, visitors int) time.Duration {
	t.Helper()
	before, commands := redis.processor(t), redis.info(t, "total_commands_processed")
	l := f.visits(t, visitors, scaleLasting(len(f)))
	each := (redis.processor(t) - before) / time.Duration(l.runs)
	t.Logf("%s: %v; Redis %v a run, so %.0f runs a second on one core; %.1f commands a run with the scripts' own",
		what, l, each.Round(100*time.Nanosecond), float64(time.Second)/float64(each),
		(redis.info(t, "total_commands_processed")-commands)/float64(l.runs))
	t.Logf("  %.0f connections, %.1f MiB, of which clients have %.1f", redis.info(t, "connected_clients"),
		redis.info(t, "used_memory")/(1<<20), redis.info(t, "mem_clients_normal")/(1<<20))
	// More than this machine can do in time is no fault of theirs.
	t.Logf("  %d gateways took Redis to be down", f.down())
	f.await(t, breaker.OK, 20*time.Second)
	return each
}

// burst is how many runs begin at once in one gateway: more than it has connections.
const burst = 2 * 8

// holdBurst has each gateway, one after another, want as many connections as it can get. They stay open.
func holdBurst(t *testing.T, redis observer, f fleet) {
	t.Helper()
	for i, g := range f {
		var all sync.WaitGroup
		for n := range burst {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				_ = g.visit(t.Context(), r, rand.NewZipf(r, 1.1, 1, 100_000))
			})
		}
		all.Wait()
	}
	connected, refused := redis.info(t, "connected_clients"), redis.info(t, "rejected_connections")
	t.Logf("after %d runs at once in each in turn: %.0f connections, %.0f refused, %.1f MiB for clients, "+
		"%d gateways took Redis to be down", burst, connected, refused, redis.info(t, "mem_clients_normal")/(1<<20), f.down())
	if each := connected / float64(len(f)); each > maxClients/1000 || refused > 0 {
		t.Errorf("%.1f connections a gateway, %.0f refused: a thousand gateways have room for %d each", each, refused,
			maxClients/1000)
	}
	f.await(t, breaker.OK, 20*time.Second)
}

// hourly are limits that refill nothing while the test runs.
func hourly(requests int) ratelimit.Limit {
	return ratelimit.Limit{Requests: requests, Window: 1000 * time.Hour}
}

// passed returns how many gateways admit one request of a bucket, all at once.
func (f fleet) passed(t *testing.T, charge ratelimit.Charge) int {
	t.Helper()
	var n atomic.Int64
	f.each(func(g *simulated) {
		d, err := g.limiter.Take(t.Context(), ratelimit.Stage{charge})
		if err != nil {
			t.Error(err)
		}
		if d.Allowed {
			n.Add(1)
		}
	})
	return int(n.Load())
}

// holdExact has a client ask everywhere at once. A gateway that the machine lets wait for Redis for too long counts
// for itself, as it should, so such a round proves nothing.
func holdExact(t *testing.T, f fleet) {
	t.Helper()
	const limit, rounds = 30, 10
	for round := range rounds {
		f.await(t, breaker.OK, 20*time.Second)
		passed := f.passed(t, ratelimit.Charge{Key: fmt.Sprint("everywhere ", round), Limit: hourly(limit)})
		if f.down() > 0 {
			continue
		}
		t.Logf("a client that asks %d gateways at once passes %d times", len(f), passed)
		if passed != limit {
			t.Errorf("%d of %d passed, want exactly %d", passed, len(f), limit)
		}
		return
	}
	t.Errorf("in each of %d rounds some gateway waited too long for Redis", rounds)
}

// holdFull fills Redis with other things while a limit that is used up is asked for.
func holdFull(t *testing.T, redis observer, f fleet) {
	t.Helper()
	// Redis records the last use of a key in whole seconds, so filling it must take some.
	const limit, filling, pause = 10, 220, 20 * time.Millisecond
	used := ratelimit.Charge{Key: "in use", Limit: hourly(limit)}
	for range limit {
		if d, err := f[0].limiter.Take(t.Context(), ratelimit.Stage{used}); err != nil || !d.Allowed {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	value, passed := make([]byte, 900_000), 0
	for i := range filling {
		_ = f[i%len(f)].store.Set(t.Context(), fmt.Sprint("filling ", i), value, time.Hour)
		asked := f[(i*7)%len(f)]
		d, err := asked.limiter.Take(t.Context(), ratelimit.Stage{used})
		if err != nil || d.Allowed && asked.breaker.State() == breaker.OK {
			passed++
		}
		time.Sleep(pause) // the pace of the load
	}
	evicted := redis.info(t, "evicted_keys")
	t.Logf("Redis full: %.0f keys evicted, %d of %d requests of a used-up limit passed", evicted, passed, filling)
	if evicted == 0 {
		t.Error("Redis was never full")
	}
	if passed > 0 {
		t.Errorf("%d requests passed a limit that was used up", passed)
	}
}

// holdHang has Redis stop in the middle: no request waits longer than the breaker's bound, and all use it again soon.
func holdHang(t *testing.T, server *redistest.Server, f fleet) {
	t.Helper()
	server.Freeze()
	began := time.Now()
	f.passed(t, ratelimit.Charge{Key: "hang", Limit: hourly(1)})
	waited := time.Since(began) // real processes, measured
	again := time.Now()
	f.passed(t, ratelimit.Charge{Key: "hang", Limit: hourly(1)})
	known := time.Since(again) // real processes, measured
	down := f.down()
	server.Thaw()
	back := f.await(t, breaker.OK, 20*time.Second)
	t.Logf("Redis hangs: the first %d requests took %v in all, the next %v; all back %v after it went on", len(f),
		waited.Round(time.Millisecond), known.Round(time.Millisecond), back.Round(10*time.Millisecond))
	if down != len(f) {
		t.Errorf("%d of %d gateways noticed that Redis hangs", down, len(f))
	}
}

// holdRestart ends Redis and starts it again, empty, while every gateway has visitors.
func holdRestart(t *testing.T, server *redistest.Server, f fleet) {
	t.Helper()
	server.Kill()
	bucket := ratelimit.Charge{Key: "restart", Limit: hourly(1)}
	if passed := f.passed(t, bucket); passed != len(f) {
		t.Errorf("%d of %d gateways count for themselves", passed, len(f))
	}
	f.await(t, breaker.Down, 20*time.Second)
	server.Restart()
	var half time.Duration
	began := time.Now()
	for f.down() > 0 && time.Since(began) < 20*time.Second { // real processes, measured
		if half == 0 && f.down() <= len(f)/2 {
			half = time.Since(began) // real processes, measured
		}
		time.Sleep(5 * time.Millisecond) // the interval of the samples
	}
	f.await(t, breaker.OK, 20*time.Second)
	t.Logf("Redis restarts: half of the gateways are back after %v, all after %v; %.0f connections were made",
		half.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond), // real processes, measured
		observe(t, server).info(t, "total_connections_received"))
	if passed := f.passed(t, bucket); passed != 1 {
		t.Errorf("%d requests of one passed after the restart", passed)
	}
}

// TestScaleCluster compares one Redis with a cluster of three in the same run: how much less the busiest node of it
// works for a run is how many times the runs it can hold.
func TestScaleCluster(t *testing.T) {
	n := alongside(t)
	one := redistest.Start(t, composeRedis...)
	alone := measureLoad(t, observe(t, one), newFleet(t, "redis://"+one.Addr(), n), "one Redis", 50)

	nodes := make([]*redistest.Server, 3)
	observers, addrs := make([]observer, 3), make([]string, 3)
	for i := range nodes {
		nodes[i] = redistest.StartClusterNode(t)
		observers[i], addrs[i] = observe(t, nodes[i]), nodes[i].Addr()
	}
	redistest.Join(t, nodes...)
	f := newFleet(t, "redis+cluster://"+strings.Join(addrs, ","), n)
	f.visits(t, 50, scaleLasting(n)/5) // connections are made
	before := make([]time.Duration, 3)
	for i, o := range observers {
		before[i] = o.processor(t)
	}
	l := f.visits(t, 50, scaleLasting(n))
	var each, busiest time.Duration
	for i, o := range observers {
		used := (o.processor(t) - before[i]) / time.Duration(l.runs)
		each, busiest = each+used, max(busiest, used)
		t.Logf("node %d: %v a run, %.0f connections", i, used.Round(100*time.Nanosecond), o.info(t, "connected_clients"))
	}
	t.Logf("a cluster of three: %v; %v a run over all, %v on the busiest; it holds %.1f times as many runs as one Redis",
		l, each.Round(100*time.Nanosecond), busiest.Round(100*time.Nanosecond), float64(alone)/float64(busiest))
	holdExact(t, f)
}
