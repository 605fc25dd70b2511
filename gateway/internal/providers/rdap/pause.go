package rdap

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
)

const (
	// defaultPause is for a server that says to wait but not how long: the window of rdap.org.
	defaultPause = 10 * time.Second
	maxPause     = time.Hour
)

// pause leaves a server alone for as long as it asks, and gives the error of who asked it. It is kept where the answers
// are, so that instances that share them share this too.
func (c *Client) pause(ctx context.Context, at place, retryAfter string) error {
	wait := readRetryAfter(retryAfter, c.now())
	until := c.now().Add(wait)
	// A store that fails costs the server one more request, no more.
	_ = c.store.Set(context.WithoutCancel(ctx), pauseKey(at), []byte(until.UTC().Format(time.RFC3339Nano)), wait)
	return c.tooMany(at, wait)
}

// paused is the error of a pause that has not ended.
func (c *Client) paused(ctx context.Context, at place) error {
	kept, ok, err := c.store.Get(ctx, pauseKey(at))
	if err != nil || !ok {
		return nil //nolint:nilerr // a store that fails knows of no pause
	}
	until, err := time.Parse(time.RFC3339Nano, string(kept))
	if err != nil {
		return nil //nolint:nilerr // what cannot be read is no pause
	}
	wait := until.Sub(c.now())
	if wait <= 0 || wait > maxPause {
		return nil
	}
	return c.tooMany(at, wait)
}

func (c *Client) tooMany(at place, wait time.Duration) error {
	return tryLater(fault.Busy, wait, c.server(at)+" has been asked too often.")
}

func pauseKey(at place) string { return "rdap-pause:" + at.url.Authority() }

// readRetryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func readRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	wait := defaultPause
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(s); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, time.Second), maxPause)
}
