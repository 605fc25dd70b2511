// Package pace limits how often this service queries a server of a provider. Each server has a token bucket, shared by
// all instances that share the store of buckets. A request that finds the bucket empty reserves a future token and
// waits for it. While less than half of the bucket is left, a client is also held to a share of its own, so that one
// client cannot use up a server for the others. All clients of another place are always held to half.
package pace

import (
	"context"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/holder"
	"diagnostics/gateway/internal/tool"
)

const (
	// MaxWait is the longest wait for a reserved token.
	MaxWait = 5 * time.Second
	// MaxWaiting is how many requests wait for one server.
	MaxWaiting = 20

	// Tokens return to the shares of clients, networks and places at a fraction of the server's pace.
	clientFraction  = 4
	networkFraction = 2
	placeFraction   = 2
)

// Pace is how often one server is queried: Burst times at once, and once more each Every.
type Pace struct {
	Burst int
	Every time.Duration
}

// ahead is how many tokens may be reserved before they exist.
func (p Pace) ahead() int { return min(int(MaxWait/p.Every), MaxWaiting) }

// Buckets are token buckets by key. Take takes one token from the bucket of key, which holds size tokens when full and
// regains one each interval every. If ok, after is the time until the bucket is full again; else nothing is taken and
// after is the time until the next token. Its only error is that of a ctx that has ended.
type Buckets interface {
	Take(ctx context.Context, key string, size int, every time.Duration) (ok bool, after time.Duration, err error)
}

// Limiter holds requests to the pace of their server. A nil Limiter does not limit.
type Limiter struct{ buckets Buckets }

// New returns a Limiter that counts in buckets.
func New(buckets Buckets) *Limiter { return &Limiter{buckets} }

// Wait returns nil once the caller may query the server. Errors are those of a ctx that has ended, or *fault.Error of
// kind Busy with RetryAfter, and with the rule LimitProviderShare, if there is no token within MaxWait or before the
// deadline of ctx.
func (l *Limiter) Wait(ctx context.Context, server string, p Pace, caller tool.Caller) error {
	if l == nil {
		return nil
	}
	wait, err := l.reserve(ctx, server, p, holder.Of(caller))
	if err != nil || wait <= 0 {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return refused(wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve takes a token and returns the time until it may be used. The two sizes of the server's bucket are of one
// level: the smaller leaves half of the burst, the larger borrows the tokens that come within MaxWait. The share of a
// place is charged also while there is enough for all, since it may name any number of clients.
func (l *Limiter) reserve(
	ctx context.Context, server string, p Pace, of holder.List,
) (wait time.Duration, err error) {
	ok, after, err := l.takeShares(ctx, server, p, of, func(k holder.Kind) bool { return k == holder.Place })
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, refused(after)
	}
	ok, half, err := l.buckets.Take(ctx, server, p.Burst/2+1, p.Every)
	if ok || err != nil {
		return 0, err
	}
	ok, after, err = l.takeShares(ctx, server, p, of, func(k holder.Kind) bool { return k != holder.Place })
	switch {
	case err != nil:
		return 0, err
	case !ok: // until the share has a token, or the bucket is half full again
		return 0, refused(min(after, half))
	}
	ok, after, err = l.buckets.Take(ctx, server, p.Burst+p.ahead(), p.Every)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, refused(max(after, p.Every))
	}
	return after - time.Duration(p.Burst)*p.Every, nil
}

// takeShares takes a token of the share of each holder of these kinds.
func (l *Limiter) takeShares(
	ctx context.Context, server string, p Pace, of holder.List, kinds func(holder.Kind) bool,
) (ok bool, after time.Duration, err error) {
	for _, h := range of {
		if !kinds(h.Kind) {
			continue
		}
		size, every := p.shareOf(h.Kind)
		if ok, after, err = l.buckets.Take(ctx, server+"|"+h.Key, size, every); !ok || err != nil {
			return ok, after, err
		}
	}
	return true, 0, nil
}

// shareOf returns the size of a holder's own bucket, and how often it regains a token.
func (p Pace) shareOf(k holder.Kind) (size int, every time.Duration) {
	switch k {
	case holder.Place:
		return max((p.Burst+p.ahead())/2, 1), placeFraction * p.Every
	case holder.Network:
		return p.Burst, networkFraction * p.Every
	}
	return max(p.Burst/2, 1), clientFraction * p.Every
}

func refused(after time.Duration) error {
	return fault.New(fault.Busy, "REGISTRATIONS_BUSY", nil).ByRule(fault.LimitProviderShare).Again(after)
}
