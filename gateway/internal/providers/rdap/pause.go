package rdap

import (
	"context"
	"errors"
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
func (c *Client) pause(ctx context.Context, at place, answered http.Header) error {
	wait := readRetryAfter(answered.Get("Retry-After"), answeredAt(answered, c.now()))
	until := c.now().Add(wait)
	note := until.UTC().Format(time.RFC3339Nano) + " " + wait.String()
	// A store that fails costs the server one more request, no more.
	_ = c.store.Set(context.WithoutCancel(ctx), pauseKey(at), []byte(note), wait)
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

// paused is the error of a pause that has not ended. That it is kept still is what tells; the moment that was noted
// says only how much of it is left, as far as that can be: a clock may have been set since, or be another instance's.
func (c *Client) paused(ctx context.Context, at place) error {
	kept, ok, err := c.store.Get(ctx, pauseKey(at))
	if err != nil || !ok {
		return nil //nolint:nilerr // a store that fails knows of no pause
	}
	until, whole, ok := readPause(string(kept))
	if !ok {
		return nil // what cannot be read is no pause
	}
	return c.tooMany(at, min(max(until.Sub(c.now()), time.Second), whole))
}

// readPause reads what pause has noted. Versions that noted no length may share the store.
func readPause(note string) (until time.Time, whole time.Duration, ok bool) {
	moment, length, told := strings.Cut(note, " ")
	until, err := time.Parse(time.RFC3339Nano, moment)
	if err != nil {
		return time.Time{}, 0, false
	}
	if !told {
		return until, maxPause, true
	}
	whole, err = time.ParseDuration(length)
	return until, whole, err == nil && whole > 0 && whole <= maxPause
}

// ErrPause is wrapped by the failures of kind Busy that are a server's own wish to be left alone for a time. The others
// are ErrShare, or this service's lack of the means to ask.
var ErrPause = errors.New("rdap: the server asked for a pause")

func (c *Client) tooMany(at place, wait time.Duration) error {
	f := tryLater(fault.Busy, wait, c.server(at)+" has been asked too often.")
	f.Cause = ErrPause
	return f
}

func pauseKey(at place) string { return "rdap-pause:" + at.url.Authority() }

// readRetryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func readRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	wait := defaultPause
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if errors.Is(err, strconv.ErrRange) { // more seconds than fit
		wait = maxPause
	} else if at, err := http.ParseTime(s); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, time.Second), maxPause)
}
