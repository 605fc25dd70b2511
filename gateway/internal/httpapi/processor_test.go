package httpapi

import (
	"testing"
	"time"
)

// A run alone costs what the process used, runs together share it, and what is used between runs is nobody's.
func TestProcessorTimeIsShared(t *testing.T) {
	t.Parallel()
	var used time.Duration
	now := time.Now()
	p := &processor{used: func() time.Duration { return used }, now: func() time.Time { return now }}
	use := func(d time.Duration) {
		used += d * time.Millisecond
		now = now.Add(d * time.Millisecond)
	}
	want := func(name string, got time.Duration, ms time.Duration) {
		t.Helper()
		if got != ms*time.Millisecond {
			t.Errorf("%s cost %v, want %v", name, got, ms*time.Millisecond)
		}
	}
	use(1000)
	alone := p.begin()
	use(7)
	want("a run alone", p.end(alone), 7)
	use(500)
	first := p.begin()
	use(10)
	second := p.begin()
	use(20)
	third := p.begin()
	use(30)
	want("the first of three", p.end(first), 10+10+10)
	use(4)
	want("the third", p.end(third), 10+2)
	use(1)
	want("the second", p.end(second), 10+10+2+1)
}

// A run that is over at once costs no look, and what it took; what it used is shared out with the next look.
func TestShortRunsCostWhatTheyTook(t *testing.T) {
	t.Parallel()
	looks, now := 0, time.Now()
	p := &processor{now: func() time.Time { return now }, used: func() time.Duration {
		looks++
		return time.Duration(looks) * time.Second
	}}
	long := p.begin() // looks
	for range 3 {
		short := p.begin()
		now = now.Add(leastLook/3 - 1)
		if cost := p.end(short); cost != leastLook/3-1 || looks != 1 {
			t.Errorf("a short run cost %v, after %d looks", cost, looks)
		}
	}
	now = now.Add(leastLook - 3*(leastLook/3-1))
	if cost := p.end(long); cost != time.Second || looks != 2 {
		t.Errorf("the run of just the least time cost %v, after %d looks", cost, looks)
	}
}

func TestProcessorTimePasses(t *testing.T) {
	t.Parallel()
	before := processorTime()
	for deadline := time.Now().Add(10 * time.Second); processorTime() == before; {
		if time.Now().After(deadline) {
			t.Fatal("the process uses no time")
		}
	}
}

func BenchmarkProcessor(b *testing.B) {
	p := newProcessor()
	for b.Loop() {
		p.end(p.begin())
	}
}
