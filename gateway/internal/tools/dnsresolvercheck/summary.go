package dnsresolvercheck

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/shortage"
)

// summarize says in plain words what the status means here, who failed, and who may be filtering.
func (c query) summarize(status string, answers []resolverAnswer) string {
	sentences := []string{c.verdict(status, answers)}
	if status != statusUnavailable {
		sentences = append(sentences, resolverFailures(answers)...)
	}
	if names := namesOf(answers, func(a resolverAnswer) bool { return a.Reason != nil }); names != "" {
		sentences = append(sentences, names+" could not be asked: this service "+shortage.Phrase+".")
	}
	filtering := func(a resolverAnswer) bool { return a.FilteredSuspected }
	if names := namesOf(answers, filtering); names != "" {
		sentences = append(sentences, fmt.Sprintf("%s may be filtering this name.", names))
	}
	return strings.Join(sentences, " ")
}

func (c query) verdict(status string, answers []resolverAnswer) string {
	has := func(a resolverAnswer) bool { return a.Outcome == outcomeAnswer }
	lacks := func(a resolverAnswer) bool { return a.conclusive() && !has(a) }
	records := c.recordType + " records"
	switch status {
	case statusUnavailable:
		return "None of the four resolvers gave a usable answer."
	case statusInconclusive:
		return fmt.Sprintf("Only %s answered, so there is nothing to compare its answer with.",
			namesOf(answers, resolverAnswer.conclusive))
	case statusMixedPresence:
		return fmt.Sprintf("%s for %s are given by %s, but not by %s.", records, c.domain, namesOf(answers, has),
			namesOf(answers, lacks))
	case statusVariation:
		return fmt.Sprintf("The resolvers give different %s for %s, as is usual for names that are served from several "+
			"places (CDN, load balancing).", records, c.domain)
	case statusConflict:
		return fmt.Sprintf("The resolvers give different %s for %s, also when asked again after a second.", records, c.domain)
	case statusAgree:
		return fmt.Sprintf("All four resolvers give the same %s for %s.", records, c.domain)
	case statusAgreeAbsent:
		return "All four resolvers say that " + c.absence(answers)
	}
	if slices.ContainsFunc(answers, has) {
		return fmt.Sprintf("The resolvers that answered give the same %s for %s.", records, c.domain)
	}
	return "The resolvers that answered say that " + c.absence(answers)
}

// absence ends a sentence about resolvers that found nothing, and tells if they disagree on whether the name exists.
func (c query) absence(answers []resolverAnswer) string {
	gone := func(a resolverAnswer) bool { return a.Outcome == outcomeNXDomain }
	empty := func(a resolverAnswer) bool { return a.Outcome == outcomeNoData }
	nothing := fmt.Sprintf("%s has no %s records.", c.domain, c.recordType)
	switch {
	case !slices.ContainsFunc(answers, gone):
		return nothing
	case !slices.ContainsFunc(answers, empty):
		return fmt.Sprintf("%s does not exist.", c.domain)
	}
	return fmt.Sprintf("%s They differ in the reason: the name does not exist (%s), or exists without such records (%s).",
		nothing, namesOf(answers, gone), namesOf(answers, empty))
}

// resolverFailures has a sentence for every resolver that failed.
func resolverFailures(answers []resolverAnswer) []string {
	var sentences []string
	for _, answer := range answers {
		switch {
		case answer.conclusive(), answer.Reason != nil:
		case answer.rejectsSignatures():
			sentences = append(sentences, fmt.Sprintf("%s could not validate the DNSSEC signatures (%s).", answer.Name,
				*answer.ErrorCode))
		default:
			sentences = append(sentences, fmt.Sprintf("%s failed (%s).", answer.Name, *answer.ErrorCode))
		}
	}
	return sentences
}

// rejectsSignatures looks for the extended errors of RFC 8914 from DNSSEC Bogus to NSEC Missing.
func (a resolverAnswer) rejectsSignatures() bool {
	for _, e := range a.ExtendedErrors {
		if e.Code >= 6 && e.Code <= 12 {
			return true
		}
	}
	return false
}
