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
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"
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

	why     finding.Args // the code of the reason, and its arguments
	untried error        // the limit or the shortage that kept this service from trying, else nil
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
	addresses := slices.Concat(resolution.V4[:min(len(resolution.V4), addressesPerFamily)],
		resolution.V6[:min(len(resolution.V6), addressesPerFamily)])
	ctx = progress.Know(ctx, progress.Known{DNSMs: progress.Milliseconds(resolution.Duration)})
	tried := make([]attempt, len(addresses))
	failures := make([]error, len(addresses))
	var attempts parallel.Group
	for i, addr := range addresses {
		attempts.Go(func() {
			tried[i], failures[i] = p.try(ctx, netip.AddrPortFrom(addr, to.Port))
			if failures[i] == nil {
				progress.Report(ctx, "address", tried[i].Address, tried[i])
			}
		})
	}
	attempts.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := errors.Join(failures...); err != nil {
		return Result{}, err
	}
	result := summarize(to, tried)
	result.Untried = len(resolution.V4) + len(resolution.V6) - len(addresses)
	if i := slices.IndexFunc(tried, func(a attempt) bool { return a.untried != nil }); i >= 0 && !result.Reachable {
		return Result{}, tried[i].untried // the port may be open at the address that was not tried
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

// try connects once. The kernel repeats a lost SYN after one and after three seconds, which is the retry that keeps one
// lost packet from reading as a filter; a second connect would only ask for the same again. An error is a refusal by
// the address policy, or an unexpected one.
func (p checker) try(ctx context.Context, to netip.AddrPort) (attempt, error) {
	out := attempt{Address: to.Addr().String(), Family: workerapi.Family(to.Addr())}
	if !p.egress.Families().Has(to.Addr()) {
		return out.end(portSkipped, noFamilyHere[out.Family], nil), nil
	}
	if err := p.egress.Admit(ctx, to); err != nil {
		return out.keptFrom(err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	ctx = progress.Know(ctx, progress.Known{Address: out.Address})
	start := time.Now()
	conn, err := p.egress.DialAdmitted(ctx, to)
	took := format.Milliseconds(time.Since(start))
	if err == nil {
		_ = conn.Close()
		out.State, out.ResponseTimeMs = portOpen, &took
		return out, nil
	}
	if fault.Is(err, fault.Busy) {
		return out.keptFrom(err)
	}
	state, reason, known := readFailure(err)
	if !known {
		return out, err
	}
	if state == portClosed {
		out.ResponseTimeMs = &took
	}
	return out.end(state, reason, nil), nil
}

// keptFrom ends an attempt that a limit of the address or a shortage of this host allows no dial for. Any other error
// is that of the run.
func (a attempt) keptFrom(err error) (attempt, error) {
	why, is := errors.AsType[*fault.Error](err)
	if !is || why.Kind != fault.Limited && why.Kind != fault.Busy {
		return a, err
	}
	a.untried = why
	return a.end(portSkipped, why.Code, why.Args), nil
}

// end sets the state of an address, and the reason: a row and its arguments.
func (a attempt) end(state, reason string, args finding.Args) attempt {
	a.State, a.why = state, finding.Args{"reason": reason}.With(args)
	a.Reason = new(rows.Sentence(reason, args))
	return a
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

// noFamilyHere are the codes of package fault for an address family that this service lacks.
var noFamilyHere = map[int]string{4: "NO_IPV4_HERE", 6: "NO_IPV6_HERE"}

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
