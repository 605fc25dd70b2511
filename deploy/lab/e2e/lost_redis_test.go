//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/waittest"
)

const (
	// redisBound is the longest that a request may wait for Redis, over what an answer takes anyway.
	redisBound = 250 * time.Millisecond
	// anyway is what a lookup out of the cache takes on a machine that has other things to do.
	anyway = 750 * time.Millisecond
	// redisBack is when the shared limits are used again.
	redisBack = 4 * time.Second
	// redisLimit is the limit of requests per client, tool and target in these tests.
	redisLimit = 5
	// askedNetwork is looked up again and again: it is in the cache.
	askedNetwork = "11.80.1.77"
)

// redis is a real server with a door before it, which can be slow.
type redis struct {
	t        *testing.T
	dir      string
	host     string
	port     string
	server   *lab.Process
	door     net.Listener
	delay    atomic.Int64
	password string
}

func startRedis(t *testing.T) *redis {
	t.Helper()
	r := &redis{t: t, dir: t.TempDir()}
	r.host, r.port, _ = net.SplitHostPort(freeAddr(t, 6379))
	r.start()
	t.Cleanup(func() { r.server.Kill() })
	var err error
	if r.door, err = service.ListenBeside(6379); err != nil {
		t.Fatal(err)
	}
	go r.open()
	t.Cleanup(func() { r.door.Close() })
	return r
}

// start runs an empty server at the address of the one before.
func (r *redis) start() {
	r.t.Helper()
	server, err := internet.StartRedis(r.t.Context(), "redis-"+r.host, net.JoinHostPort(r.host, r.port), "--dir", r.dir,
		"--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024")
	if err != nil {
		r.t.Fatal(err)
	}
	r.server, r.password = server, ""
}

// command is one of redis-cli.
func (r *redis) command(args ...string) string {
	r.t.Helper()
	all := []string{"-h", r.host, "-p", r.port}
	if r.password != "" {
		all = append(all, "--no-auth-warning", "-a", r.password)
	}
	out, err := internet.Exec(r.t.Context(), lab.ServiceHost, "redis-cli", append(all, args...)...)
	if err != nil {
		r.t.Errorf("redis-cli %v: %v", args, err)
	}
	return string(out)
}

// open carries connections to the server, late where that is wanted.
func (r *redis) open() {
	for {
		outside, err := r.door.Accept()
		if err != nil {
			return
		}
		go r.carry(outside)
	}
}

func (r *redis) carry(outside net.Conn) {
	defer outside.Close()
	inside, err := internet.Dial(r.t.Context(), "tcp", net.JoinHostPort(r.host, r.port))
	if err != nil {
		return
	}
	defer inside.Close()
	go func() {
		_, _ = io.Copy(inside, outside)
		inside.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := inside.Read(buffer)
		if err != nil {
			return
		}
		time.Sleep(time.Duration(r.delay.Load())) // the fault: a slow Redis
		if _, err := outside.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// withRedis is a gateway with a Redis of its own.
type withRedis struct {
	*redis
	gateway *lab.Server
	clients int
}

func (w *withRedis) begin(name string, env ...string) {
	w.t.Helper()
	gateway, err := service.StartGateway(w.t.Context(), name, w.settings(env...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.gateway = gateway
}

// settings are those of a gateway that leans on this Redis.
func (w *withRedis) settings(more ...string) []string {
	return append([]string{
		"RATE_LIMIT_REDIS_URL=redis://" + w.door.Addr().String(), fmt.Sprintf("RATE_LIMIT_REQUESTS=%d", redisLimit),
		"RATE_LIMIT_CLIENT_REQUESTS=0", "RATE_LIMIT_TARGET_REQUESTS=0", "RATE_LIMIT_ADDRESS_REQUESTS=0",
		"MAX_IN_FLIGHT_PER_CLIENT=0", "TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-real-ip"}, more...)
}

// newClient returns the headers of a new visitor.
func (w *withRedis) newClient() http.Header {
	w.clients++
	return http.Header{"X-Real-Ip": {fmt.Sprintf("11.201.%d.%d", w.clients/250, 1+w.clients%250)}}
}

// uses sends requests until the limit refuses, and returns how many passed.
func (w *withRedis) uses(client http.Header, most int) (passed int, slowest time.Duration) {
	w.t.Helper()
	for range most {
		a := post(w.t, w.gateway, "dns-lookup", map[string]any{"input": lab.DNSZone}, client.Clone())
		slowest = max(slowest, a.Took)
		switch a.Status {
		case 200:
			facts{"errors": func(v any) bool { m, ok := v.(map[string]any); return ok && len(m) < 7 }}.hold(w.t, a)
			passed++
		case 429:
			if a.Header.Get("Retry-After") == "" {
				w.t.Error("429 without Retry-After")
			}
			return passed, slowest
		default:
			w.t.Errorf("status %d: %s", a.Status, a.Error)
		}
	}
	return passed, slowest
}

// asn looks up what the cache has.
func (w *withRedis) asn() answer {
	w.t.Helper()
	a := post(w.t, w.gateway, "asn-lookup", map[string]any{"input": askedNetwork}, w.newClient())
	if a.Status != 200 || a.at("announced") != true {
		w.t.Errorf("asn-lookup: status %d: %.300s", a.Status, a.Body)
	}
	return a
}

// logged counts the lines of the log that Redis is down, and that it is back.
func (w *withRedis) logged() (down, back int) {
	log := w.gateway.Process.Log()
	return strings.Count(log, `"msg":"redis is down`), strings.Count(log, `"msg":"redis is back"`)
}

// says waits until /readyz and the log say what Redis is, and gives how often the log has said so.
func (w *withRedis) says(state string) (times int) {
	w.t.Helper()
	var ready string
	var down, back int
	if !waittest.Within(redisBack, func() bool {
		ready = string(fetch(w.t, w.gateway, http.MethodGet, "/readyz", nil, nil).Body)
		down, back = w.logged()
		return strings.Contains(ready, `"redis":"`+state+`"`) && strings.Contains(ready, `"status":"ready"`) &&
			(state == "down") == (down > back)
	}) {
		w.t.Errorf("want Redis %s: %s, %d times down and %d times back in the log", state, ready, down, back)
	}
	return down
}

// lastReason is that of the last outage.
func (w *withRedis) lastReason() string {
	line := regexp.MustCompile(`"msg":"redis is down[^\n]*"error":"([^\n]*)"}`)
	all := line.FindAllStringSubmatch(w.gateway.Process.Log(), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// Whatever is wrong with Redis, tools answer truly and soon, limits hold, answers that were kept are there, it is
// logged of once, and seconds after it is well all is shared again.
func TestALostRedis(t *testing.T) {
	t.Parallel()
	w := &withRedis{redis: startRedis(t)}
	w.begin("gateway-redis")
	w.says("ok")
	w.asn()
	if _, slowest := w.uses(w.newClient(), 2*redisLimit); slowest > anyway {
		t.Logf("with Redis an answer took %v", slowest)
	}
	for _, fault := range []struct {
		name   string
		reason string
		bring  func() (gone func())
		empty  bool // what Redis held is lost
	}{
		{"refused", "EOF|refused|reset|closed", func() func() { w.server.Kill(); return w.start }, true},
		{"hanging", "timeout|deadline", func() func() {
			_ = syscall.Kill(w.server.PID(), syscall.SIGSTOP)
			return func() { _ = syscall.Kill(w.server.PID(), syscall.SIGCONT) }
		}, false},
		{"two seconds late", "timeout|deadline", func() func() {
			w.delay.Store(int64(2 * time.Second))
			return func() { w.delay.Store(0) }
		}, false},
		{"a replica", "READONLY", func() func() {
			w.command("REPLICAOF", "127.0.0.1", "1")
			return func() { w.command("REPLICAOF", "NO", "ONE") }
		}, false},
		{"full", "OOM", func() func() {
			w.command("CONFIG", "SET", "maxmemory", "1")
			return func() { w.command("CONFIG", "SET", "maxmemory", "0") }
		}, false},
		{"another password", "NOAUTH|WRONGPASS|EOF|closed", func() func() {
			w.command("CONFIG", "SET", "requirepass", "secret")
			w.password = "secret"
			w.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
			return func() { w.command("CONFIG", "SET", "requirepass", ""); w.password = "" }
		}, false},
		{"loading", "LOADING", func() func() {
			w.command("DEBUG", "POPULATE", "10000", "filler", "100")
			w.command("CONFIG", "SET", "key-load-delay", "100")
			reloading := make(chan string, 1)
			go func() { reloading <- w.command("DEBUG", "RELOAD") }()
			eventually(w.t, "Redis is loading", func() bool {
				return strings.HasPrefix(w.command("PING"), "LOADING") || len(reloading) > 0
			})
			return func() { <-reloading }
		}, false},
	} {
		t.Run(fault.name, func(t *testing.T) {
			defer func(outer *testing.T) { w.t = outer }(w.t)
			w.t = t
			reported := w.says("ok")
			client := w.newClient()
			before, _ := w.uses(client, redisLimit)
			gone := fault.bring()
			during, slowest := w.uses(client, 2*redisLimit)
			if slowest > redisBound+anyway {
				t.Errorf("an answer took %v", slowest)
			}
			if a := w.asn(); a.at("sources.0.cached") != true {
				t.Error("what was kept is lost")
			}
			w.says("down")
			// Or that the answer came late, as any may on a machine that has other things to do.
			if reason := w.lastReason(); !regexp.MustCompile(fault.reason + "|timeout").MatchString(reason) {
				t.Errorf("the reason is %q", reason)
			}
			gone()
			mended := time.Now()
			// Once, and once more where a machine that has other things to do answered late.
			if again := w.says("ok") - reported; again < 1 || again > 2 {
				t.Errorf("logged %d times", again)
			}
			back := time.Since(mended)
			after, _ := w.uses(client, 3*redisLimit)
			t.Logf("%d passed before, %d during, %d after; %d ms at most, back after %d ms (%s)", before, during, after,
				slowest.Milliseconds(), back.Milliseconds(), w.lastReason())
			// A bucket in each store, and what comes back in the seconds that this takes; a Redis that lost its memory has
			// forgotten its own.
			most := 2*redisLimit + 1
			if fault.empty {
				most += redisLimit
			}
			if before != redisLimit || before+during+after > most {
				t.Errorf("%d of one client passed, where a limit of %d may let %d", before+during+after, redisLimit, most)
			}
		})
	}
	t.Run("poisoned", func(t *testing.T) {
		w.t = t
		for _, key := range strings.Fields(w.command("--scan", "--pattern", "diagnostics:cache:*")) {
			w.command("SET", key, "dgc\x02 a lie")
		}
		if a := w.asn(); a.at("sources.0.cached") != false {
			t.Error("a false entry was used")
		}
		if a := w.asn(); a.at("sources.0.cached") != true {
			t.Error("a lie was not replaced")
		}
	})
	w.t = t
}

// A wrong password is logged at the start, in the words of Redis, and requests are served all the same.
func TestRedisThatDoesNotLetUsIn(t *testing.T) {
	t.Parallel()
	w := &withRedis{redis: startRedis(t)}
	w.command("CONFIG", "SET", "requirepass", "secret")
	w.password = "secret"
	for reason, token := range map[string]string{"NOAUTH": "", "WRONGPASS": "RATE_LIMIT_REDIS_TOKEN=another-secret"} {
		got := "timeout"
		// On a busy machine the first connection may be late before it is refused.
		for attempt := 0; strings.Contains(got, "timeout") && attempt < 5; attempt++ {
			w.begin(fmt.Sprintf("gateway-redis-%s-%d", strings.ToLower(reason), attempt), strings.Fields(token)...)
			w.says("down")
			got = w.lastReason()
		}
		if !strings.HasPrefix(got, reason) {
			t.Errorf("the reason is %q, want %s", got, reason)
		}
		if passed, _ := w.uses(w.newClient(), 2*redisLimit); passed != redisLimit {
			t.Errorf("%d passed of a limit of %d", passed, redisLimit)
		}
		if strings.Contains(w.gateway.Process.Log(), "secret") {
			t.Error("the log has the password")
		}
	}
	w.begin("gateway-redis-let-in", "RATE_LIMIT_REDIS_TOKEN=secret")
	w.says("ok")
}
