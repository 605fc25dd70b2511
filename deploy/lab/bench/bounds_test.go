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
