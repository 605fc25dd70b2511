package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/logtest"
	"diagnostics/shared/waittest"

	"github.com/redis/go-redis/v9"
)

// journal is a log that a test can read.
type journal struct{ logtest.Journal }

func (j *journal) count(message string) int { return strings.Count(j.String(), message) }

type rig struct {
	Limiter
	breaker *breaker.Breaker
	log     *journal
}

func newRig(t *testing.T, addr string) rig {
	t.Helper()
	o := &redis.UniversalOptions{Addrs: []string{addr}}
	breaker.Tune(o)
	client, log := redis.NewUniversalClient(o), &journal{}
	g := breaker.New(client, slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { _ = g.Close() })
	return rig{NewFallback(NewRedis(client), NewMemory(), g), g, log}
}

func (r rig) await(t *testing.T, state string) {
	t.Helper()
	waittest.Until(t, state, func() bool { return r.breaker.State() == state })
}

// storm sends requests from many at once, all of which must be served.
func (r rig) storm(t *testing.T, key string) {
	t.Helper()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 5 {
				_, err := r.Take(t.Context(), []Charge{charge(key, 1000, time.Hour), charge(key+" wide", 1000, time.Hour)})
				if err != nil {
					t.Errorf("Take: %v", err)
				}
			}
		})
	}
	all.Wait()
}

const downMessage, backMessage = "redis is down", "redis is back"

func TestFallback(t *testing.T) {
	cases := map[string]func(*testing.T) (addr string, breaks, mends func()){
		"frozen server": func(t *testing.T) (string, func(), func()) {
			s := redistest.Start(t)
			return s.Addr(), s.Freeze, s.Thaw
		},
		"killed server": func(t *testing.T) (string, func(), func()) {
			s := redistest.Start(t)
			return s.Addr(), s.Kill, s.Restart
		},
		"black hole": func(t *testing.T) (string, func(), func()) {
			p := redistest.StartProxy(t, redistest.Start(t).Addr())
			return p.Addr(), func() { p.Swallow(true) }, func() { p.Swallow(false) }
		},
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			addr, breaks, mends := set(t)
			r := newRig(t, addr)
			if d := take(t, r, charge("k", 10, time.Hour)); d.Remaining != 9 {
				t.Fatalf("while up: %+v", d)
			}
			for outage := 1; outage <= 2; outage++ {
				breaks()
				r.storm(t, fmt.Sprint("storm", outage))
				if r.breaker.State() != breaker.Down {
					t.Errorf("state %s in the outage", r.breaker.State())
				}
				if d := take(t, r, charge(fmt.Sprint("storm", outage), 1000, time.Hour)); d.Remaining != 1000-251 {
					t.Errorf("memory counted %+v, want every one of 251", d)
				}
				mends()
				r.await(t, breaker.OK)
				if n := r.log.count(downMessage); n != outage {
					t.Errorf("%d lines say that it is down after outage %d:\n%s", n, outage, r.log)
				}
				if n := r.log.count(backMessage); n != outage {
					t.Errorf("%d lines say that it is back after outage %d:\n%s", n, outage, r.log)
				}
				fresh := fmt.Sprint("back", outage)
				for range 20 {
					take(t, r, charge(fresh, 1000, time.Hour))
				}
				if d := take(t, newRig(t, addr), charge(fresh, 1000, time.Hour)); d.Remaining != 1000-21 {
					t.Errorf("another instance sees %+v, want redis to have counted all of 21", d)
				}
			}
		})
	}
}

func TestFallbackAtStart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Kill()
	r := newRig(t, s.Addr())
	if d := take(t, r, charge("k", 10, time.Hour)); d.Remaining != 9 {
		t.Errorf("without redis from the start: %+v", d)
	}
	r.await(t, breaker.Down)
	s.Restart()
	r.await(t, breaker.OK)
	if r.log.count(downMessage) != 1 || r.log.count(backMessage) != 1 {
		t.Errorf("log:\n%s", r.log)
	}
}

func TestFallbackCallerLeaves(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).Addr())
	r := newRig(t, p.Addr())
	take(t, r, charge("k", 10, time.Hour))
	p.Swallow(true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Take(ctx, []Charge{charge("k", 10, time.Hour)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if r.breaker.State() != breaker.OK {
		t.Error("a visitor who leaves early takes redis down")
	}
}

func TestFallbackForARefusedCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--rename-command", "GET", "")
	r := newRig(t, s.Addr())
	for i := 1; i <= 3; i++ {
		if d := take(t, r, charge("k", 10, time.Hour)); d.Remaining != 10-i {
			t.Errorf("take %d: %+v", i, d)
		}
	}
	if r.breaker.State() != breaker.OK || r.log.count("refuses a command") != 1 {
		t.Errorf("state %s, log:\n%s", r.breaker.State(), r.log)
	}
}

// Each stage is a round trip: a Redis that answers every one of them soon is not down where all together take too long.
func TestFallbackOfALongChain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		delay time.Duration // each way
		state string
		tells string
	}{
		"each in time":         {32 * time.Millisecond, breaker.OK, "redis is slow"},
		"not the first either": {breaker.Bound, breaker.Down, downMessage},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			p := redistest.StartProxy(t, server.Addr())
			r := newRig(t, p.Addr())
			var chain []Stage
			for _, key := range []string{"own", "wide", "wider", "target"} {
				take(t, r, charge(key, 10, time.Hour))
				chain = append(chain, Stage{charge(key, 10, time.Hour)})
			}
			p.Delay(tt.delay)
			for i := 1; i <= 2; i++ {
				d, err := r.Take(t.Context(), chain...)
				if err != nil || d.Remaining != 10-i {
					t.Errorf("take %d: %+v, %v; want it counted in memory", i, d, err)
				}
			}
			if r.breaker.State() != tt.state || r.log.count("level=WARN") != 1 || r.log.count(tt.tells) != 1 {
				t.Errorf("state %s, log:\n%s", r.breaker.State(), r.log)
			}
		})
	}
}

// A request that gets no turn at a working Redis is refused, and not left to memory, whose limits are this instance's
// alone.
func TestOverloadKeepsSharedLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t, redistest.Start(t).Addr())
	take(t, r, charge("k", 1000, time.Hour))
	release, noTurn := make(chan struct{}), make(chan struct{}, 100)
	var all sync.WaitGroup
	for range cap(noTurn) {
		all.Go(func() {
			hold := func(context.Context, redis.UniversalClient) error { <-release; return nil }
			if errors.Is(r.breaker.Do(t.Context(), breaker.Limits, hold), breaker.ErrBusy) {
				noTurn <- struct{}{}
			}
		})
	}
	<-noTurn // all turns are taken
	if _, err := r.Take(t.Context(), []Charge{charge("k", 1000, time.Hour)}); !fault.Is(err, fault.Busy) {
		t.Errorf("without a turn: %v", err)
	}
	close(release)
	all.Wait()
	if d := take(t, r, charge("k", 1000, time.Hour)); d.Remaining != 998 || r.breaker.State() != breaker.OK {
		t.Errorf("afterwards: %+v, state %s", d, r.breaker.State())
	}
}

// A Redis that accepts connections and never answers delays the first decision by 250 ms at most, and no further one.
func TestASilentRedisIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &redis.UniversalOptions{Addrs: []string{"redis.example:6379"}}
		breaker.Tune(o)
		o.Dialer = redistest.Silent
		client := redis.NewUniversalClient(o)
		b := breaker.New(client, slog.New(slog.DiscardHandler))
		l := NewFallback(NewRedis(client), NewMemory(), b)
		for i, most := range []time.Duration{250 * time.Millisecond, 0, 0} {
			start := time.Now()
			if d := take(t, l, charge("k", 10, time.Hour)); !d.Allowed || d.Remaining != 9-i {
				t.Errorf("take %d: %+v", i, d)
			}
			if took := time.Since(start); took > most { // of the bubble's clock
				t.Errorf("take %d: waited %v", i, took)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}
