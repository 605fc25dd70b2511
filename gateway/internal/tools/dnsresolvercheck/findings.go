package dnsresolvercheck

import (
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
)

// report returns the conclusion and the findings.
func (c query) report(r Result) finding.Report {
	report, domain := rows.Draft(), c.domain.String()
	code, args := c.conclude(r)
	switch code {
	case codeMixedPresence:
		if slices.ContainsFunc(r.Resolvers, func(a resolverAnswer) bool { return a.lacks() && !a.FilteredSuspected }) {
			report.Add(code, "", args) // what is filtered is not missing
		}
	case codeConflict, codeOneAnswered, codeNotCompared:
		report.Add(code, "", args)
	case codeOwnOther:
		report.Add(code, "", finding.Args{"resolvers": args["resolvers"]})
	case codeUnresolvable, codeNobodyAnswered, codeAgreeAbsent:
		report.Add(code, finding.Resolution(domain), args)
	}
	if r.Changing != nil {
		report.Add(codeChange, "", c.changeArgs(r))
	}
	if r.Cause != nil {
		report.Add(codeDenial, finding.Denials(domain), finding.Args{"domain": domain, "record": r.Cause.Record})
	}
	if r.Authoritative.differ(c) {
		report.Add(codeOwnDiffer, "", c.disagreement(r.Authoritative.answered()).args)
	}
	c.reportFailures(report, r)
	if args := c.blocked(r); args != nil {
		report.Add(codeFiltered, "", args)
	}
	if names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.Reason != nil }); names != nil {
		report.Add(codeNotAsked, "", finding.Args{"resolvers": names})
	}
	return report.Conclude(code, args)
}

// failing reports whether a cause that resolvers give left nothing to compare.
func (r Result) failing() bool {
	return r.Failure != nil && (r.Status == statusUnavailable || r.Status == statusInconclusive)
}

// conclude returns the code of the conclusion and its arguments.
func (c query) conclude(r Result) (code string, args finding.Args) {
	switch {
	case r.failing() && *r.Failure == failureUnreachable:
		return codeUnreachable, c.failureArgs(failingFor(r.Resolvers, *r.Failure), *r.Failure)
	case r.failing():
		return codeDNSSEC, c.failureArgs(failingFor(r.Resolvers, *r.Failure), *r.Failure)
	case c.blocked(r) != nil:
		return codeFiltered, c.blocked(r)
	case r.Changing != nil:
		return codeChange, c.changeArgs(r)
	case r.Status == statusUnavailable && slices.ContainsFunc(r.Resolvers, servFails):
		return codeUnresolvable, r.ownServersToo()
	case r.Status == statusUnavailable:
		return codeNobodyAnswered, r.ownServersToo()
	case r.Status == statusAgree && r.Authoritative.differ(c):
		return codeOwnDiffer, c.disagreement(r.Authoritative.answered()).args
	}
	agreed := c.agreement(r)
	if other := listed(matching(r.Resolvers, false)); r.Status == statusAgree && other != nil {
		return codeOwnOther, agreed.args.With(finding.Args{"agreed": agreed.code, "resolvers": other})
	}
	return agreed.code, agreed.args
}

// blocked returns the resolvers that keep the name from their users, and the answer of the first others that have one;
// nil if none does.
func (c query) blocked(r Result) finding.Args {
	names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.FilteredSuspected })
	if names == nil {
		return nil
	}
	args := finding.Args{"domain": c.domain.String(), "resolvers": names}
	free := func(a resolverAnswer) bool { return a.has() && !a.FilteredSuspected }
	if i := slices.IndexFunc(r.Resolvers, free); i >= 0 {
		values := r.Resolvers[i].Values
		args = args.WithList("values", mostValues, values)
		same := func(a resolverAnswer) bool { return free(a) && slices.Equal(a.Values, values) }
		args["others"] = namesOf(r.Resolvers, same)
	}
	return args
}

// mostValues bounds the records that a sentence lists.
const mostValues = 2

// reportFailures reports on resolvers that failed. A cause that leaves others to compare is broken for some.
func (c query) reportFailures(report *finding.Draft, r Result) {
	for _, cause := range []struct{ name, all, some string }{
		{failureDNSSEC, codeDNSSEC, codeDNSSECSome}, {failureUnreachable, codeUnreachable, codeUnreachableSome},
	} {
		who := failingFor(r.Resolvers, cause.name)
		if len(who) == 0 {
			continue
		}
		code := cause.some
		if r.failing() && *r.Failure == cause.name {
			code = cause.all
		}
		report.Add(code, finding.Resolution(c.domain.String()), c.failureArgs(who, cause.name))
	}
	for _, a := range r.Resolvers {
		if args := a.failed(); args != nil {
			report.Add(codeResolverFailed, "", args)
		}
	}
}

func (a resolverAnswer) has() bool { return a.Outcome == outcomeAnswer }

func (a resolverAnswer) lacks() bool { return a.conclusive() && !a.has() }

func servFails(a resolverAnswer) bool {
	return a.ErrorCode != nil && *a.ErrorCode == dnsclient.CodeServFail
}

// older returns the resolvers that may still hold the older answer, and for how long.
func (r Result) older() finding.Args {
	return finding.Args{"time": r.Changing.Seconds, "older": namesOf(r.Resolvers, func(a resolverAnswer) bool {
		return slices.Contains(r.Changing.Resolvers, a.ID)
	})}
}

func (c query) changeArgs(r Result) finding.Args {
	return r.older().With(finding.Args{"domain": c.domain.String(), "type": c.recordType})
}

// ownServersToo says what the domain's own servers did when no resolver had an answer; nothing if this service could
// not query any.
func (r Result) ownServersToo() finding.Args {
	switch {
	case r.Authoritative == nil:
		return nil
	case len(r.Authoritative.answered()) > 0:
		return finding.Args{"own": true}
	case slices.ContainsFunc(r.Authoritative.Servers, serverAnswer.failed):
		return finding.Args{"neither": true}
	}
	return nil
}

// differ reports whether the domain's own servers hold different records where all should hold the same. Different
// addresses are usual, but not that some servers lack them.
func (a *authority) differ(c query) bool {
	answered := a.answered()
	lacks := func(s serverAnswer) bool { return s.Outcome != outcomeAnswer }
	return len(answered) > 0 && !a.Agreed && (!c.answeredByPlace() || slices.ContainsFunc(answered, lacks))
}
