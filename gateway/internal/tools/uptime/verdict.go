package uptime

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/challenge"
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
		result.Truncated = result.Truncated || checks[i].cut()
	}
	checks = slices.DeleteFunc(checks, func(c familyCheck) bool { return !c.visited() || c.busy() != nil })
	first := firstAnswer(checks)
	if last := first.answer(); last != nil {
		result.Status = new(last.Status)
		result.StatusText = new(bound.Text(webview.DescribeStatus(last), webview.MaxStatusText, &result.Truncated))
		result.ResponseTimeMs = new(format.Milliseconds(first.responseTime()))
		result.FinalURL = new(bound.Text(last.URL.String(), webview.MaxURL, &result.Truncated))
		result.Timings = new(webview.DescribeTimings(last.Timings))
		result.CertificateValid = first.certificateValid()
	}
	result.Challenge = first.challenge()
	result.Online = !first.down()
	result.Reason = format.TextOrNull(joinReasons(checks))
	switch {
	case !result.Online:
		result.Verdict = verdictDown
	case slices.ContainsFunc(checks, func(c familyCheck) bool { return c.troubled() || c.differ() }):
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

// joinReasons says what is wrong with the site, naming the family where not both have the same trouble, and addresses
// where a family's do not say the same.
func joinReasons(checks []familyCheck) string {
	var reasons []string
	if len(checks) == 1 || checks[0].familyTrouble() == checks[1].familyTrouble() {
		reasons = append(reasons, checks[0].familyTrouble().reason())
	} else {
		for i := range checks {
			if reason := checks[i].familyTrouble().reason(); reason != "" {
				reasons = append(reasons, fmt.Sprintf("Over IPv%d: %s", checks[i].family, reason))
			}
		}
	}
	return strings.TrimSpace(strings.Join(append(reasons, addressReasons(checks...)), " "))
}

func (c *familyCheck) describe() familyState {
	if c.busy() != nil {
		return c.unchecked()
	}
	address := c.address.String()
	if !c.visited() {
		return familyState{State: uptimeSkipped, Address: &address, Addresses: c.describeAddresses(),
			Reason: format.TextOrNull(webview.FaultSentence(c.chain.Limited()))}
	}
	family := familyState{State: uptimeUp, Address: &address, Reason: format.TextOrNull(c.reason()),
		Addresses: c.describeAddresses()}
	if c.down() {
		family.State = uptimeDown
	}
	if last := c.answer(); last != nil {
		family.Status, family.ResponseTimeMs = new(last.Status), new(format.Milliseconds(c.responseTime()))
	}
	return family
}

// reason says what is wrong with the family and its addresses.
func (c *familyCheck) reason() string {
	return strings.TrimSpace(c.familyTrouble().reason() + " " + addressReasons(*c))
}

func (c *familyCheck) describeAddresses() []addressState {
	states := make([]addressState, 0, len(c.addresses))
	for i := range c.addresses {
		states = append(states, c.addresses[i].describe())
	}
	return states
}

// cut reports whether a text of the check is longer than an answer takes.
func (c *familyCheck) cut() bool {
	return c.trouble().cut || slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.trouble().cut })
}

// challenge is what stood in place of the last answer, nil where nothing is known to have.
func (c *familyCheck) challenge() *challenge.Challenge {
	if last := c.answer(); last != nil {
		return challenge.Of(last.Status, last.Header)
	}
	return nil
}
