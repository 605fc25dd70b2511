package probe

import (
	"math"
	"slices"
	"time"
)

// milliseconds gives a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) *float64 {
	return new(float64(d.Round(time.Microsecond).Microseconds()) / 1000)
}

// lossPercent is the share of probes without an answer, to a hundredth of a percent; 0 where none was sent.
func lossPercent(sent, received int) float64 {
	if sent == 0 {
		return 0
	}
	return math.Round(float64(sent-received)/float64(sent)*10000) / 100
}

func mean(d []time.Duration) time.Duration {
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	return sum / time.Duration(len(d))
}

// median is the middle value, or the mean of the two in the middle.
func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// stddev is the standard deviation of the values themselves (divided by their number).
func stddev(d []time.Duration) time.Duration {
	var sum float64
	m := float64(mean(d))
	for _, x := range d {
		sum += (float64(x) - m) * (float64(x) - m)
	}
	return time.Duration(math.Sqrt(sum / float64(len(d))))
}

// jitter is the mean absolute difference of consecutive values; it takes two.
func jitter(d []time.Duration) time.Duration {
	var sum time.Duration
	for i := 1; i < len(d); i++ {
		sum += (d[i] - d[i-1]).Abs()
	}
	return sum / time.Duration(len(d)-1)
}
