package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"diagnostics/lab"
)

// fault is one thing that breaks and is mended again.
type fault struct {
	name string
	// of are the needs of the answers that it may change; 0 is none: what it breaks, the service makes up for.
	of needs
	// pair is the one pair that it is about; both where it is neither.
	pair pair
	// cut means that connections to that pair may break.
	cut bool
	// grace is how long after its end answers may still show it.
	grace time.Duration
	do    func(ctx context.Context) error
}

// pair is a gateway with its worker.
type pair uint8

const (
	both pair = iota
	enduring
	changing
)

// The statuses of something broken between the service and its targets.
var failures = []int{502, 503, 504}

// faults are all kinds. Each lasts a few seconds.
func (s *soak) faults() []fault {
	return []fault{
		{name: "Redis stopped and continued", grace: time.Second, do: s.stopped(func() *lab.Process { return s.redis })},
		{name: "Redis restarted (SIGTERM)", grace: time.Second, do: s.redisEnds(syscall.SIGTERM, 0)},
		{name: "Redis killed, back 3 s later", grace: time.Second, do: s.redisEnds(syscall.SIGKILL, 3*time.Second)},
		{name: "worker killed, back 2 s later", of: worker, pair: changing, grace: workerGrace,
			do: s.workerEnds(syscall.SIGKILL, 2*time.Second)},
		{name: "worker restarted (SIGTERM)", of: worker, pair: changing, grace: workerGrace,
			do: s.workerEnds(syscall.SIGTERM, 0)},
		{name: "worker stopped and continued", of: worker, pair: enduring, grace: workerGrace,
			do: s.stopped(func() *lab.Process { return s.worker.Process })},
		{name: "link down", of: network, grace: networkGrace, do: s.linkDown(lab.ServiceHost, "uplink")},
		{name: "cable pulled", of: network, grace: networkGrace, do: s.linkDown("c1", "to-"+lab.ServiceHost)},
		{name: "resolver dead", of: resolver, grace: networkGrace, do: s.resolverDead},
		{name: "gateway restarted (SIGTERM)", do: s.gatewayRestarts},
		{name: "gateway killed", pair: changing, cut: true, do: s.gatewayKilled},
		{name: "readers that read nothing", do: s.slowReaders},
		{name: "half-open connections", do: s.halfOpen},
	}
}

const (
	faultTime = 3 * time.Second
	// A lookup that began at the start of it is at its end before the resolver is back.
	resolverTime = 6 * time.Second
	// A run that began during a fault meets it until its own limit; this is for one that begins afterwards: the
	// gateway probes a lost worker once a second, and reads the host's routes every 2 s.
	workerGrace  = 6 * time.Second
	networkGrace = 4 * time.Second
)

// window is a fault while answers may show it.
type window struct {
	fault
	from, to time.Time // to is zero while it goes on
	answers  int       // that differ from the usual because of it
}

// windows are the faults so far.
type windows struct {
	mu  sync.Mutex
	all []*window
}

func (w *windows) open(f fault) *window {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := &window{fault: f, from: time.Now()}
	w.all = append(w.all, now)
	return now
}

func (w *windows) close(now *window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now.to = time.Now().Add(now.grace)
}

// during are the faults that something from start to end met.
func (w *windows) during(start, end time.Time) (met []*window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, now := range w.all {
		if now.from.Before(end) && (now.to.IsZero() || now.to.After(start)) {
			met = append(met, now)
		}
	}
	return met
}

// excused takes note of an answer that a fault explains.
func (w *windows) excused(now *window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now.answers++
}

// schedule is the order of all faults: one shuffled round after the other.
func schedule(r *rand.Rand, faults []fault, rounds int) (order []fault) {
	for range rounds {
		for _, i := range r.Perm(len(faults)) {
			order = append(order, faults[i])
		}
	}
	return order
}

// breakThings brings the faults one after another, each when it is due or, where the one before took longer, at once.
// Those that there was no time for are an error: a soak without them proves less than it says.
func (s *soak) breakThings(ctx context.Context, order []fault, every time.Duration) error {
	start := time.Now()
	for i, f := range order {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(start.Add(time.Duration(i+1) * every))):
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no time was left for: %s", names(order[i:]))
		}
		now := s.windows.open(f)
		if err := f.do(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		s.windows.close(now)
	}
	return nil
}

func names(faults []fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// wait is a pause that the end of the run does not shorten: what is broken must be mended.
func wait(d time.Duration) { time.Sleep(d) }

func (s *soak) stopped(of func() *lab.Process) func(context.Context) error {
	return func(context.Context) error {
		p := of()
		if err := send(p, syscall.SIGSTOP); err != nil {
			return err
		}
		wait(faultTime)
		return send(p, syscall.SIGCONT)
	}
}

func (s *soak) redisEnds(sig syscall.Signal, away time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := send(s.redis, sig); err != nil {
			return err
		}
		<-s.redis.Done()
		wait(away)
		return s.startRedis(context.WithoutCancel(ctx))
	}
}

func (s *soak) workerEnds(sig syscall.Signal, away time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := send(s.service.Worker.Process, sig); err != nil {
			return err
		}
		<-s.service.Worker.Process.Done()
		wait(away)
		return s.service.StartWorker(context.WithoutCancel(ctx))
	}
}

func (s *soak) linkDown(node, device string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx)
		_, err := s.lab.Exec(ctx, node, "ip", "link", "set", device, "down")
		wait(faultTime)
		return errors.Join(err, s.lab.Repair(ctx, node))
	}
}

// resolverDead drops every question to the operator's resolver.
func (s *soak) resolverDead(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	_, err := s.lab.Exec(ctx, "dns", "nft", "add table inet soak; add chain inet soak in "+
		"{ type filter hook input priority 0; }; add rule inet soak in meta l4proto { tcp, udp } th dport 53 drop")
	wait(resolverTime)
	_, gone := s.lab.Exec(ctx, "dns", "nft", "delete table inet soak")
	return errors.Join(err, gone)
}

// gatewayRestarts starts a new gateway, sends new requests there, and sends SIGTERM to the old one, which answers
// what it has taken: no answer is lost.
func (s *soak) gatewayRestarts(ctx context.Context) error {
	old, err := s.startAgain(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := send(old.Process, syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-old.Process.Done():
	case <-time.After(40 * time.Second):
		return errors.New("it did not end")
	}
	if code := old.Process.ExitCode(); code != 0 {
		return fmt.Errorf("its exit code is %d", code)
	}
	return nil
}

func (s *soak) gatewayKilled(ctx context.Context) error {
	s.changing.Load().Process.Kill()
	_, err := s.startAgain(context.WithoutCancel(ctx))
	return err
}
