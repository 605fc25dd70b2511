//go:build compose

package compose

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The default limit of a client, a tool and a target, evenly refilled.
const (
	limit   = 30
	refill  = 60 * time.Second / limit
	tooMany = 3 * limit
)

// passed is how many of many requests of one visitor passed, spread over all gateways, and how many may
// have been refilled meanwhile. All others were refused.
func passed(t *testing.T, v *visitor, n int) (ok, refilled int) {
	t.Helper()
	at := gateways(t)
	var passed atomic.Int32
	begin := time.Now()
	var wg sync.WaitGroup
	// More of one client at once would be refused for being in flight.
	slots := make(chan struct{}, 6)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			a, err := v.ask("http://"+at[i%len(at)], "dns-lookup", "lab-dns.com", nil, nil)
			switch {
			case err != nil:
				t.Error(err)
			case a.status == http.StatusOK:
				passed.Add(1)
			case a.status != http.StatusTooManyRequests:
				t.Errorf("status %d: %.300s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	return int(passed.Load()), int(time.Since(begin) / refill)
}

// Several gateways keep one limit, exactly.
func TestThreeGatewaysKeepOneLimit(t *testing.T) {
	t.Cleanup(func() { up(t, engine, "--no-recreate", "--scale", "gateway=1", "gateway") })
	up(t, engine, "--no-recreate", "--scale", "gateway=3", "gateway")
	if n := len(gateways(t)); n != 3 {
		t.Fatalf("%d gateways run", n)
	}
	ok, refilled := passed(t, newVisitor(), tooMany)
	t.Logf("%d of %d passed", ok, tooMany)
	if ok < limit || ok > limit+refilled {
		t.Errorf("%d of %d passed, want %d, and at most %d that were refilled meanwhile", ok, tooMany, limit, refilled)
	}
}

// Without Redis every gateway goes on with limits of its own and /readyz reports it; with it all is as before.
func TestRedisStoppedAndStarted(t *testing.T) {
	t.Cleanup(func() { up(t, engine, "redis") })
	load := ask(gateways(t), "my-ip", "")
	t.Cleanup(load.stop)
	compose(t, "stop", "redis")
	await(t, func(s state) bool { return s == state{"ready", "down", "ok"} })
	ok, refilled := passed(t, newVisitor(), tooMany)
	if ok < limit || ok > limit+refilled {
		t.Errorf("%d of %d passed without Redis, want %d to %d", ok, tooMany, limit, limit+refilled)
	}
	compose(t, "start", "redis")
	await(t, readyWithAll)
	v := newVisitor()
	if ok, refilled := passed(t, v, tooMany); ok < limit || ok > limit+refilled {
		t.Errorf("%d of %d passed with Redis again, want %d to %d", ok, tooMany, limit, limit+refilled)
	}
	if keys := redisKeys(t); keys == "0" {
		t.Error("Redis holds no limit after its return")
	}
	load.end(t, "Redis is stopped and started")
}

// redisKeys is how many keys Redis holds.
func redisKeys(t *testing.T) string {
	t.Helper()
	return execute(t, "redis", "sh", "-c",
		fmt.Sprintf("REDISCLI_AUTH=$(cat %s) redis-cli dbsize", "/secrets/redis/password"))
}
