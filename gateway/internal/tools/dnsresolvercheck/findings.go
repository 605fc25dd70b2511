package dnsresolvercheck

import (
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codeAgree           = "RESOLVERS_AGREE"
	codeAgreeAbsent     = "RESOLVERS_AGREE_ON_ABSENCE"
	codePartial         = "SOME_RESOLVERS_FAILED"
	codeVariation       = "ANSWERS_VARY"
	codeMixedPresence   = "MISSING_AT_SOME_RESOLVERS"
	codeConflict        = "RESOLVERS_CONFLICT"
	codeChange          = "CHANGE_IN_PROGRESS"
	codeOneAnswered     = "ONLY_ONE_ANSWERED"
	codeNotCompared     = "NOTHING_TO_COMPARE"
	codeUnresolvable    = "UNRESOLVABLE"
	codeNobodyAnswered  = "NO_RESOLVER_ANSWERED"
	codeDNSSEC          = "DNSSEC_FAILS"
	codeDNSSECSome      = "DNSSEC_FAILS_AT_SOME_RESOLVERS"
	codeUnreachable     = "NAME_SERVERS_UNREACHABLE"
	codeUnreachableSome = "NAME_SERVERS_UNREACHABLE_FOR_SOME"
	codeOwnDiffer       = "NAME_SERVERS_DIFFER"
	codeOwnOther        = "NAME_SERVERS_ANSWER_DIFFERENTLY"
	codeFiltered        = "FILTERED"
	codeResolverFailed  = "RESOLVER_FAILED"
	codeNotAsked        = "RESOLVER_NOT_ASKED"
	codeDenial          = "DENIAL_CONTRADICTS"
)

// Messages that are those of a conclusion and of a finding. That of a DNSSEC failure and of servers out of reach take
// the domain, the resolvers and the reasons.
const (
	messageDNSSEC      = "%[1]s fails DNSSEC validation at %[2]s: %[3]s."
	messageUnreachable = "The name servers of %[1]s are out of reach for %[2]s: %[3]s."
	messageNoAnswer    = "No resolver could answer%s."
	messageChange      = "The %s records of %s are being changed: %s may still hold the older answer, for at most %s."
)

const extendedErrors = "https://www.rfc-editor.org/rfc/rfc8914"

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeAgree:          {State: finding.OK, Message: "%s"},
		codeAgreeAbsent:    {State: finding.Noted, Message: "%s"},
		codePartial:        {State: finding.Warned, Message: "%s"},
		codeVariation:      {State: finding.Noted, Message: "%s"},
		codeMixedPresence:  {State: finding.Warned, Message: "%s"},
		codeConflict:       {State: finding.Failed, Message: "%s"},
		codeOwnDiffer:      {State: finding.Warned, Message: "%s"},
		codeOwnOther:       {State: finding.Noted, Message: "%s"},
		codeChange:         {State: finding.Noted, Message: messageChange},
		codeOneAnswered:    {State: finding.Warned, Message: "Of the four resolvers only %s answered."},
		codeNotCompared:    {State: finding.Unknown, Message: "Only %s answered, so there is nothing to compare it with."},
		codeUnresolvable:   {State: finding.Failed, Message: messageNoAnswer},
		codeNobodyAnswered: {State: finding.Unknown, Message: messageNoAnswer},
		codeDNSSEC:         {State: finding.Failed, Message: messageDNSSEC},
		codeUnreachable:    {State: finding.Failed, Message: messageUnreachable},
	},
	Findings: map[string]finding.Entry{
		codeDNSSEC: {Severity: finding.Fail, Group: finding.Broken, Weight: 92, Message: messageDNSSEC,
			Remedy:    "Sign the zone again, or have the DS record at the registry match a key of the zone.",
			Reference: extendedErrors},
		codeUnreachable: {Severity: finding.Fail, Group: finding.Broken, Weight: 92, Message: messageUnreachable,
			Remedy: "Check that the name servers run, that firewalls let port 53 through over UDP and TCP, and that the " +
				"registry lists the right ones.", Reference: extendedErrors},
		codeUnresolvable: {Severity: finding.Fail, Group: finding.Broken, Weight: 90, Message: messageNoAnswer,
			Remedy: "Check that the domain's name servers answer, and that its DNSSEC signatures are valid."},
		codeDNSSECSome: {Severity: finding.Warn, Group: finding.Broken, Weight: 80, Message: messageDNSSEC,
			Remedy:    "Sign the zone again, or have the DS record at the registry match a key of the zone.",
			Reference: extendedErrors},
		codeConflict: {Severity: finding.Fail, Group: finding.Broken, Weight: 75,
			Message: "The resolvers give different %[2]s records for %[1]s.",
			Remedy:  "Check that all name servers of the domain have the same version of the zone."},
		codeUnreachableSome: {Severity: finding.Warn, Group: finding.Broken, Weight: 70, Message: messageUnreachable,
			Remedy: "Check that firewalls let port 53 through over UDP and TCP, from everywhere.", Reference: extendedErrors},
		codeMixedPresence: {Severity: finding.Warn, Group: finding.Broken, Weight: 65,
			Message: "%[1]s has %[2]s records at %[3]s, and none at %[4]s."},
		codeDenial: {Severity: finding.Warn, Group: finding.Broken, Weight: 68,
			Message: "The zone of %[1]s denies by its own record what it has: “%[2]s”. Resolvers that answer from such " +
				"records do not find it.",
			Remedy:    "Sign the zone again, so that its NSEC or NSEC3 records match its names.",
			Reference: "https://www.rfc-editor.org/rfc/rfc8198#section-5"},
		codeOwnDiffer: {Severity: finding.Warn, Group: finding.Broken, Weight: 62,
			Message: "The name servers of %[1]s do not have the same %[2]s records.",
			Remedy: "Check that the changed zone has reached all of them: the serial number in the SOA record must increase " +
				"with every change.", Reference: "https://www.rfc-editor.org/rfc/rfc1034#section-4.3.5"},
		codeFiltered: {Severity: finding.Warn, Group: finding.Note, Weight: 40,
			Message: "%[2]s may be filtering %[1]s.", Reference: extendedErrors},
		codeNobodyAnswered: {Severity: finding.Warn, Group: finding.Note, Weight: 30, Message: messageNoAnswer},
		codeOneAnswered: {Severity: finding.Warn, Group: finding.Note, Weight: 20,
			Message: "Only one of the four resolvers gave an answer for %s."},
		codeResolverFailed: {Severity: finding.Warn, Group: finding.Note, Weight: 15, Message: "%s %s."},
		codeChange:         {Severity: finding.Info, Group: finding.Note, Weight: 20, Message: messageChange},
		codeOwnOther: {Severity: finding.Info, Group: finding.Note, Weight: 15,
			Message: "The domain's own name servers answer differently from %s."},
		codeAgreeAbsent: {Severity: finding.Info, Group: finding.Note, Weight: 10, Message: "%s"},
		codeNotAsked: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "%s could not be asked: this service " + fault.ShortagePhrase + "."},
	},
}

// conclusions are the codes of the statuses that are concluded in the words of agreement.
var conclusions = map[string]string{
	statusAgree: codeAgree, statusAgreeAbsent: codeAgreeAbsent, statusPartial: codePartial, statusVariation: codeVariation,
	statusMixedPresence: codeMixedPresence, statusConflict: codeConflict,
}

// report returns the conclusion and the findings.
func (c query) report(r Result) finding.Report {
	var found []finding.Finding
	add := func(code string, args ...any) { found = append(found, catalogue.Find(code, args...)) }
	domain := c.domain.String()

	conclusion := c.conclude(r)
	switch code := conclusion.Code; code {
	case codeConflict:
		add(code, domain, c.recordType)
	case codeMixedPresence:
		if !slices.ContainsFunc(r.Resolvers, func(a resolverAnswer) bool { return a.lacks() && !a.FilteredSuspected }) {
			break // what is filtered is not missing
		}
		add(code, domain, c.recordType, namesOf(r.Resolvers, resolverAnswer.has), namesOf(r.Resolvers, resolverAnswer.lacks))
	case codeOneAnswered, codeNotCompared:
		add(codeOneAnswered, domain)
	case codeUnresolvable, codeNobodyAnswered:
		found = append(found, catalogue.Find(code, r.ownServersToo()).About(finding.Resolution(domain)))
	case codeAgreeAbsent:
		found = append(found, catalogue.Find(code, conclusion.Message).About(finding.Resolution(domain)))
	case codeOwnOther:
		add(code, listed(matching(r.Resolvers, false)))
	}
	if r.Changing != nil {
		add(codeChange, c.recordType, domain, r.older(), r.Changing.inWords())
	}
	if r.Cause != nil {
		found = append(found, catalogue.Find(codeDenial, domain, r.Cause.Record).About(finding.Denials(domain)))
	}
	if r.Authoritative.differ(c) {
		add(codeOwnDiffer, domain, c.recordType)
	}
	found = append(found, c.failureFindings(r)...)
	if names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.FilteredSuspected }); names != "" {
		add(codeFiltered, domain, names)
	}
	if names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.Reason != nil }); names != "" {
		add(codeNotAsked, names)
	}
	return finding.NewReport(conclusion, found...)
}

// failing reports whether a cause that resolvers give left nothing to compare.
func (r Result) failing() bool {
	return r.Failure != nil && (r.Status == statusUnavailable || r.Status == statusInconclusive)
}

func (c query) conclude(r Result) finding.Conclusion {
	switch {
	case r.failing():
		code := codeDNSSEC
		if *r.Failure == failureUnreachable {
			code = codeUnreachable
		}
		who := failingFor(r.Resolvers, *r.Failure)
		return catalogue.Conclude(code, c.domain, allOr(who), reasons(who, *r.Failure))
	case r.Changing != nil:
		return catalogue.Conclude(codeChange, c.recordType, c.domain, r.older(), r.Changing.inWords())
	case r.Status == statusUnavailable && slices.ContainsFunc(r.Resolvers, servFails):
		return catalogue.Conclude(codeUnresolvable, r.ownServersToo())
	case r.Status == statusUnavailable:
		return catalogue.Conclude(codeNobodyAnswered, r.ownServersToo())
	case r.Status == statusInconclusive && r.compared():
		return catalogue.Conclude(codeOneAnswered, namesOf(r.Resolvers, resolverAnswer.conclusive))
	case r.Status == statusInconclusive:
		return catalogue.Conclude(codeNotCompared, namesOf(r.Resolvers, resolverAnswer.conclusive))
	case r.Status == statusAgree && r.Authoritative.differ(c):
		return catalogue.Conclude(codeOwnDiffer, c.disagreement(r.Authoritative.answered()))
	case r.Status == statusAgree && len(matching(r.Resolvers, false)) > 0:
		return catalogue.Conclude(codeOwnOther, c.agreement(r)+" "+c.comparison(r))
	}
	return catalogue.Conclude(conclusions[r.Status], c.agreement(r))
}

// failureFindings are those on resolvers that failed. Causes that leave others to compare are broken for some.
func (c query) failureFindings(r Result) []finding.Finding {
	var found []finding.Finding
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
		f := catalogue.Find(code, c.domain, allOr(who), reasons(who, cause.name))
		found = append(found, f.About(finding.Resolution(c.domain.String())))
	}
	for _, a := range r.Resolvers {
		if !a.conclusive() && a.Reason == nil && a.failure() == "" {
			found = append(found, catalogue.Find(codeResolverFailed, a.Name, resolverFailures[*a.ErrorCode]))
		}
	}
	return found
}

func (a resolverAnswer) has() bool { return a.Outcome == outcomeAnswer }

func (a resolverAnswer) lacks() bool { return a.conclusive() && !a.has() }

func servFails(a resolverAnswer) bool {
	return a.ErrorCode != nil && *a.ErrorCode == dnsclient.CodeServFail
}

// allOr lists resolvers, or names all four.
func allOr(resolvers []resolverAnswer) string {
	if len(resolvers) == len(publicResolvers) {
		return "all four resolvers"
	}
	return listed(resolvers)
}

// older lists the resolvers that may still hold the older answer.
func (r Result) older() string {
	return namesOf(r.Resolvers, func(a resolverAnswer) bool { return slices.Contains(r.Changing.Resolvers, a.ID) })
}

// ownServersToo ends a sentence on resolvers without an answer with what the domain's own servers did. It is empty
// where this service could not query any.
func (r Result) ownServersToo() string {
	switch {
	case r.Authoritative == nil:
		return ""
	case len(r.Authoritative.answered()) > 0:
		return ", although the domain's own name servers did"
	case slices.ContainsFunc(r.Authoritative.Servers, serverAnswer.failed):
		return ", and neither could the domain's own name servers"
	}
	return ""
}

// differ reports whether the domain's own servers hold different records where all should hold the same. Different
// addresses are usual, but not that some servers lack them.
func (a *authority) differ(c query) bool {
	answered := a.answered()
	lacks := func(s serverAnswer) bool { return s.Outcome != outcomeAnswer }
	return len(answered) > 0 && !a.Agreed && (!c.answeredByPlace() || slices.ContainsFunc(answered, lacks))
}
