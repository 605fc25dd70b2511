package rdap

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
)

// Every request takes a slot at its own server: the redirector's, one that it makes to itself, the registry's and the
// registrar's.
func TestEveryServerIsCounted(t *testing.T) {
	t.Parallel()
	s := &slots{}
	w := newWorld(t, func(config *Config) { config.Pace = pace.New(s) })
	w.on(redirectorHost+"/domain/one-site.com", to("/v2/domain/one-site.com"))
	w.on(redirectorHost+"/v2/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	for _, name := range []string{"one-site.com", "one-site.com"} {
		if _, err := w.domain(name); err != nil {
			t.Error(err)
		}
	}
	s.wantTaken(t, redirectorHost+":443", redirectorHost+":443", registryHost+":443")
}

// A caller without a slot in time gets a Retry-After and no blame of the registry; no server is queried.
func TestNoTurn(t *testing.T) {
	t.Parallel()
	s := &slots{empty: 6 * time.Second}
	w := newWorld(t, func(config *Config) { config.Pace = pace.New(s) })
	_, err := w.domain("one-site.com")
	if f := wantFailure(t, err, fault.Busy, "Too many registrations"); f.RetryAfter != 6*time.Second ||
		f.Rule != fault.LimitProviderShare {
		t.Errorf("%+v", f)
	}
	w.wantAsked()
	s.err = context.Canceled
	if _, err := w.domain("one-site.com"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The wait for a turn is not the servers' time: a registry that answers within its own is no late one.
func TestTheWaitIsNotTheRegistrys(t *testing.T) {
	t.Parallel()
	const bound = time.Second
	s := &slots{wait: 2 * bound}
	w := newWorld(t, func(config *Config) { config.Pace, config.Timeout = pace.New(s), bound })
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	if a, err := w.domain("one-site.com"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
}

// The public redirector has another pace than registries; every redirector is counted apart from them.
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, url string
		provider  upstream.Provider
		pace      pace.Pace
	}{
		{DefaultBase, "https://rdap.org/domain/example.com", upstream.Redirector, redirectorPace},
		{DefaultBase, "https://rdap.verisign.com/com/v1/", upstream.RDAP, registryPace},
		{DefaultBase, "https://rdap.org:8443/", upstream.RDAP, registryPace},
		{DefaultBase, "https://rdap.org.example.com/", upstream.RDAP, registryPace},
		{"https://" + redirectorHost, "https://" + redirectorHost + "/v2", upstream.Redirector, registryPace},
		{"https://" + redirectorHost, "https://rdap.org/", upstream.RDAP, redirectorPace},
	} {
		client := &Client{base: mustURL(t, c.base)}
		if got := client.provider(server{url: mustURL(t, c.url)}); got.Provider != c.provider || got.Pace != c.pace {
			t.Errorf("%s with %s: %+v", c.url, c.base, got)
		}
	}
}

// TestALoopIsFoundAtOnce: a server that redirects to what it was queried for gets no further query.
func TestALoopIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/1"))
	w.on(registryHost+"/1", to("https://"+secondHost+"/2"))
	w.on(secondHost+"/2", to("https://"+registryHost+"/1"))
	_, err := w.domain("one-site.com")
	wantFailure(t, err, fault.Upstream, secondHost+" redirects more than 4 times")
	w.wantAsked(redirectorHost+"/domain/one-site.com", registryHost+"/1", secondHost+"/2")
}

// busyShares are buckets of which the client's share at one server is empty for the first queries.
type busyShares struct {
	server string
	empty  time.Duration
	left   atomic.Int32
}

func (b *busyShares) Take(_ context.Context, key string, size int, every time.Duration) (bool, time.Duration, error) {
	switch {
	case !strings.HasPrefix(key, b.server):
		return true, 0, nil
	case strings.Contains(key, "|"):
		return b.left.Add(-1) < 0, b.empty, nil
	case size <= registryPace.Burst:
		return false, time.Hour, nil
	}
	return true, time.Duration(registryPace.Burst) * every, nil
}

// TestARedirectWaitsForABusyServer: a walk that has begun waits for the pace of the next server, for a time. Else the
// client would begin anew, and take what the others wait for.
func TestARedirectWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		busy  string
		empty time.Duration
		found bool
	}{
		"the first server":             {redirectorHost, time.Millisecond, false},
		"a later one":                  {registryHost, time.Millisecond, true},
		"a later one, beyond patience": {registryHost, MaxPatience + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &busyShares{server: c.busy, empty: c.empty}
			b.left.Store(3)
			w := newWorld(t, func(config *Config) { config.Pace = pace.New(b) })
			w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
			w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
			a, err := w.domain("one-site.com")
			if a.Found != c.found {
				t.Errorf("%+v, %v", a, err)
			}
			if !c.found {
				wantFailure(t, err, fault.Busy, "Too many registrations")
			}
		})
	}
}

// TestARegistrarThatTakesTooLong: the registry's answer is given before the run ends.
func TestARegistrarThatTakesTooLong(t *testing.T) {
	t.Parallel()
	w := thinWorld(t, "https://"+relatedPath)
	w.on(relatedPath, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), forAnswer+300*time.Millisecond)
	defer cancel()
	a, err := w.Domain(ctx, "example-shop.com", nil)
	if err != nil || !a.Found || !strings.Contains(a.Notices[len(a.Notices)-1].Description, "within the time of this") {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	for want, answers := range map[upstream.Outcome][]*egress.Response{
		upstream.OK:       {{Status: 200}, {Status: 302}},
		upstream.NotFound: {{Status: 404}},
		upstream.Limited:  {{Status: 429}},
		upstream.Failed: {{Status: 500}, {Status: 403},
			{Status: 200, BodyErr: fault.New(fault.Upstream, "ASN_FAILED", nil)}},
		upstream.Timeout:  {{Status: 200, BodyErr: fault.New(fault.Timeout, "ASN_FAILED", nil)}},
		upstream.OwnFault: {{Status: 200, BodyErr: fault.New(fault.Busy, "ASN_FAILED", nil)}},
	} {
		for _, answer := range answers {
			if got := outcomeOf(t.Context(), answer, answer.Status == 429, nil); got != want {
				t.Errorf("%d, %v: %s, want %s", answer.Status, answer.BodyErr, got, want)
			}
		}
	}
	if got := outcomeOf(t.Context(), nil, false, context.DeadlineExceeded); got != upstream.Timeout {
		t.Errorf("no answer: %s", got)
	}
}
