// Package format writes the small values of results the same way in every tool: durations, times, texts that may be
// absent.
package format

import (
	"math"
	"time"
)

// Milliseconds gives a duration in milliseconds, rounded to the microsecond.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// TextOrNull gives nil for what is empty.
func TextOrNull[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// RFC3339 writes a time as the results do.
func RFC3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
