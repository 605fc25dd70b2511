package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/cause"
	"diagnostics/shared/parallel"
)

const (
	// daily is the time between two fetches that succeed. Up to a tenth is added at random, so that instances do not come
	// all at once.
	daily = 24 * time.Hour
	// firstRetry is the time after the first failure; it doubles up to longestRetry.
	firstRetry   = time.Minute
	longestRetry = 2 * time.Hour
)

// run is the one goroutine that fetches.
func (r *Registries) run() {
	firstDone := sync.OnceFunc(func() { close(r.fetched) })
	retry, failing := firstRetry, false
	for {
		worst := r.refresh()
		firstDone()
		failing = r.report(failing, worst)
		pause := daily
		if failing {
			pause, retry = retry, min(2*retry, longestRetry)
		} else {
			retry = firstRetry
		}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(pause + rand.N(pause/10)): // #nosec G404 -- it is no secret
		}
	}
}

// failure is a file that could not be fetched, or not be used.
type failure struct {
	file *file
	err  error
}

// refresh fetches all files, each for itself, and gives the first that failed, nil where none did.
func (r *Registries) refresh() *failure {
	failures := make([]error, len(r.files))
	var all parallel.Group
	for i, f := range r.files {
		all.Go(func() { failures[i] = r.refreshOne(f) })
	}
	all.Wait()
	for i, err := range failures {
		if err != nil {
			return &failure{r.files[i], err}
		}
	}
	now := time.Now()
	r.whole.Store(&now)
	return nil
}

// refreshOne takes a panic for a failure like any other: it must not end the goroutine that fetches.
func (r *Registries) refreshOne(f *file) error {
	_, err := parallel.Try(func() (body []byte, err error) {
		if body, err = r.fetch(r.ctx, f.name); err == nil {
			err = f.load(body)
		}
		return body, err
	})
	return err
}

// report reports whether the fetching fails now. It writes a line when that begins, and one when it succeeds again.
func (r *Registries) report(failing bool, worst *failure) (failed bool) {
	switch {
	case r.ctx.Err() != nil: // Close ended it
	case worst != nil && !failing:
		r.log.Warn("the lists of RDAP registries cannot be fetched, the last good ones serve",
			append(cause.Fields(worst.err, errStatus, errTooLong, errForm, errEmpty),
				"file", worst.file.name, "published", day(worst.file.published))...)
	case worst == nil && failing:
		r.log.Info("the lists of RDAP registries are fetched again",
			slog.String("published", day(r.files[0].published)))
	}
	return worst != nil
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

var (
	errStatus  = errors.New("bootstrap: the status is not 200")
	errTooLong = errors.New("bootstrap: the file is too long")
)

// source fetches files from the operator's choice of a server.
type source struct {
	client *egress.Client
	base   target.URL
}

func (s source) fetch(ctx context.Context, name string) ([]byte, error) {
	began := time.Now()
	body, err := s.get(ctx, name)
	s.client.Providers().Asked(upstream.Bootstrap, upstream.OutcomeOf(ctx, err), time.Since(began))
	return body, err
}

func (s source) get(ctx context.Context, name string) ([]byte, error) {
	answer, err := s.client.Do(ctx, egress.Request{
		URL:                     s.base.Append(name),
		Header:                  http.Header{"Accept": {"application/json"}},
		MaxBody:                 maxFile,
		RequireValidCertificate: true,
		Exempt:                  true,
		Uncharged:               true,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch a bootstrap file: %w", err)
	case answer.Status != http.StatusOK:
		return nil, errStatus
	case answer.Truncated:
		return nil, errTooLong
	case answer.BodyErr != nil:
		return nil, fmt.Errorf("read a bootstrap file: %w", answer.BodyErr)
	}
	return answer.Body, nil
}
