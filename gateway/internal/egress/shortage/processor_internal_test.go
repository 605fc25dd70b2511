package shortage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/fault"
)

// at is a moment so long after the start of a measurement.
func at(start time.Time, ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func TestDelay(t *testing.T) {
	t.Parallel()
	start := time.Now()
	const tick = int(beat / time.Millisecond)
	for name, test := range map[string]struct {
		ends       []int // of beats, in milliseconds after the start
		since, now int
		want       int
	}{
		"every beat is in time":            {[]int{20, 40, 60, 80}, 0, 85, 0},
		"a delay that does not count":      {[]int{44}, 0, 45, 0},
		"the shortest that counts":         {[]int{45}, 0, 46, 25},
		"two delays":                       {[]int{120, 140, 260}, 0, 261, 200},
		"one ended before":                 {[]int{120, 240}, 120, 241, 100},
		"one began before":                 {[]int{120}, 70, 121, 50},
		"the beat under way is late":       {[]int{20}, 0, 140, 100},
		"late since before":                {[]int{20}, 90, 140, 50},
		"the beat under way is not late":   {[]int{20}, 0, 64, 0},
		"one that ended, one that goes on": {[]int{120}, 0, 240, 200},
	} {
		p := &Processor{due: at(start, tick)}
		for _, end := range test.ends {
			p.record(at(start, end))
		}
		if got := p.delay(at(start, test.since), at(start, test.now)); got != time.Duration(test.want)*time.Millisecond {
			t.Errorf("%s: %v, want %d ms", name, got, test.want)
		}
	}
}

func TestDelaysOfALongWait(t *testing.T) {
	t.Parallel()
	start := time.Now()
	p := &Processor{due: start.Add(beat)}
	now := start
	for range 2 * maxDelays {
		now = now.Add(beat + leastDelay)
		p.record(now)
	}
	if got := p.delay(now.Add(-30*time.Second), now); got < 15*time.Second || got > 30*time.Second {
		t.Errorf("of 30 s, in each beat of which it was late: %v", got)
	}
	if got := p.delay(start, now); got != maxDelays*leastDelay {
		t.Errorf("of all that is kept: %v", got)
	}
}

// A timeout is this host's fault from a quarter of the wait on.
func TestFaultOfADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		timeout := os.ErrDeadlineExceeded
		for _, test := range []struct {
			delay Delay
			ours  bool
		}{
			{nil, false},
			{func(time.Time) time.Duration { return 0 }, false},
			{func(time.Time) time.Duration { return 2*time.Second - 1 }, false},
			{func(time.Time) time.Duration { return 2 * time.Second }, true},
			{func(time.Time) time.Duration { return 8 * time.Second }, true},
		} {
			began := time.Now()
			time.Sleep(8 * time.Second)
			err := test.delay.Fault(began, timeout)
			if (err != nil) != test.ours || test.ours && (!fault.Is(err, fault.Busy) || !errors.Is(err, timeout)) {
				t.Errorf("%v of 8 s: %v", test.delay.Since(began), err)
			}
			if err := test.delay.Fault(time.Now(), timeout); test.delay.Since(began) == 0 && err != nil {
				t.Errorf("no wait at all: %v", err)
			}
		}
	})
}

func TestWatchOfAnIdleProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := WatchProcessor()
		defer p.Close()
		began := time.Now()
		time.Sleep(time.Minute)
		if delay := p.Delay(began); delay != 0 {
			t.Errorf("%v", delay)
		}
	})
}

const (
	watchedEnv = "TEST_WATCHED_PROCESS"
	stopped    = 400 * time.Millisecond
)

// A process that is stopped, as by a debugger or with its virtual machine, sees it at the first look afterwards.
func TestWatchOfAStoppedProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv(watchedEnv) != "" {
		p := WatchProcessor()
		defer p.Close()
		began := time.Now()
		fmt.Println("watching")
		_, _ = io.ReadAll(os.Stdin)
		fmt.Println(int64(p.Delay(began)))
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWatchOfAStoppedProcess$") // #nosec G204 G702
	child.Env = append(os.Environ(), watchedEnv+"=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(stopped) // how long the process is stopped is what is measured
	in.Close()
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	var delay time.Duration
	if lines.Scan() {
		_, err = fmt.Sscan(lines.Text(), (*int64)(&delay))
	}
	if waited := child.Wait(); err != nil || waited != nil || delay < stopped-beat {
		t.Errorf("a process that was stopped for %v saw %v (%v, %v)", stopped, delay, err, waited)
	}
}
