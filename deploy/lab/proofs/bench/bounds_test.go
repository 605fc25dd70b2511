package main

import (
	"slices"
	"testing"
	"time"
)

// The table says which way a bound goes, and whether it holds.
func TestBoundOfARate(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]string{2.49: "MISSED, at least 2.50", 2.5: "holds, at least 2.50"} {
		o := outcome{contest: contest{least: 2.5}, ratio: ratio}
		if row := o.row(); !slices.Contains(row, want) {
			t.Errorf("%v: %q", ratio, row)
		}
	}
	for ratio, want := range map[float64]string{1.1: "holds, at most 1.10", 1.11: "MISSED, at most 1.10"} {
		o := outcome{contest: contest{mostRate: 1.1}, ratio: ratio}
		if row := o.row(); !slices.Contains(row, want) {
			t.Errorf("%v: %q", ratio, row)
		}
	}
	for cpu, want := range map[time.Duration]string{12: "holds", 13: "MISSED"} {
		o := outcome{contest: contest{per: 1, most: 1.2, mostRate: 1.1}, our: shot{CPU: cpu}, their: shot{CPU: 10}}
		if row := o.row(); !slices.Contains(row, want+", at most 1.20 of the processor time and 1.10 of the rate") {
			t.Errorf("%v: %q", cpu, row)
		}
	}
	slower := outcome{contest: contest{least: 2.5, prompt: true}, our: shot{P99: 2 * time.Second},
		their: shot{P99: time.Second}, ratio: 3}
	if row := slower.row(); !slices.Contains(row, "MISSED, at least 2.50") {
		t.Errorf("a worse p99: %q", row)
	}
}

func TestOptionsThatContradict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options
		ok bool
	}{
		"neither": {options{}, true}, "a part": {options{only: "my-ip"}, true}, "a page": {options{update: "x.md"}, true},
		"a part of a page": {options{only: "my-ip", update: "x.md"}, false},
	} {
		if err := c.check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
