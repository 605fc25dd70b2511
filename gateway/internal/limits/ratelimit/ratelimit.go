// Package ratelimit counts requests by GCRA (a burst of N, refilled evenly at N per window), and distinct values by a
// strict window, in memory or in Redis.
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

// Half is half of a limit; of one that is on, it is on as well.
func Half(l Limit) Limit {
	if l.Requests > 0 {
		l.Requests = max(1, l.Requests/2)
	}
	return l
}

// Charge is one request against one bucket, or several. Key is canonical and unique over all kinds of buckets.
type Charge struct {
	Key   string
	Limit Limit
	// Times is how many requests it counts for: all of them pass, or none. 0 is 1, and more than the bucket holds is all
	// that it holds.
	Times int
	// Item makes the bucket one of distinct values, such as ports, where it is not 0: a new value is refused while
	// Requests others were seen within the last Window. That is strict, without a burst; one that was seen within the
	// window is free. A key is used for one kind of bucket only, and Times says nothing there.
	Item uint16
}

// Stage are the charges that are made together. Each is made whether or not the others pass, so they belong to one
// client: a bucket that several share goes into a stage of its own, behind those that are narrower.
type Stage []Charge

// Decision is the outcome over the buckets of all stages that were looked at: refused if any refuses; the numbers are
// those of the bucket with the least left (of the refusing one with the longest wait where any refuses).
type Decision struct {
	// Key is that of the bucket that the numbers are of, empty where there is none.
	Key       string
	Allowed   bool
	Limit     int
	Remaining int
	// ResetAfter is when that bucket is full again.
	ResetAfter time.Duration
	// RetryAfter is when the next request passes that bucket; 0 where Allowed.
	RetryAfter time.Duration
}

// Limiter charges buckets, each atomically. It charges the stages in order, each only if all before it have passed: a
// rejected request charges nothing after the stage that rejects it, so that no client can use up a shared bucket with
// requests beyond its own share. With no charges (all limits off) the Decision is Allowed with a zero Limit.
type Limiter interface {
	Take(ctx context.Context, stages ...Stage) (Decision, error)
}

// chain charges stage after stage until one refuses.
func chain(stages []Stage, take func(Stage) (Decision, error)) (Decision, error) {
	tightest := Decision{Allowed: true}
	for _, stage := range stages {
		d, err := take(stage)
		if err != nil {
			return Decision{}, err
		}
		if tightest = tightest.with(d); !d.Allowed {
			break
		}
	}
	return tightest, nil
}

// counts reports whether the charge's bucket is switched on.
func (c Charge) counts() bool { return c.Limit.Requests > 0 && c.Limit.Window > 0 }

// times is how many requests the charge counts for.
func (c Charge) times() int { return min(max(c.Times, 1), c.Limit.Requests) }

// with is the decision over two buckets; one without a limit is none.
func (d Decision) with(other Decision) Decision {
	if other.Limit > 0 && (d.Limit == 0 || other.tighter(d)) {
		return other
	}
	return d
}

func (d Decision) tighter(than Decision) bool {
	switch {
	case d.Allowed != than.Allowed:
		return !d.Allowed
	case !d.Allowed:
		return d.RetryAfter > than.RetryAfter
	case d.Remaining != than.Remaining:
		return d.Remaining < than.Remaining
	}
	return d.ResetAfter > than.ResetAfter
}
