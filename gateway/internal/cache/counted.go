package cache

import "diagnostics/gateway/internal/cachestats"

// counted is a Store whose typed views count.
type counted struct {
	Store
	of func(name string) *cachestats.Counts
}

// NewCounted makes a Store of which each Typed counts, by the prefix that it is made with, how often it had what it was
// asked for.
func NewCounted(store Store, of func(name string) *cachestats.Counts) Store {
	return counted{Store: store, of: of}
}

// countsOf gives the counts of a typed view, nil where nobody counts.
func countsOf(store Store, name string) *cachestats.Counts {
	if c, ok := store.(counted); ok {
		return c.of(name)
	}
	return nil
}
