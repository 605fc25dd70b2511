// Package ratelimit counts requests by GCRA (a burst of N, refilled evenly at N per window), in memory or in Redis.
package ratelimit

import (
	"context"
	"time"
)

// Limit is N requests per window. A zero Requests switches the bucket off.
type Limit struct {
	Requests int
	Window   time.Duration
}

// Charge is one request against one bucket. Key is canonical and unique over all kinds of buckets.
type Charge struct {
	Key   string
	Limit Limit
}

// Decision is the outcome over all charged buckets: refused if any refuses; the numbers are those of the bucket with
// the least left (of the refusing one with the longest wait where any refuses).
type Decision struct {
	Allowed   bool
	Limit     int
	Remaining int
	// ResetAfter is when that bucket is full again.
	ResetAfter time.Duration
	// RetryAfter is when the next request passes; 0 where Allowed.
	RetryAfter time.Duration
}

// Limiter charges buckets. Each bucket is charged atomically; a refused request may have been charged in another
// bucket. With no charges (all limits off) the Decision is Allowed with a zero Limit.
type Limiter interface {
	Take(ctx context.Context, charges []Charge) (Decision, error)
}
