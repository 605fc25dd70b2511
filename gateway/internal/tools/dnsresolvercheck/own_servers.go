package dnsresolvercheck

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"
)

// ownServers says how the resolvers' answers compare with those of the domain's own servers. It is empty where there is
// nothing to compare: the page shows then what became of them.
func (c query) ownServers(r Result) string {
	answered := r.Authoritative.answered()
	switch {
	case len(answered) == 0 && r.Changing != nil:
		return fmt.Sprintf("%s may still hold the older answer, for at most %s.", r.older(), r.Changing.inWords())
	case r.Authoritative != nil && r.Status == statusUnavailable:
		return withoutResolvers(r)
	case len(answered) == 0:
		return ""
	case !r.Authoritative.Agreed:
		return c.disagreement(answered)
	}
	return c.comparison(r)
}

// withoutResolvers is what the domain's own servers add where no resolver has an answer.
func withoutResolvers(r Result) string {
	switch {
	case len(r.Authoritative.answered()) == 0 && !slices.ContainsFunc(r.Authoritative.Servers, serverAnswer.failed):
		return "" // this service could not query any
	case len(r.Authoritative.answered()) == 0:
		return "The domain's own servers gave this service no usable answer either."
	case r.Failure == nil:
		return "The domain's own servers answered this service."
	case *r.Failure == failureDNSSEC:
		return "The domain's own servers do answer: what needs repair is its signatures, or its DS record at the registry."
	}
	return "The domain's own servers answered this service, so they may be reachable from some networks only."
}

// failed reports whether the server was queried and gave no usable answer.
func (s serverAnswer) failed() bool { return s.ErrorCode != nil && *s.ErrorCode != dnsclient.CodeBusy }

// disagreement names the servers that differ from the first. Servers that balance load may well give each client
// another address, but some; of all other records each must hold the same.
func (c query) disagreement(servers []serverAnswer) string {
	lacks := func(s serverAnswer) bool { return s.Outcome != outcomeAnswer }
	if c.answeredByPlace() && !slices.ContainsFunc(servers, lacks) {
		return "The domain's own servers gave this service different answers, as load-balanced servers do."
	}
	others := which(servers[1:], func(s serverAnswer) bool { return !s.same(servers[0]) })
	names := text.ListedUpTo(len(others), others, func(s serverAnswer) string { return s.Name })
	return fmt.Sprintf("The domain's own servers do not have the same %s records: %s %s from %s.", c.recordType, names,
		text.Number(len(others), "differs", "differ"), servers[0].Name)
}

// compared reports whether any resolver could be compared with the domain's own servers.
func (r Result) compared() bool {
	return len(matching(r.Resolvers, true))+len(matching(r.Resolvers, false)) > 0
}

// comparison is the sentence for servers that agree; it is empty where no resolver can be compared with them.
func (c query) comparison(r Result) string {
	same, other := matching(r.Resolvers, true), matching(r.Resolvers, false)
	switch {
	case !r.compared():
		return ""
	case r.Changing != nil && len(same) == 0:
		return fmt.Sprintf("The domain's own servers already give a different answer: %s may still hold the older one, "+
			"for at most %s.", listed(other), r.Changing.inWords())
	case r.Changing != nil:
		return fmt.Sprintf("%s %s as the domain's own servers do; %s may still hold the older answer, for at most %s.",
			listed(same), text.Number(len(same), "answers", "answer"), listed(other), r.Changing.inWords())
	case len(other) == 0 && len(same) == len(which(r.Resolvers, resolverAnswer.conclusive)):
		return "The domain's own servers say the same."
	case len(other) == 0:
		return fmt.Sprintf("%s %s as the domain's own servers do.", listed(same),
			text.Number(len(same), "answers", "answer"))
	case len(same) == 0:
		return "The domain's own servers gave this service a different answer" + c.perhaps() + "."
	}
	return fmt.Sprintf("%s %s as the domain's own servers do; %s %s not.", listed(same),
		text.Number(len(same), "answers", "answer"), listed(other), text.Number(len(other), "does", "do"))
}

// perhaps names what a difference from the domain's own servers may come from.
func (c query) perhaps() string {
	if c.answeredByPlace() {
		return ": after a change, or because they answer by location"
	}
	return ""
}

// inWords is the time in seconds, as TTLs are, until those say nothing to people.
func (c change) inWords() string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	switch s := c.Seconds; {
	case s < 10*minute:
		return fmt.Sprintf("%d s", s)
	case s < 2*hour:
		return fmt.Sprintf("%d minutes", roundedUp(s, minute))
	case s < 2*day:
		return fmt.Sprintf("%d hours", roundedUp(s, hour))
	default:
		return fmt.Sprintf("%d days", roundedUp(s, day))
	}
}

func roundedUp(seconds, unit uint32) uint32 { return (seconds-1)/unit + 1 }
