package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// soak is one run.
type soak struct {
	*stack
	opts    options
	random  *rand.Rand
	windows *windows
	judge   *judge
	load    *load
	samples *samples

	start   time.Time
	rate    float64
	cost    time.Duration // of processor, for one request of the mix, the lab's part included
	rest    map[string]float64
	after   map[string]float64
	settled time.Duration // from the end of the load to rest
}

func newSoak(s *stack, o options) *soak {
	k := &soak{stack: s, opts: o, random: rand.New(rand.NewPCG(o.seed, 1)), windows: &windows{}, samples: newSamples(s)}
	k.judge = newJudge(k.windows)
	k.load = newLoad(s, k.judge, rand.New(rand.NewPCG(o.seed, 2)))
	return k
}

const (
	// calibration is how long the cost of a request is measured, at a rate that any machine can do; what comes before,
	// with nothing in any cache, does not count.
	calibration, warmUp = 6 * time.Second, 2 * time.Second
	calibrationRate     = 40
	// mostRate is what keeps one gateway's 512 slots and a worker's 64 half empty, with the runs of the mix as long as
	// they are.
	mostRate = 220
	// ending is the time from the last request to the end, so that most are answered when it comes.
	ending = 3 * time.Second
)

func (s *soak) run(ctx context.Context) error {
	s.start = time.Now()
	if err := s.load.findAssets(ctx); err != nil {
		return err
	}
	s.rest = s.samples.now(ctx)
	life, leave := context.WithCancel(ctx)
	defer leave()
	if s.opts.rate > 0 {
		s.rate = s.opts.rate
	} else {
		s.calibrate(ctx, life)
	}
	left := s.opts.length - time.Since(s.start) - ending
	order, every := s.plan(left)
	fmt.Printf("%.0f requests a second for %v; a fault every %.1f s; seed %d\n", s.rate, s.opts.length, every.Seconds(),
		s.opts.seed)

	asking, stop := context.WithTimeout(ctx, left)
	defer stop()
	var all sync.WaitGroup
	var broken error
	all.Go(func() { s.load.ask(asking, life, s.rate) })
	all.Go(func() { s.samples.watch(asking, s.pace()) })
	all.Go(func() { broken = s.breakThings(asking, order, every) })
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.end(ctx, leave)
	s.report(os.Stdout)
	return errors.Join(broken, s.verdict())
}

// pace is the time between samples.
func (s *soak) pace() time.Duration { return min(5*time.Second, max(time.Second, s.opts.length/120)) }

// plan spreads at least one round of faults over the time, and further rounds while each fault has half a minute.
func (s *soak) plan(left time.Duration) (order []fault, every time.Duration) {
	faults := s.faults()
	rounds := max(1, int(left/(30*time.Second))/len(faults))
	order = schedule(s.random, faults, rounds)
	return order, left / time.Duration(len(order)+1)
}

// calibrate measures what one request costs, and takes half of what the processors could do.
func (s *soak) calibrate(ctx, life context.Context) {
	warm, stop := context.WithTimeout(ctx, warmUp)
	s.load.ask(warm, life, calibrationRate)
	stop()
	asked, used := s.load.asked.Load(), s.processorTime()
	measured, stop := context.WithTimeout(ctx, calibration-warmUp)
	s.load.ask(measured, life, calibrationRate)
	stop()
	n := max(1, s.load.asked.Load()-asked)
	s.cost = (s.processorTime() - used) / time.Duration(n)
	s.rate = min(mostRate, float64(runtime.NumCPU())/s.cost.Seconds()/2)
}

// processorTime is what the service and this process, with all clients and targets in it, have used so far.
func (s *soak) processorTime() time.Duration {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0
	}
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	for _, p := range s.processes() {
		used, _ := p.CPU() // 0 of one that has ended
		sum += used
	}
	return sum
}

// end lets those leave who still wait, and waits until the service is at rest.
func (s *soak) end(ctx context.Context, leave func()) {
	time.Sleep(ending) // for answers that may still come; silence cannot be observed
	leave()
	s.load.asking.Wait()
	s.load.client.CloseIdleConnections()
	began := time.Now()
	for time.Since(began) < 8*time.Second {
		if s.after = s.samples.now(ctx); len(s.above()) == 0 {
			break
		}
		time.Sleep(250 * time.Millisecond) // the interval of the samples
	}
	s.settled = time.Since(began)
}

// What a service at rest may have more of than one without any request: pools and connections that are kept.
const restAbove = 40

// above lists what has not come back to what it was at rest.
func (s *soak) above() (names []string) {
	for _, name := range []string{"gateway: runs in flight", "gateway: goroutines", "gateway: open files",
		"worker: goroutines", "worker: open files"} {
		allowed := s.rest[name] + restAbove
		if name == "gateway: runs in flight" {
			allowed = 0
		}
		if got, ok := s.after[name]; !ok || got > allowed {
			names = append(names, fmt.Sprintf("%s: %.0f, and %.0f at the start", name, got, s.rest[name]))
		}
	}
	return names
}

// verdict is nil where all is well.
func (s *soak) verdict() error {
	var errs []error
	if s.judge.unfitCount > 0 {
		errs = append(errs, fmt.Errorf("%d answers that nothing explains", s.judge.unfitCount))
	}
	for _, m := range measures {
		if g := m.growth(s.samples.series[m.name], s.start, s.opts.length); g.grew() {
			errs = append(errs, fmt.Errorf("%s grew from %.0f to %.0f, more than %.0f", m.name, g.first, g.last, g.bound))
		}
	}
	for _, what := range s.above() {
		errs = append(errs, fmt.Errorf("not back at rest: %s", what))
	}
	for _, name := range []string{"gateway", "worker"} {
		if n := s.after[name+": log lines dropped"]; n > 0 {
			errs = append(errs, fmt.Errorf("the %s dropped %.0f lines of its log", name, n))
		}
	}
	return errors.Join(errs...)
}
