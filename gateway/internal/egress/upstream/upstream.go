// Package upstream names the outcomes of requests to services that this one depends on: the registries, WHOIS
// servers and resolvers, and the worker.
package upstream

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fault"
)

// Outcome is what became of a request.
type Outcome string

// The outcomes.
const (
	OK       Outcome = "ok"
	NotFound Outcome = "not_found" // an answer too: there is no such thing
	Limited  Outcome = "limited"   // it received too many requests
	Failed   Outcome = "failed"
	Timeout  Outcome = "timeout"
	OwnFault Outcome = "own_fault" // this host, or its resolver, could not send a request
	Canceled Outcome = "canceled"  // the caller has left
)

// Outcomes are all of them.
func Outcomes() []Outcome {
	return []Outcome{OK, NotFound, Limited, Failed, Timeout, OwnFault, Canceled}
}

// Provider is a kind of servers that are queried.
type Provider string

// The providers.
const (
	RDAP       Provider = "rdap"            // registries and registrars
	Redirector Provider = "rdap_redirector" // RDAP_BASE_URL
	Bootstrap  Provider = "bootstrap"       // IANA's lists of registries
	WHOIS      Provider = "whois"
	ASN        Provider = "asn"
	Resolver   Provider = "resolver" // the operator's, or the system's
)

// Providers are all of them.
func Providers() []Provider { return []Provider{RDAP, Redirector, Bootstrap, WHOIS, ASN, Resolver} }

// Pausing are the providers that may request a pause.
func Pausing() []Provider { return []Provider{RDAP, Redirector, WHOIS} }

// Observer records requests to providers. Its methods are safe for concurrent use and do not block.
type Observer interface {
	// Asked records the outcome of one request, and how long it took.
	Asked(p Provider, o Outcome, took time.Duration)
	// Paused records that a server requested a pause.
	Paused(p Provider, server string, wait time.Duration)
}

// Discard observes nothing.
type Discard struct{}

// Asked implements Observer.
func (Discard) Asked(Provider, Outcome, time.Duration) {}

// Paused implements Observer.
func (Discard) Paused(Provider, string, time.Duration) {}

// Or gives the observer, or Discard where it is nil.
func Or(o Observer) Observer {
	if o == nil {
		return Discard{}
	}
	return o
}

// OutcomeOf is that of a request that ended with err, OK where that is nil.
func OutcomeOf(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return OK
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, context.Canceled):
		return Canceled
	case fault.IsOwn(err):
		return OwnFault
	case fault.Is(err, fault.Timeout), fault.IsTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Failed
}
