package whois

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

const (
	// defaultPause is for a server that says to wait but not how long.
	defaultPause = time.Minute
	maxPause     = time.Hour
)

// ErrPause is wrapped by the failures of kind Busy that are a server's own wish to be left alone for a time.
var ErrPause = errors.New("whois: the server asked for a pause")

// pause leaves a server alone for as long as it asks, and gives the error of who asked it. It is kept where the answers
// are, so that instances that share them share this too.
func (c *Client) pause(ctx context.Context, server target.Host, wait time.Duration) error {
	note := c.now().Add(wait).UTC().Format(time.RFC3339)
	// A store that fails costs the server one more request, no more.
	_ = c.store.Set(context.WithoutCancel(ctx), pauseKey(server), []byte(note), wait)
	return tooOften(server, wait)
}

// paused is the error of a pause that has not ended. That it is kept still is what tells; the moment that was noted
// says only how much of it is left.
func (c *Client) paused(ctx context.Context, server target.Host) error {
	kept, ok, err := c.store.Get(ctx, pauseKey(server))
	if err != nil || !ok {
		return nil //nolint:nilerr // a store that fails knows of no pause
	}
	until, err := time.Parse(time.RFC3339, string(kept))
	if err != nil {
		return nil //nolint:nilerr // what cannot be read is no pause
	}
	return tooOften(server, min(max(until.Sub(c.now()), time.Second), maxPause))
}

func pauseKey(server target.Host) string { return "whois-pause:" + server.Name() }

func tooOften(server target.Host, wait time.Duration) error {
	f := tryLater(wait, called(server)+" has been asked too often.")
	f.Cause = ErrPause
	return f
}

func tryLater(wait time.Duration, sentence string) *fault.Error {
	seconds := int64((max(wait, time.Second) + time.Second - 1) / time.Second)
	f := fault.Newf(fault.Busy, "%s Try again in %d s.", sentence, seconds)
	f.RetryAfter = wait
	return f
}
