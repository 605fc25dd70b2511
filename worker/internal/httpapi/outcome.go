package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/probe"
)

// Outcome classes a request for a job in the metrics. A target that does not answer, or refuses, is a result, and so
// OutcomeOK.
type Outcome string

// The outcomes. From OutcomeShortage on the fault is the worker's or its host's.
const (
	OutcomeOK           Outcome = "ok"
	OutcomeUnauthorized Outcome = "unauthorized"
	OutcomeInvalid      Outcome = "invalid" // the request is malformed
	OutcomeRefused      Outcome = "refused" // the target is no public address
	OutcomeLimited      Outcome = "limited" // the client or its network holds its share of the slots
	OutcomeBusy         Outcome = "busy"    // no slot, or no packets left
	OutcomeCanceled     Outcome = "canceled"
	OutcomeLeaving      Outcome = "leaving"     // the worker ended before
	OutcomeNoRoute      Outcome = "no_route"    // this host lacks the target's address family, or any route to it
	OutcomeShortage     Outcome = "shortage"    // this host lacks memory, ports or its link at the moment
	OutcomeUnsupported  Outcome = "unsupported" // no sockets for probes of this kind
	OutcomeForbidden    Outcome = "forbidden"   // a firewall of this host's own
	OutcomeTimeout      Outcome = "timeout"     // the job did not end by its limit
	OutcomeInternal     Outcome = "internal"
)

// Ending is how a request for a job ended. Status is that of its answer, 0 where the client had left.
type Ending struct {
	Status  int
	Outcome Outcome
}

// Endings are all that there are.
func Endings() []Ending {
	return []Ending{
		{http.StatusOK, OutcomeOK},
		{http.StatusUnauthorized, OutcomeUnauthorized},
		{http.StatusBadRequest, OutcomeInvalid},
		{http.StatusMethodNotAllowed, OutcomeInvalid},
		{http.StatusRequestEntityTooLarge, OutcomeInvalid},
		{http.StatusUnsupportedMediaType, OutcomeInvalid},
		{http.StatusBadRequest, OutcomeRefused},
		{http.StatusTooManyRequests, OutcomeLimited},
		{http.StatusTooManyRequests, OutcomeBusy},
		{0, OutcomeCanceled},
		{http.StatusServiceUnavailable, OutcomeLeaving},
		{http.StatusBadGateway, OutcomeNoRoute},
		{http.StatusServiceUnavailable, OutcomeShortage},
		{http.StatusBadGateway, OutcomeUnsupported},
		{http.StatusBadGateway, OutcomeForbidden},
		{http.StatusGatewayTimeout, OutcomeTimeout},
		{http.StatusBadGateway, OutcomeInternal},
		{http.StatusInternalServerError, OutcomeInternal},
	}
}

// Ran reports whether a job was run for the request, or one that ran was joined.
func (e Ending) Ran() bool {
	return !slices.Contains(
		[]Outcome{OutcomeUnauthorized, OutcomeInvalid, OutcomeRefused, OutcomeLimited, OutcomeBusy}, e.Outcome)
}

// Limit is what keeps a job from being begun.
type Limit string

// The limits.
const (
	LimitSlots   Limit = "slots"   // every one is taken
	LimitClient  Limit = "client"  // so is every one that one client may hold
	LimitGroup   Limit = "group"   // or the clients of one network
	LimitPlace   Limit = "place"   // or those of one other place
	LimitPackets Limit = "packets" // the budget leaves no probe within the job's time
)

// Limits are all that there are.
func Limits() []Limit { return []Limit{LimitSlots, LimitClient, LimitGroup, LimitPlace, LimitPackets} }

const (
	toolTraceroute = "traceroute"
	toolPing       = "ping"
	toolPacketLoss = "packet-loss"
)

// Tools are those that there are jobs of.
func Tools() []string { return []string{toolTraceroute, toolPing, toolPacketLoss} }

func (rc *requestContext) reportTo(o Observer, tool string, took time.Duration) {
	var busy *busyError
	var spent *probe.BusyError
	switch {
	case rc.status != http.StatusTooManyRequests:
	case errors.As(rc.cause, &busy):
		o.Limited(tool, busy.limit)
	case errors.As(rc.cause, &spent):
		o.Limited(tool, LimitPackets)
	}
	o.JobEnded(tool, rc.ending(), took)
}

func (rc *requestContext) ending() Ending {
	status := rc.status
	if status == statusClientGone {
		status = 0
	}
	return Ending{status, rc.outcome()}
}

func (rc *requestContext) outcome() Outcome {
	switch rc.status {
	case http.StatusOK:
		return OutcomeOK
	case http.StatusUnauthorized:
		return OutcomeUnauthorized
	case statusClientGone:
		return OutcomeCanceled
	case http.StatusTooManyRequests:
		if busy, is := errors.AsType[*busyError](rc.cause); is && busy.share() {
			return OutcomeLimited
		}
		return OutcomeBusy
	case http.StatusServiceUnavailable:
		if isShortage(rc.cause) {
			return OutcomeShortage
		}
		return OutcomeLeaving
	case http.StatusGatewayTimeout:
		return OutcomeTimeout
	case http.StatusBadGateway:
		return badGateway(rc.cause)
	}
	switch rc.refused {
	case nil:
		return OutcomeInternal
	case errNotPublic:
		return OutcomeRefused
	}
	return OutcomeInvalid
}

// badGateway classes the reason why this host could send no probes.
func badGateway(cause error) Outcome {
	switch {
	case errors.Is(cause, exchange.ErrProtocol):
		return OutcomeUnsupported
	case errors.Is(cause, exchange.ErrFamily), errors.Is(cause, exchange.ErrNoRoute):
		return OutcomeNoRoute
	case errors.Is(cause, exchange.ErrForbidden):
		return OutcomeForbidden
	}
	return OutcomeInternal
}
