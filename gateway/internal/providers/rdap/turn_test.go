package rdap

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

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

// A registry that requests a pause while a request waits for its pace does not get that request.
func TestPauseDuringTheWait(t *testing.T) {
	t.Parallel()
	s := &slots{wait: time.Millisecond}
	w := newWorld(t, func(config *Config) {
		config.Pace = pace.New(s)
		config.Registries = lists{"com": "https://" + registryHost}
	})
	s.reserved = func() { // the pause comes from another instance, through the shared store
		_ = w.pause(t.Context(), server{url: mustURL(t, "https://"+registryHost)}, http.Header{"Retry-After": {"7"}})
	}
	_, err := w.domain("two-site.com")
	wantFailure(t, err, fault.Busy, "has been asked too often")
	w.wantAsked()
}

// A caller who leaves during the wait ends its own question only, and nothing is sent.
func TestLeavingDuringTheWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w, s := listedWorld(t, lists{"com": "https://" + registryHost})
	s.wait, s.reserved = time.Hour, cancel
	if _, err := w.Domain(ctx, "one-site.com", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
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
