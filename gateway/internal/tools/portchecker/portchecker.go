// Package portchecker is the tool port-checker. It reports whether a TCP port answers, address by address. All are
// tried at once, each on its own: racing them would hide that one family is broken.
package portchecker

import (
	"cmp"
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"syscall"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// The states of a port, best first. skipped stands outside the order: nothing was learnt.
const (
	portOpen        = "open"
	portClosed      = "closed"
	portFiltered    = "filtered"
	portUnreachable = "unreachable"
	portSkipped     = "skipped"
)

var stateOrder = []string{portOpen, portClosed, portFiltered, portUnreachable, portSkipped}

// addressesPerFamily bounds the addresses of each family that are tried.
const addressesPerFamily = 2

// Result is what port-checker found: the best state, the address that gave it, and every address by itself.
type Result struct {
	finding.Report
	Host           string    `json:"host"`
	Port           uint16    `json:"port" wire:"min=1"`
	Reachable      bool      `json:"reachable"`
	State          string    `json:"state" wire:"enum=open|closed|filtered|unreachable"`
	Address        string    `json:"address"`
	ResponseTimeMs *float64  `json:"responseTimeMs"`
	Addresses      []attempt `json:"addresses" wire:"len=0..4"`
	Untried        int       `json:"untried"` // addresses of the name beyond those
	Service        *string   `json:"service"`
}

// attempt is the state of the port at one address. ResponseTimeMs is the time of an answer, whether yes or no.
type attempt struct {
	Address        string   `json:"address"`
	Family         int      `json:"family" wire:"enum=4|6"`
	State          string   `json:"state" wire:"enum=open|closed|filtered|unreachable|skipped"`
	ResponseTimeMs *float64 `json:"responseTimeMs"`
	Reason         *string  `json:"reason"`

	why finding.Args // the code of the reason, and its arguments
}

// checker is one way of checking; timeout is for each address.
type checker struct {
	egress  *egress.Client
	timeout time.Duration
}

// New makes the tool; client looks the target up and connects.
func New(client *egress.Client) tool.Tool {
	check := checker{egress: client, timeout: egress.ConnectTimeout}
	return tool.New(tool.Spec[target.HostPort, Result]{
		Slug:    "port-checker",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.HostPort, error) {
			return target.ParseHostPort(in.Text, 0)
		},
		Run:   check.run,
		About: func(to target.HostPort, r Result) bool { return r.Host == to.Host.String() && r.Port == to.Port },
		Steps: map[string]reflect.Type{
			"address": reflect.TypeFor[attempt](),
		},
	})
}

func (p checker) run(ctx context.Context, to target.HostPort) (Result, error) {
	resolution, err := p.egress.Resolve(ctx, to.Host)
	if err != nil {
		return Result{}, err
	}
	run := endpoints.Run(ctx, resolution, endpoints.Policy{PerFamily: addressesPerFamily},
		func(ctx context.Context, address netip.Addr) dialled {
			return p.dial(ctx, netip.AddrPortFrom(address, to.Port))
		},
		func(run *endpoints.Checks[time.Duration], i int) {
			if a, err := describe(run.Results[i]); err == nil {
				progress.Report(ctx, "address", a.Address, a)
			}
		})
	defer run.Stop()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(run.Results, func(a, b dialled) int { return a.Address.BitLen() - b.Address.BitLen() })
	var tried []attempt
	var prevented error
	for _, one := range run.Results {
		a, err := describe(one)
		if err != nil {
			return Result{}, err
		}
		if one.State == endpoints.Busy || fault.Is(one.Err, fault.Limited) {
			prevented = cmp.Or(prevented, one.Err)
		}
		tried = append(tried, a)
	}
	result := summarize(to, tried)
	result.Untried = len(resolution.V4) + len(resolution.V6) - len(tried)
	if prevented != nil && !result.Reachable {
		return Result{}, prevented // the port may be open at the address that was not tried
	}
	result.Report = result.report(to.Host)
	return result, nil
}

// summarize puts the best address on top; of several equally good ones the fastest, then the first.
func summarize(to target.HostPort, tried []attempt) Result {
	best := slices.MinFunc(tried, func(a, b attempt) int {
		order := slices.Index(stateOrder, a.State) - slices.Index(stateOrder, b.State)
		if order != 0 || a.ResponseTimeMs == nil || b.ResponseTimeMs == nil {
			return order
		}
		return cmp.Compare(*a.ResponseTimeMs, *b.ResponseTimeMs)
	})
	result := Result{
		Host:           to.Host.String(),
		Port:           to.Port,
		Reachable:      best.State == portOpen,
		State:          best.State,
		Address:        best.Address,
		ResponseTimeMs: best.ResponseTimeMs,
		Addresses:      tried,
		Service:        serviceName(to.Port),
	}
	if result.State == portSkipped {
		result.State = portUnreachable
	}
	return result
}

// dialled is the attempt to connect to an address, and how long it took.
type dialled = endpoints.Result[time.Duration]

// dial connects once. The kernel repeats a lost SYN after one and after three seconds, so that one lost packet does not
// read as a filter; a second connect would only ask for the same again.
func (p checker) dial(ctx context.Context, to netip.AddrPort) dialled {
	if err := p.egress.Admit(ctx, to); err != nil {
		return dialled{State: endpoints.StateOf(err), Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	ctx = progress.Know(ctx, progress.Known{Address: to.Addr().String()})
	start := time.Now()
	conn, err := p.egress.DialAdmitted(ctx, to)
	took := time.Since(start)
	if err == nil {
		_ = conn.Close()
	}
	return dialled{State: endpoints.StateOf(err), Value: took, Err: err}
}

// describe returns the state of the port at one address. The error is a refusal by the address policy, or an unexpected
// one.
func describe(one dialled) (attempt, error) {
	a := attempt{Address: one.Address.String(), Family: workerapi.Family(one.Address), State: portOpen}
	var args finding.Args
	var reason string
	switch one.State {
	case endpoints.Up:
		a.ResponseTimeMs = new(format.Milliseconds(one.Value))
		return a, nil
	case endpoints.Skipped, endpoints.Busy:
		a.State = portSkipped
		reason, args = fault.Reason(one.Err)
	default:
		var known bool
		if a.State, reason, known = readFailure(one.Err); !known {
			return a, one.Err
		}
		if a.State == portClosed {
			a.ResponseTimeMs = new(format.Milliseconds(one.Value))
		}
	}
	a.Reason, a.why = new(rows.Sentence(reason, args)), finding.Args{"reason": reason}.With(args)
	return a, nil
}

// readFailure reads a failed connect. Not known are refusals by the policy, which say nothing about the port.
func readFailure(err error) (state, reason string, known bool) {
	if _, refused := errors.AsType[*fault.Error](err); refused {
		return "", "", false
	}
	for _, f := range connectFailures {
		if errors.Is(err, f.errno) {
			return f.state, f.reason, true
		}
	}
	if fault.IsTimeout(err) {
		return portFiltered, codeSilent, true
	}
	return "", "", false
}

// connectFailures are the errors of connect(2) that describe the target or the way there.
var connectFailures = []struct {
	errno         syscall.Errno
	state, reason string
}{
	{syscall.ECONNREFUSED, portClosed, codeRefused},
	{syscall.ECONNRESET, portClosed, codeReset},
	{syscall.ETIMEDOUT, portFiltered, codeSilent},
	{syscall.EHOSTUNREACH, portUnreachable, codeNoHost},
	{syscall.EHOSTDOWN, portUnreachable, codeHostDown},
	{syscall.ENETUNREACH, portUnreachable, codeNoRoute},
	{syscall.EACCES, portUnreachable, codeBlocked},
	{syscall.EPERM, portUnreachable, codeBlocked},
	{syscall.ENOPROTOOPT, portUnreachable, codeNoTCP},
	{syscall.EPROTO, portUnreachable, codeInvalid},
}
