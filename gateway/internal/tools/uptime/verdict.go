package uptime

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// conclude makes the result of the checks; at least one could be made to its end.
func (r checker) conclude(resolution egress.Resolution, checks []familyCheck) Result {
	result := Result{
		URL: r.url.String(),
		Families: families{
			IPv4: r.untried(4, resolution.V4, resolution.Unanswered.V4),
			IPv6: r.untried(6, resolution.V6, resolution.Unanswered.V6),
		},
	}
	for i := range checks {
		family := checks[i].describe()
		if checks[i].family == 4 {
			result.Families.IPv4 = family
		} else {
			result.Families.IPv6 = family
		}
		result.Truncated = result.Truncated || checks[i].trouble().cut
	}
	checks = slices.DeleteFunc(checks, func(c familyCheck) bool { return !c.visited() || c.busy() != nil })
	first := firstAnswer(checks)
	if last := first.answer(); last != nil {
		text := bound.Text(webview.DescribeStatus(last), webview.MaxStatusText, &result.Truncated)
		final := bound.Text(last.URL.String(), webview.MaxURL, &result.Truncated)
		status, ms, timings := last.Status, format.Milliseconds(first.responseTime()), webview.DescribeTimings(last.Timings)
		result.Status, result.StatusText, result.ResponseTimeMs, result.FinalURL, result.Timings = &status, &text, &ms,
			&final, &timings
		result.CertificateValid = first.certificateValid()
	}
	result.Online = !first.down()
	result.Reason = format.TextOrNull(joinReasons(checks))
	switch {
	case !result.Online:
		result.Verdict = verdictDown
	case anyTroubled(checks):
		result.Verdict = verdictDegraded
	default:
		result.Verdict = verdictUp
	}
	return result
}

// firstAnswer is the check that speaks for the site: the first to end among those that are up, else among those with
// any answer, else any.
func firstAnswer(checks []familyCheck) *familyCheck {
	rank := func(c *familyCheck) int {
		switch {
		case !c.down():
			return 2
		case c.answer() != nil:
			return 1
		}
		return 0
	}
	best := &checks[0]
	for i := range checks[1:] {
		c := &checks[i+1]
		if rank(c) > rank(best) || rank(c) == rank(best) && c.ended.Before(best.ended) {
			best = c
		}
	}
	return best
}

func anyTroubled(checks []familyCheck) bool {
	return slices.ContainsFunc(checks, func(c familyCheck) bool { return c.troubled() })
}

// joinReasons says what is wrong with the site, naming the family where not both have the same trouble.
func joinReasons(checks []familyCheck) string {
	if len(checks) == 1 || checks[0].trouble() == checks[1].trouble() {
		return checks[0].trouble().reason()
	}
	var reasons []string
	for i := range checks {
		if c := &checks[i]; c.troubled() {
			reasons = append(reasons, familyPrefix[c.family]+c.trouble().reason())
		}
	}
	return strings.Join(reasons, " ")
}

var familyPrefix = map[int]string{4: "Over IPv4: ", 6: "Over IPv6: "}

func (c *familyCheck) describe() familyState {
	if c.busy() != nil {
		return c.unchecked()
	}
	address := c.address.String()
	if !c.visited() {
		return familyState{State: uptimeSkipped, Address: &address,
			Reason: format.TextOrNull(webview.FaultSentence(c.chain.Limited()))}
	}
	family := familyState{State: uptimeUp, Address: &address, Reason: format.TextOrNull(c.trouble().reason())}
	if c.down() {
		family.State = uptimeDown
	}
	if last := c.answer(); last != nil {
		status, ms := last.Status, format.Milliseconds(c.responseTime())
		family.Status, family.ResponseTimeMs = &status, &ms
	}
	return family
}
