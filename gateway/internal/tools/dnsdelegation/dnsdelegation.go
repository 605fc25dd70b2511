// Package dnsdelegation is the tool dns-delegation. It walks from the root of the DNS down to a name and queries the
// zones' own servers, never a resolver: what the parents and the zones say, and what each server answers. A domain that
// is not registered or whose servers fail is its result and never an error.
//
// The walk (walk.go) enters one zone after the other. While it goes on, the servers of each of the name's own zones are
// checked (check.go), the addresses of those elsewhere are looked up (lookup.go), and what a validator needs is
// collected. If only one address answers for a zone, what does not decide the verdict is queried last, since few
// messages go to one address. All messages go through run.send (ask.go), which counts them (budget.go). When all is
// done the zones are validated (validate.go), judged (judge.go) and described (describe.go); a stream has the first
// faults before that (conclude.go).
package dnsdelegation

import (
	"context"
	_ "embed" // openapi.yaml
	"reflect"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

//go:embed openapi.yaml
var openAPI string

// New makes the tool.
func New(c Config) tool.Tool { return newTool(c, defaultTimes) }

func newTool(c Config, t times) tool.Tool {
	return tool.New(tool.Spec[target.Domain, Result]{
		Slug:    "dns-delegation",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.Domain, error) { return target.ParseDomain(in.Text, true) },
		Run: func(ctx context.Context, domain target.Domain) (Result, error) {
			r := newRun(ctx, c, t)
			found, err := r.check(ctx, dns.CanonicalName(domain.String()))
			if err != nil {
				return Result{}, err
			}
			result := r.result(found, r.validated(ctx, found))
			for _, z := range result.Zones {
				z.Records = []string{}
				progress.Report(ctx, "zone", z.Zone, z)
			}
			return result, nil
		},
		About: func(d target.Domain, r Result) bool { return r.Domain == d.String() },
		Steps: map[string]reflect.Type{
			"server": reflect.TypeFor[serverResult](),
			"zone":   reflect.TypeFor[zoneResult](),
		},
	})
}

// The values of Result.Delegation.
const (
	delegationOK   = "ok"
	delegationWarn = "warn"
	delegationFail = "fail"
)

// result puts together what a run found out.
func (r *run) result(found outcome, c *chain) Result {
	sent, cut := r.budget.spent()
	verdict := c.verdict(found)
	result := Result{
		Domain: trimmed(found.name), Delegation: delegationOK, DNSSEC: string(verdict.Status),
		Findings: r.judge(found, c),
		Zones:    []zoneResult{}, Answers: c.answerRows(found.name, found.answers), Aliases: []aliasResult{},
		TrustAnchors: trustAnchors{Source: r.Anchors.Source, Date: format.TextOrNull(r.Anchors.Date)},
		Queries:      sent, Complete: !cut,
	}
	listed := make(map[string]bool)
	for _, z := range found.way.zones {
		listed[z.name] = true
		result.Zones = append(result.Zones, z.describe(r, c, true))
	}
	result.addDenial(found.way)
	for _, a := range found.aliases {
		one := aliasResult{Name: trimmed(a.name), Target: trimmed(a.target), Zones: []zoneResult{}}
		for _, z := range a.way.zones {
			if !listed[z.name] {
				listed[z.name] = true
				one.Zones = append(one.Zones, z.describe(r, c, true))
			}
		}
		result.Aliases = append(result.Aliases, one)
		result.Answers = append(result.Answers, c.answerRows(a.target, a.answers)...)
	}
	result.conclude(found, verdict)
	result.bound()
	return result
}

// addDenial adds the proof that the name has no delegation to the registry's zone.
func (r *Result) addDenial(way descent) {
	if way.denied == nil {
		return
	}
	z := &r.Zones[len(r.Zones)-1]
	z.Denial = denialOf(way.denied)
	for _, rr := range way.denied.Ns {
		z.Records = append(z.Records, lineOf(rr))
	}
}

// conclude derives the conclusion and the reason from the findings, which are sorted, and the verdict on DNSSEC.
func (r *Result) conclude(found outcome, verdict dnssec.Verdict) {
	worst := slices.IndexFunc(r.Findings, func(f located) bool { return f.Severity != finding.Info })
	for _, f := range r.Findings {
		switch {
		case strings.HasPrefix(f.Code, "DNSSEC_") || f.Severity == finding.Info:
		case f.Severity == finding.Fail && f.Code != codeNameMissing: // the zone itself works then
			r.Delegation = delegationFail
		case r.Delegation == delegationOK:
			r.Delegation = delegationWarn
		}
	}
	z := found.way.last()
	args := finding.Args{"host": shown(found.name), "both": len(z.hosts) == 2}
	if len(z.hosts) != 2 {
		args["servers"] = len(z.hosts)
	}
	switch {
	case worst >= 0:
		r.Conclusion = rows.ConcludeWith(r.Findings[worst].Finding)
	case found.way.err != nil:
		r.Delegation = delegationWarn
		r.Conclusion = rows.Conclude(codeUnknown, unknownArgs(found.name, z))
	case len(z.hosts) == 0:
		r.Conclusion = rows.Conclude(codeRegistry,
			finding.Args{"host": args["host"], "signed": verdict.Status == dnssec.Secure})
	case verdict.Reason != nil && slices.Contains(ownBounds, verdict.Reason.Code):
		r.Conclusion = rows.Conclude(codeTooMuch, args)
	case verdict.Status == dnssec.Secure:
		r.Conclusion = rows.Conclude(codeSecure, args)
	default:
		r.Conclusion = rows.Conclude(codeHealthy, args)
	}
	if worst < 0 && verdict.Reason != nil {
		code := codeOf(verdict.Reason.Code)
		worst = slices.IndexFunc(r.Findings, func(f located) bool { return f.Code == code })
	}
	if worst >= 0 {
		f := r.Findings[worst]
		r.Reason = &reason{Code: f.Code, Zone: *f.Zone, Message: f.Message}
	}
}

// ownBounds are the reasons of this service's own bounds.
var ownBounds = []dnssec.Code{dnssec.SignatureBudget, dnssec.HashBudget}

func unknownArgs(name string, z *zone) finding.Args {
	reason := reasonNotQueried
	if z.registry {
		reason = reasonUnreached
	}
	return finding.Args{"host": shown(name), "zone": zoneShown(z.name), "reason": reason}
}
