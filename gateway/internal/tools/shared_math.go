package tools

import (
	"math"
	"time"
)

// durationMs gives a duration in milliseconds, rounded to the microsecond.
func durationMs(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}
