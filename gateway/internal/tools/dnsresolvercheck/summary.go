package dnsresolvercheck

import (
	"diagnostics/gateway/internal/fault"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
)

// summarize says in plain words what the status means here, who failed and why, how the answers compare with those of
// the domain's own servers, and who may be filtering.
func (c query) summarize(r Result) string {
	answers := r.Resolvers
	sentences := c.verdict(r)
	if compared := c.ownServers(r); compared != "" {
		sentences = append(sentences, compared)
	}
	if names := namesOf(answers, func(a resolverAnswer) bool { return a.Reason != nil }); names != "" {
		sentences = append(sentences, names+" could not be asked: this service "+fault.ShortagePhrase+".")
	}
	filtering := func(a resolverAnswer) bool { return a.FilteredSuspected }
	if names := namesOf(answers, filtering); names != "" {
		sentences = append(sentences, fmt.Sprintf("%s may be filtering this name.", names))
	}
	return strings.Join(sentences, " ")
}

// verdict is the status in words, and why resolvers failed. Where a failure has a cause in the domain, and no two
// answers are left to compare, that is what there is to say.
func (c query) verdict(r Result) []string {
	failures := c.failures(r.Resolvers)
	switch {
	case r.Status == statusUnavailable && r.Failure == nil:
		return []string{"None of the four resolvers gave a usable answer."}
	case r.Status == statusUnavailable:
		return failures
	case r.Status == statusInconclusive && r.Failure != nil:
		return append(failures, fmt.Sprintf("Only %s answered.", namesOf(r.Resolvers, resolverAnswer.conclusive)))
	}
	return append([]string{c.agreement(r)}, failures...)
}

// agreement says of what conclusive resolvers agree, or differ.
func (c query) agreement(r Result) string {
	answers := r.Resolvers
	has, lacks := resolverAnswer.has, resolverAnswer.lacks
	records := c.recordType + " records"
	switch r.Status {
	case statusInconclusive:
		only := namesOf(answers, resolverAnswer.conclusive)
		if r.compared() {
			return fmt.Sprintf("Of the four resolvers only %s answered.", only)
		}
		return fmt.Sprintf("Only %s answered, so there is nothing to compare its answer with.", only)
	case statusMixedPresence:
		return fmt.Sprintf("%s %s %s for %s; %s %s not%s.", namesOf(answers, has),
			text.Number(len(which(answers, has)), "returns", "return"), records, c.domain, namesOf(answers, lacks),
			text.Number(len(which(answers, lacks)), "does", "do"), r.underWay(""))
	case statusVariation:
		return fmt.Sprintf("The resolvers give different %s for %s%s.", records, c.domain,
			r.underWay(", as is usual for names that are served from several places (CDN, load balancing)"))
	case statusConflict:
		return fmt.Sprintf("The resolvers give different %s for %s, even when asked again a second later%s.", records,
			c.domain, r.underWay(""))
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

// underWay ends a sentence on answers that differ: with a change, where there are signs of one.
func (r Result) underWay(otherwise string) string {
	if r.Changing == nil {
		return otherwise
	}
	return ": a change seems to be in progress"
}

// absence ends a sentence about resolvers that found nothing, and says if they disagree on whether the name exists.
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
	return fmt.Sprintf("%s They give different reasons: the name does not exist (%s), or it exists without such "+
		"records (%s).",
		nothing, namesOf(answers, gone), namesOf(answers, empty))
}
