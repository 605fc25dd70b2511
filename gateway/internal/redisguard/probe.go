package redisguard

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"diagnostics/shared/parallel"

	"github.com/redis/go-redis/v9"
)

const (
	// A probe may open a connection, so it gets more than a call does: where a handshake is slower than Bound, calls
	// only ever use connections that a probe or a dial in the background has opened.
	probeTimeout  = time.Second
	firstDelay    = 250 * time.Millisecond
	longestDelay  = 2 * time.Second
	steadyFor     = time.Minute
	probeKey      = "diagnostics:probe"
	probeLifetime = 1000
)

// The probe writes from a script, as the real calls do: a replica, a full memory, a failed save or a missing right let
// a PING pass.
const probeScript = `return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`

// watch is the one goroutine that probes: once at the start, then only while Redis is down.
func (g *Guard) watch() {
	if err := g.probe(); err != nil && g.ctx.Err() == nil {
		g.fall(g.epoch.Load()&^1, err)
	}
	delay := firstDelay
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.fell:
		}
		since := time.Now()
		delay = g.probeUntilUp(delay)
		if g.ctx.Err() != nil {
			return
		}
		back := time.Now()
		g.epoch.Add(1)
		g.log.Info("redis is back", slog.Duration("outage", back.Sub(since)))
		delay = g.settle(delay)
	}
}

// settle resets the delay once Redis has stayed up for a while. One that answers probes but fails real calls would
// otherwise be tried, and complained about, several times a second.
func (g *Guard) settle(delay time.Duration) time.Duration {
	timer := time.NewTimer(steadyFor)
	defer timer.Stop()
	select {
	case <-g.ctx.Done():
	case <-timer.C:
		return firstDelay
	case <-g.fell:
		g.fell <- struct{}{}
	}
	return min(2*delay, longestDelay)
}

func (g *Guard) probeUntilUp(delay time.Duration) time.Duration {
	for {
		if !g.sleep(delay + rand.N(delay/4)) { // #nosec G404 -- so that instances do not come all at once
			return delay
		}
		if g.probe() == nil {
			return delay
		}
		delay = min(2*delay, longestDelay)
	}
}

func (g *Guard) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.ctx.Done():
		return false
	}
}

// probe tells whether Redis serves. A panic in the driver is a failure like any other: it must not end the one
// goroutine that can end an outage.
func (g *Guard) probe() (err error) {
	if p := parallel.Catch(func() { err = g.ask() }); p != nil {
		return p
	}
	return err
}

func (g *Guard) ask() error {
	ctx, cancel := context.WithTimeout(g.ctx, probeTimeout)
	defer cancel()
	if cluster, ok := g.client.(*redis.ClusterClient); ok {
		// The script reaches the master of one slot only.
		if err := cluster.ForEachMaster(ctx, ping); err != nil {
			return err
		}
	}
	return g.client.Eval(ctx, probeScript, []string{probeKey}, "1", probeLifetime).Err()
}

func ping(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() }
