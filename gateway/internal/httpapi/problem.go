package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/web"
	"diagnostics/shared/parallel"

	"github.com/labstack/echo/v4"
)

// outcome classes a request in the log and the metrics.
type outcome string

const (
	outcomeOK         outcome = "ok"
	outcomeBadRequest outcome = "bad_request" // the request itself is malformed
	outcomeInvalid    outcome = "invalid"     // the tool cannot take the input
	outcomeRefused    outcome = "refused"
	outcomeNoAddress  outcome = "no_address"
	outcomeForeign    outcome = "foreign_origin"
	outcomeDenied     outcome = "denied_client" // of DENY_CLIENTS_FILE
	outcomeToken      outcome = "token"         // another place without its token
	outcomeNotFound   outcome = "not_found"
	outcomeMethod     outcome = "method_not_allowed"
	outcomeTooLarge   outcome = "too_large"
	outcomeMediaType  outcome = "media_type"
	outcomeNotEnabled outcome = "not_enabled"
	outcomeLimited    outcome = "limited"
	outcomeBusy       outcome = "busy"
	outcomeUpstream   outcome = "upstream" // a target or provider failed
	outcomeTimeout    outcome = "timeout"  // a target or provider did not answer in time
	// What this service leans on itself failed, or was late: its resolver, the worker.
	outcomeDependency        outcome = "dependency"
	outcomeDependencyTimeout outcome = "dependency_timeout"
	outcomeShortage          outcome = "shortage"      // this host lacks files, ports, memory or a route
	outcomeProviderWait      outcome = "provider_wait" // a provider's Retry-After
	outcomeCanceled          outcome = "canceled"      // the client went away
	outcomeLeaving           outcome = "leaving"       // this instance ended before
	outcomeInternal          outcome = "internal"
)

// problem is a failure as the outside sees it: a status and one sentence, of a row of fault.Rows.
type problem struct {
	status     int
	outcome    outcome
	code       string
	args       finding.Args
	allow      string        // of a 405
	field      string        // of a 400: the member of the body that the sentence is about, where it is about one
	retryAfter time.Duration // 0 where there is nothing to say
	rule       fault.Rule    // what refused, for the metrics alone
	cause      error         // for the log alone
}

func (p *problem) Error() string { return p.sentence() }

// sentence is what the client reads.
func (p *problem) sentence() string { return plain(fault.Rows.Sentence(p.code, p.args)) }

// wait is Retry-After in whole seconds, rounded up; empty where there is nothing to say.
func (p *problem) wait() string {
	if p.retryAfter <= 0 {
		return ""
	}
	return strconv.FormatInt(int64((p.retryAfter+time.Second-1)/time.Second), 10)
}

// The failures of the edge itself. Those of the tools come as *fault.Error.
var (
	errNotFound      = newProblem(http.StatusNotFound, outcomeNotFound, "NOT_FOUND")
	errForeignOrigin = newProblem(http.StatusForbidden, outcomeForeign, "FOREIGN_ORIGIN")
	errMediaType     = newProblem(http.StatusUnsupportedMediaType, outcomeMediaType, "REQUEST_MEDIA_TYPE")
	errCompressed    = newProblem(http.StatusUnsupportedMediaType, outcomeMediaType, "REQUEST_BODY_COMPRESSED")
	errTooLarge      = newProblem(http.StatusRequestEntityTooLarge, outcomeTooLarge, "REQUEST_BODY_TOO_LARGE")
	errManyFields    = newProblem(http.StatusRequestHeaderFieldsTooLarge, outcomeTooLarge, "REQUEST_HEADERS_TOO_MANY")
	errBodySlow      = newProblem(http.StatusRequestTimeout, outcomeBadRequest, "REQUEST_BODY_SLOW")
	errBodyBroken    = badRequest("REQUEST_BODY_UNREADABLE")
)

// ErrLeaving is the cause with which main ends the requests that are left where SHUTDOWN_TIMEOUT is almost over.
var ErrLeaving error = &problem{status: http.StatusServiceUnavailable, outcome: outcomeLeaving,
	code:       "RESTARTING",
	retryAfter: 5 * time.Second}

func newProblem(status int, class outcome, code string) *problem {
	return &problem{status: status, outcome: class, code: code}
}

func badRequest(code string) *problem {
	return newProblem(http.StatusBadRequest, outcomeBadRequest, code)
}

func methodNotAllowed(allow string) *problem {
	return &problem{status: http.StatusMethodNotAllowed, outcome: outcomeMethod, allow: allow,
		code: "METHOD_NOT_ALLOWED", args: finding.Args{"allowed": allow}}
}

const codeInternal = "INTERNAL_ERROR"

// problemOf is the one table from failures to answers. What is not in it is a 500 that says nothing.
func problemOf(err error) *problem {
	var own *problem
	var known *fault.Error
	var framework *echo.HTTPError
	var panicked *parallel.Panic
	switch {
	case errors.As(err, &panicked):
		// A panic is unforeseen, whatever error it was called with.
		return internal(err)
	case errors.As(err, &own):
		return own
	case errors.As(err, &known):
		return ofFault(known)
	case errors.As(err, &framework):
		return ofFramework(framework)
	case errors.Is(err, web.ErrNotFound):
		return errNotFound
	case errors.Is(err, web.ErrMethod):
		return methodNotAllowed("GET, HEAD")
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{status: http.StatusGatewayTimeout, outcome: outcomeTimeout, code: "CHECK_OUT_OF_TIME", cause: err}
	}
	return internal(err)
}

func internal(cause error) *problem {
	return &problem{
		status: http.StatusInternalServerError, outcome: outcomeInternal, code: codeInternal, cause: cause,
	}
}

// fieldOf names the member of the body that a failure of step 6 or later is about.
func fieldOf(f *fault.Error) string {
	if f.Option != "" {
		return "options." + f.Option
	}
	return "input"
}

// ofFault maps a typed failure. Limits and slots always say when to come again; a provider may. Its sentence may
// repeat the visitor's host, so the cause alone is for the log.
func ofFault(f *fault.Error) *problem {
	p := &problem{code: f.Code, args: f.Args, retryAfter: f.RetryAfter, rule: f.Rule, cause: f.Cause}
	switch f.Kind {
	case fault.Invalid:
		p.status, p.outcome, p.field = http.StatusBadRequest, outcomeInvalid, fieldOf(f)
	case fault.Refused:
		p.status, p.outcome, p.field = http.StatusBadRequest, outcomeRefused, fieldOf(f)
	case fault.NoAddress:
		p.status, p.outcome, p.field = http.StatusBadRequest, outcomeNoAddress, fieldOf(f)
	case fault.NotEnabled:
		p.status, p.outcome = http.StatusNotImplemented, outcomeNotEnabled
	case fault.Limited:
		p.status, p.outcome, p.retryAfter = http.StatusTooManyRequests, outcomeLimited, max(f.RetryAfter, time.Second)
	case fault.Busy:
		p.status, p.outcome, p.retryAfter = http.StatusServiceUnavailable, busyBy(f.Rule), max(f.RetryAfter, time.Second)
	case fault.Upstream:
		p.status, p.outcome = http.StatusBadGateway, failedBy(f, outcomeUpstream, outcomeDependency)
	case fault.Timeout:
		p.status, p.outcome = http.StatusGatewayTimeout, failedBy(f, outcomeTimeout, outcomeDependencyTimeout)
	default:
		return internal(f)
	}
	return p
}

// busyBy is the cause of a 503: no slot of this service, a shortage of this host, or a provider's Retry-After.
func busyBy(r fault.Rule) outcome {
	switch r {
	case fault.RuleShortage:
		return outcomeShortage
	case fault.RuleProviderWait:
		return outcomeProviderWait
	}
	return outcomeBusy
}

// failedBy is the outcome by whose fault it is: this service's own, or that of a target or provider.
func failedBy(f *fault.Error, theirs, own outcome) outcome {
	switch {
	case f.Rule == fault.RuleShortage:
		return outcomeShortage
	case f.Local:
		return own
	}
	return theirs
}

// ofFramework maps what the web framework refuses by itself.
func ofFramework(e *echo.HTTPError) *problem {
	switch {
	case e.Code == http.StatusNotFound:
		return errNotFound
	case e.Code >= 400 && e.Code < 500:
		return &problem{status: e.Code, outcome: outcomeBadRequest, code: "REQUEST_UNCLEAR",
			cause: e}
	}
	return internal(e)
}
