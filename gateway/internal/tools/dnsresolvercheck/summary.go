package dnsresolvercheck

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
)

// sentence is a row of the catalogue and its arguments; the zero sentence says nothing.
type sentence struct {
	code string
	args finding.Args
}

// summarize says what the status means here, who failed and why, how the answers compare with those of the domain's own
// servers, and who may be filtering.
func (c query) summarize(r Result) string {
	said := append(c.verdict(r), c.ownServers(r))
	if names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.Reason != nil }); names != nil {
		said = append(said, sentence{codeNotAsked, finding.Args{"resolvers": names}})
	}
	if names := namesOf(r.Resolvers, func(a resolverAnswer) bool { return a.FilteredSuspected }); names != nil {
		said = append(said, sentence{codeFilteredHere, finding.Args{"resolvers": names}})
	}
	var words []string
	for _, s := range said {
		if s.code != "" {
			words = append(words, rows.Sentence(s.code, s.args))
		}
	}
	return strings.Join(words, " ")
}

// verdict is the status, and why resolvers failed. If a failure has a cause in the domain, and no two answers are left
// to compare, that is all there is to say.
func (c query) verdict(r Result) []sentence {
	failures := c.failures(r.Resolvers)
	switch {
	case r.Status == statusUnavailable && r.Failure == nil:
		return []sentence{{codeNoneUsable, nil}}
	case r.Status == statusUnavailable:
		return failures
	case r.Status == statusInconclusive && r.Failure != nil:
		return append(failures, sentence{codeOnly, finding.Args{"only": namesOf(r.Resolvers, resolverAnswer.conclusive)}})
	}
	return append([]sentence{c.agreement(r)}, failures...)
}

// agreement says of what conclusive resolvers agree, or differ.
func (c query) agreement(r Result) sentence {
	answers := r.Resolvers
	args := finding.Args{"domain": c.domain.String(), "type": c.recordType}
	differing := args.With(finding.Args{"changing": r.Changing != nil})
	switch r.Status {
	case statusInconclusive:
		only := finding.Args{"only": namesOf(answers, resolverAnswer.conclusive)}
		if r.compared() {
			return sentence{codeOneAnswered, only}
		}
		return sentence{codeNotCompared, only}
	case statusMixedPresence:
		return sentence{codeMixedPresence, differing.With(finding.Args{"with": namesOf(answers, resolverAnswer.has),
			"without": namesOf(answers, resolverAnswer.lacks)})}
	case statusVariation:
		return sentence{codeVariation, differing}
	case statusConflict:
		return sentence{codeConflict, differing}
	case statusAgree:
		return sentence{codeAgree, args}
	case statusAgreeAbsent:
		return sentence{codeAgreeAbsent, c.absence(answers)}
	}
	if slices.ContainsFunc(answers, resolverAnswer.has) {
		return sentence{codePartial, finding.Args{"of": c.domain.String(), "type": c.recordType}}
	}
	return sentence{codePartial, c.absence(answers)}
}

// absence says what resolvers found that found nothing, and whether they disagree on whether the name exists.
func (c query) absence(answers []resolverAnswer) finding.Args {
	gone := namesOf(answers, func(a resolverAnswer) bool { return a.Outcome == outcomeNXDomain })
	empty := namesOf(answers, func(a resolverAnswer) bool { return a.Outcome == outcomeNoData })
	args := finding.Args{"absence": codeNoName, "domain": c.domain.String()}
	if empty != nil {
		args["absence"], args["type"] = codeNoRecords, c.recordType
		if gone != nil {
			args["absence"], args["gone"], args["empty"] = codeAbsenceVaries, gone, empty
		}
	}
	return args
}

// ownServers compares the resolvers' answers with those of the domain's own servers. It says nothing if there is
// nothing to compare: the page shows then what became of them.
func (c query) ownServers(r Result) sentence {
	answered := r.Authoritative.answered()
	switch {
	case len(answered) == 0 && r.Changing != nil:
		return sentence{codeOlder, r.older()}
	case r.Authoritative != nil && r.Status == statusUnavailable:
		return withoutResolvers(r)
	case len(answered) == 0:
		return sentence{}
	case !r.Authoritative.Agreed:
		return c.disagreement(answered)
	}
	return c.comparison(r)
}

// withoutResolvers is what the domain's own servers add if no resolver has an answer.
func withoutResolvers(r Result) sentence {
	switch {
	case len(r.Authoritative.answered()) == 0 && !slices.ContainsFunc(r.Authoritative.Servers, serverAnswer.failed):
		return sentence{} // this service could not query any
	case len(r.Authoritative.answered()) == 0:
		return sentence{codeOwnFailed, nil}
	case r.Failure == nil:
		return sentence{codeOwnAnswered, nil}
	case *r.Failure == failureDNSSEC:
		return sentence{codeOwnUnsigned, nil}
	}
	return sentence{codeOwnReachable, nil}
}

// failed reports whether the server was queried and gave no usable answer.
func (s serverAnswer) failed() bool { return s.ErrorCode != nil && *s.ErrorCode != dnsclient.CodeBusy }

// disagreement names the servers that differ from the first. Servers that balance load may well give each client
// another address, but some; of all other records each must hold the same.
func (c query) disagreement(servers []serverAnswer) sentence {
	lacks := func(s serverAnswer) bool { return s.Outcome != outcomeAnswer }
	if c.answeredByPlace() && !slices.ContainsFunc(servers, lacks) {
		return sentence{codeOwnBalanced, nil}
	}
	var others []string
	for _, s := range servers[1:] {
		if !s.same(servers[0]) {
			others = append(others, s.Name)
		}
	}
	return sentence{codeOwnDiffer, finding.Args{"type": c.recordType, "others": others, "first": servers[0].Name}}
}

// compared reports whether any resolver could be compared with the domain's own servers.
func (r Result) compared() bool {
	return len(matching(r.Resolvers, true))+len(matching(r.Resolvers, false)) > 0
}

// comparison is the sentence for servers that agree; it says nothing if no resolver can be compared with them.
func (c query) comparison(r Result) sentence {
	same, other := listed(matching(r.Resolvers, true)), listed(matching(r.Resolvers, false))
	switch {
	case !r.compared():
		return sentence{}
	case r.Changing != nil && same == nil:
		return sentence{codeOlderThanOwn, finding.Args{"older": other, "time": r.Changing.Seconds}}
	case r.Changing != nil:
		return sentence{codeSomeOlder, finding.Args{"same": same, "older": other, "time": r.Changing.Seconds}}
	case other == nil && len(same) == len(which(r.Resolvers, resolverAnswer.conclusive)):
		return sentence{codeOwnSame, nil}
	case other == nil:
		return sentence{codeOwnAsSome, finding.Args{"same": same}}
	case same == nil:
		return sentence{codeOwnOtherAnswer, finding.Args{"place": c.answeredByPlace()}}
	}
	return sentence{codeOwnNotAll, finding.Args{"same": same, "other": other}}
}
