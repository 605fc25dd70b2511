package ratelimit

import (
	"math"
	"time"
)

// GCRA comes in two equal forms (ITU-T I.371, annex A): virtual scheduling, which keeps the theoretical arrival time,
// and the continuous-state leaky bucket, which keeps a level. We keep the level, in requests: bursts count in whole
// numbers and stay exact up to a billion, where an arrival time would have to be exact to a fraction of a nanosecond.
// The libraries that keep times lose it: at 10^9 per minute a step of redis_rate is smaller than the last digit of its
// clock, and throttled refuses 10^9 per 500 ms. The script in redis.go does the same arithmetic in the same order.

// slack allows for the rounding of a level, in requests: a bucket that has refilled for exactly one request passes one.
const slack = 1e-6

// bucket is how many requests had not leaked away at the moment at, in microseconds of its store's clock.
type bucket struct {
	level float64
	at    int64
}

// take charges so many requests at now. A bucket that refuses stays as it was.
func (b bucket) take(l Limit, times int, now int64) (bucket, Decision) {
	n, window := float64(l.Requests), float64(l.Window)/float64(time.Microsecond)
	more := float64(times)
	level := max(b.level-float64(max(now-b.at, 0))*n/window, 0)
	d := Decision{Limit: l.Requests}
	if level+more > n+slack {
		d.RetryAfter = micros((level + more - n) * window / n)
		d.ResetAfter = micros(level * window / n)
		if b.at > now {
			// The clock stepped back: nothing would leak away until it is where it was.
			b = bucket{level: level, at: now}
		}
		return b, d
	}
	level += more
	d.Allowed = true
	d.Remaining = int(n - level + slack)
	d.ResetAfter = micros(level * window / n)
	return bucket{level: level, at: now}, d
}

func micros(us float64) time.Duration {
	return time.Duration(min(math.Ceil(us), math.MaxInt64/1000)) * time.Microsecond
}
