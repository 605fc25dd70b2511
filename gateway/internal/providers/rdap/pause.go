package rdap

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/pause"
)

// defaultPause is for a server that says to wait but not how long: the window of rdap.org.
const defaultPause = 10 * time.Second

// pause leaves a server alone for as long as it asks, and gives the error of who asked it.
func (c *Client) pause(ctx context.Context, at server, answered http.Header) error {
	wait := readRetryAfter(answered.Get("Retry-After"), answeredAt(answered, c.now()))
	c.pauses.Begin(ctx, at.url.Authority(), wait)
	c.egress.Providers().Paused(c.provider(at.url), at.url.Authority(), wait)
	return c.tooMany(at, wait)
}

// answeredAt is the server's own clock where it tells it: a date that it names is one of that clock, and ours may be an
// hour away.
func answeredAt(answered http.Header, now time.Time) time.Time {
	if at, err := http.ParseTime(answered.Get("Date")); err == nil {
		return at
	}
	return now
}

// paused is the error of a pause that has not ended.
func (c *Client) paused(ctx context.Context, at server) error {
	if left, paused := c.pauses.Left(ctx, at.url.Authority()); paused {
		return c.tooMany(at, left)
	}
	return nil
}

// ErrPause is wrapped by the failures of kind Busy that are a server's own wish to be left alone for a time. The others
// are ErrShare, or this service's lack of the means to ask.
var ErrPause = errors.New("rdap: the server asked for a pause")

func (c *Client) tooMany(at server, wait time.Duration) error {
	return pause.TryLater(fault.Busy, wait, c.server(at)+" has been asked too often.", ErrPause)
}

// readRetryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func readRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	wait := defaultPause
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if errors.Is(err, strconv.ErrRange) { // more seconds than fit
		wait = pause.Max
	} else if at, err := http.ParseTime(s); err == nil {
		wait = at.Sub(now)
	}
	return pause.Within(wait)
}
