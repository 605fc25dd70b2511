package rdap

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/tool"
)

// The paces of servers. A registry tells nobody how often it may be asked, and says so when it was asked too often; the
// public redirector answers 429 past ten requests in ten seconds, and in no 10.5 s, since requests may arrive closer
// together than they were sent, does this service send it more than eight.
var (
	registryPace   = fairqueue.Pace{Burst: 10, Every: 500 * time.Millisecond}
	redirectorPace = fairqueue.Pace{Burst: 3, Every: 2100 * time.Millisecond}
)

const defaultAuthority = "rdap.org:443"

func paceOf(server string) fairqueue.Pace {
	if server == defaultAuthority {
		return redirectorPace
	}
	return registryPace
}

// turn waits until the server may be asked, within what the walk has left of its patience. Errors are *fault.Error
// (Busy) or those of a ctx that has ended.
func (w *walk) turn(ctx context.Context) error {
	if err := w.client.paused(ctx, w.at); err != nil || w.client.queue == nil {
		return err
	}
	began, server, caller := time.Now(), w.at.url.Authority(), tool.CallerOf(ctx)
	again, err := w.client.queue.Wait(ctx, server, paceOf(server),
		fairqueue.Visitor{Client: caller.Client, Network: caller.Network}, w.patience)
	waited := time.Since(began)
	w.patience -= waited
	switch {
	case err != nil:
		return err
	case again > 0:
		return pause.TryLater(fault.Busy, again, "Too many registrations are being looked up at the moment.", ErrShare).
			ByRule(fault.LimitProviderShare)
	case waited > 0: // whoever was before may have been asked for a pause
		return w.client.paused(ctx, w.at)
	}
	return nil
}

// ErrShare is wrapped by the failures of kind Busy by which this service keeps to its own share of a server: nobody was
// asked, and nobody is at fault.
var ErrShare = errors.New("rdap: the share of the server is used up")

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
