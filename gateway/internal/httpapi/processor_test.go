package httpapi

import (
	"testing"
	"time"
)

// A run alone costs what the process used, runs together share it, and what is used between runs is nobody's.
func TestProcessorTimeIsShared(t *testing.T) {
	t.Parallel()
	var used time.Duration
	p := &processor{used: func() time.Duration { return used }}
	use := func(d time.Duration) { used += d * time.Millisecond }
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
