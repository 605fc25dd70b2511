package rdap

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
)

// Every request takes a slot at its own server: the redirector's, one that it makes to itself, the registry's and the
// registrar's.
func TestEveryServerIsCounted(t *testing.T) {
	t.Parallel()
	s := &slots{}
	w := newWorld(t, func(config *Config) { config.Slots = s })
	w.on(redirectorHost+"/domain/one-site.com", to("/v2/domain/one-site.com"))
	w.on(redirectorHost+"/v2/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	w.on(registryHost+"/domain/two-site.com", domainBody("two-site.com"))
	for _, name := range []string{"one-site.com", "two-site.com", "one-site.com"} {
		if _, err := w.domain(name); err != nil {
			t.Error(err)
		}
	}
	s.wantTaken(t, redirectorHost+":443", redirectorHost+":443", registryHost+":443", registryHost+":443")
}

// Who finds no slot in time is told when to come again, and that it is not the registry's fault; nobody was asked.
func TestNoTurn(t *testing.T) {
	t.Parallel()
	s := &slots{waits: []time.Duration{6 * time.Second}}
	w := newWorld(t, func(config *Config) { config.Slots = s })
	_, err := w.domain("one-site.com")
	if f := wantFailure(t, err, fault.Busy, "Too many registrations"); f.RetryAfter != 6*time.Second ||
		errors.Is(err, ErrPause) {
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
	const bound = 300 * time.Millisecond
	s := &slots{waits: []time.Duration{2 * bound}}
	w := newWorld(t, func(config *Config) { config.Slots, config.Timeout = s, bound })
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	began := time.Now()
	if a, err := w.domain("one-site.com"); err != nil || !a.Found || time.Since(began) < 2*bound {
		t.Errorf("%+v, %v after %v", a, err, time.Since(began))
	}
}

// A registry that is asked for a pause while others wait for it is not asked by those either.
func TestAPauseReachesThoseWhoWait(t *testing.T) {
	t.Parallel()
	s := &slots{}
	w := newWorld(t, func(config *Config) {
		config.Slots = s
		config.Registries = lists{"com": "https://" + registryHost}
	})
	w.on(registryHost+"/domain/one-site.com", status(http.StatusTooManyRequests, "Retry-After", "7"))
	s.waits = []time.Duration{time.Second}
	done := make(chan error)
	go func() {
		_, err := w.domain("two-site.com")
		done <- err
	}()
	for {
		s.mu.Lock()
		waits := len(s.waits) == 0
		s.mu.Unlock()
		if waits {
			break
		}
		time.Sleep(time.Millisecond)
	}
	// The pause comes from another instance, by way of the shared store.
	_ = w.pause(t.Context(), server{url: mustURL(t, "https://"+registryHost)}, http.Header{"Retry-After": {"7"}})
	wantFailure(t, <-done, fault.Busy, "has been asked too often")
	w.wantAsked()
}

// The 429 of one registry leaves the others alone.
func TestAPauseIsOfOneRegistry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(config *Config) {
		config.Registries = lists{"com": "https://" + registryHost, "net": "https://" + secondHost}
	})
	w.on(registryHost+"/domain/one-site.com", status(http.StatusTooManyRequests))
	w.on(secondHost+"/domain/one-site.net", domainBody("one-site.net"))
	for _, name := range []string{"one-site.com", "two-site.com"} {
		_, err := w.domain(name)
		wantFailure(t, err, fault.Busy, "has been asked too often")
	}
	if a, err := w.domain("one-site.net"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(registryHost+"/domain/one-site.com", secondHost+"/domain/one-site.net")
}

func TestPaces(t *testing.T) {
	t.Parallel()
	if base := mustURL(t, DefaultBase).Authority(); base != defaultAuthority || paceOf(base) != redirectorPace {
		t.Errorf("the public redirector %s has the pace %v", base, paceOf(base))
	}
	for _, server := range strings.Fields("rdap.org:8443 rdap.org.example.com:443 rdap.verisign.com:443") {
		if paceOf(server) != registryPace {
			t.Errorf("%s has the pace %v", server, paceOf(server))
		}
	}
}
