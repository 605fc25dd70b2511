package securityheaders

import (
	"fmt"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/ascii"

	"golang.org/x/net/publicsuffix"
)

// hstsPolicy is a Strict-Transport-Security field that browsers obey.
type hstsPolicy struct {
	maxAge            int64 // seconds
	includeSubDomains bool
	preload           bool // of no standard: a request to be built into browsers
}

const (
	hstsHeader     = "Strict-Transport-Security"
	hstsPreloadAge = 31536000 // the least that hstspreload.org accepts
	hstsWeakAge    = 15552000 // 180 days: less is forgotten between two visits a year
)

func bestHSTS() advice { return send(hstsHeader, "max-age=31536000; includeSubDomains") }

// parseHSTS reads one field value (RFC 6797 section 6.1). What does not follow the grammar, and what says a thing
// twice, is not obeyed; problem then says why.
func parseHSTS(value string) (policy hstsPolicy, problem string) {
	seen := make(map[string]bool)
	for _, directive := range webview.SplitQuoted(value, ';') {
		name, argument, hasArgument := strings.Cut(directive, "=")
		name = strings.ToLower(strings.Trim(name, " \t"))
		if name == "" && !hasArgument {
			continue
		}
		argument, ok := hstsArgument(argument, hasArgument)
		if !ok || !isToken(name) {
			return hstsPolicy{}, fmt.Sprintf("“%s” is not a directive in the form that RFC 6797 gives",
				shownHeader(strings.TrimSpace(directive)))
		}
		if seen[name] {
			return hstsPolicy{}, fmt.Sprintf("the directive %s appears twice", shownHeader(name))
		}
		seen[name] = true
		if problem := policy.set(name, argument, hasArgument); problem != "" {
			return hstsPolicy{}, problem
		}
	}
	if !seen["max-age"] {
		return hstsPolicy{}, "max-age is missing"
	}
	return policy, ""
}

// set takes one directive; unknown ones are ignored.
func (p *hstsPolicy) set(name, argument string, hasArgument bool) (problem string) {
	switch name {
	case "max-age":
		age, ok := parseSeconds(argument)
		if !ok {
			return "max-age is not a whole number of seconds"
		}
		p.maxAge = age
	case "includesubdomains":
		if hasArgument {
			return "includeSubDomains takes no value"
		}
		p.includeSubDomains = true
	case "preload":
		p.preload = !hasArgument
	}
	return ""
}

// hstsArgument reads a directive's value: a token or a quoted string.
func hstsArgument(argument string, present bool) (string, bool) {
	if !present {
		return "", true
	}
	argument = strings.Trim(argument, " \t")
	if !strings.HasPrefix(argument, `"`) {
		return argument, isToken(argument)
	}
	if len(argument) < 2 || !strings.HasSuffix(argument, `"`) {
		return "", false
	}
	inner := argument[1 : len(argument)-1]
	return inner, !strings.ContainsAny(inner, `"\`)
}

// parseSeconds reads digits; what is beyond every date is as good as for ever.
func parseSeconds(s string) (int64, bool) {
	n, _ := strconv.ParseInt(s, 10, 64) // the largest number where it is larger
	return n, ascii.AllDigits(s)
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !ascii.IsAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// judgeHSTS follows RFC 6797 section 8.1: the first field alone, over TLS without errors alone, never for an address.
func judgeHSTS(p page) controlVerdict {
	v := controlVerdict{value: p.shownValue(hstsHeader), recommendation: bestHSTS()}
	switch {
	case p.answer.URL.Host().IsAddr():
		v.recommendation = advice{}
		v.find(controlNotApplicable, "Browsers keep no such policy for an IP address, only for names.")
		return v
	case p.answer.TLS == nil:
		v.find(controlFail, "The answer came over plain HTTP, where the network can read and change it%s.",
			thoughHSTS(v.value != nil, ", and where browsers ignore this header"))
		v.recommendation.before, v.code = "Redirect every http URL to https, and send there: ", codeHSTSPlain
		return v
	case !p.secure():
		v.find(controlFail, "The certificate is not valid (%s)%s.", certs.Clause(p.answer.TLS.Verdict.Refusal()),
			thoughHSTS(v.value != nil, ", and browsers ignore this header over such a connection"))
		v.recommendation.before, v.code = "Install a valid certificate, then send: ", codeHSTSCertificate
		return v
	case v.value == nil:
		v.find(controlFail,
			"The header is missing, so a visitor's first request of each visit may go over plain HTTP, where it can be "+
				"read and redirected.")
		return v
	}
	v.judgeHSTSFields(p)
	v.judgeHSTSOnTheWay(p)
	if p.notVerified() {
		v.find(controlInfo, "The certificate was not verified, so it is not known whether browsers obey the header.")
	}
	return v
}

func thoughHSTS(present bool, words string) string {
	if present {
		return words
	}
	return ""
}

func (v *controlVerdict) judgeHSTSFields(p page) {
	values := p.values(hstsHeader)
	if len(values) > 1 {
		v.find(controlWarn, "The header is sent %d times; browsers obey only the first.", len(values))
	}
	policy, problem := parseHSTS(values[0])
	switch {
	case problem != "":
		v.find(controlFail, "Browsers ignore the header: %s.", problem)
		return
	case policy.maxAge == 0:
		v.find(controlFail, "max-age=0 makes browsers forget the policy.")
		return
	case policy.maxAge < hstsWeakAge:
		v.find(controlWarn,
			"Browsers keep to https for %s, which is too short for people who visit rarely; send at least 180 days, "+
				"better a year.", describeAge(policy.maxAge))
	default:
		v.find(controlPass, "Browsers keep to https for %s.", describeAge(policy.maxAge))
		v.recommendation = advice{}
	}
	v.judgeHSTSReach(p, policy)
}

// judgeHSTSReach reports on subdomains and on the requirements of preload (hstspreload.org): browsers' own lists are
// not seen here, and a name gets there only by being submitted.
func (v *controlVerdict) judgeHSTSReach(p page, policy hstsPolicy) {
	eligible := policy.maxAge >= hstsPreloadAge && policy.includeSubDomains
	switch {
	case policy.preload && !eligible:
		v.find(controlWarn,
			"preload requests a place in the browsers' built-in lists, which accept only max-age=31536000 or more with "+
				"includeSubDomains.")
		v.recommendation = bestHSTS()
		v.recommendation.set.Value += "; preload"
	case policy.preload:
		v.add("It covers subdomains and requests a place in the browsers' built-in lists (preload); whether it has one is " +
			"not known here.")
		if name := registrableName(p.answer); name != p.answer.URL.Host().String() {
			v.add("The lists accept only whole domains, so the header must say the same at https://%s.", shownHeader(name))
		}
	case policy.includeSubDomains:
		v.add("It covers subdomains.")
	default:
		v.add("Subdomains are not covered, so one over plain HTTP can set cookies for this site.")
		v.recommendation = bestHSTS()
	}
}

// judgeHSTSOnTheWay looks at the https answers that redirected here: a browser that has only seen www.example.com's
// policy still requests example.com over http.
func (v *controlVerdict) judgeHSTSOnTheWay(p page) {
	site := registrableName(p.answer)
	reported := map[string]bool{p.answer.URL.Host().String(): true}
	for _, hop := range p.earlier {
		host := hop.URL.Host().String()
		if reported[host] || hop.TLS == nil || !hop.TLS.Verdict.Authorized || hop.URL.Host().IsAddr() ||
			registrableName(hop) != site {
			continue
		}
		reported[host] = true
		if policy, problem := parseHSTS(hop.Header.Get(hstsHeader)); problem == "" && policy.maxAge > 0 {
			continue
		}
		v.find(controlWarn, "The redirect from https://%s does not send this header, so that name stays unprotected.",
			shownHeader(host))
		v.recommendation = bestHSTS()
		v.recommendation.after = " (on the redirects too)"
	}
}

// registrableName is the name that one party registered, the host itself where there is none.
func registrableName(r *egress.Response) string {
	host := r.URL.Host().String()
	name, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return name
}

// describeAge words a number of seconds.
func describeAge(seconds int64) string {
	const minute, hour, day = 60, 3600, 86400
	switch {
	case seconds >= 100*365*day:
		return "more than a century"
	case seconds >= day:
		return countWord(int(seconds/day), "day", "days")
	case seconds >= hour:
		return countWord(int(seconds/hour), "hour", "hours")
	case seconds >= minute:
		return countWord(int(seconds/minute), "minute", "minutes")
	}
	return countWord(int(seconds), "second", "seconds")
}
