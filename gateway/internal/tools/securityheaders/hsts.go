package securityheaders

import (
	"strconv"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
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
	hstsPreloadAge = 31536000 // the least that hstspreload.org accepts
	hstsWeakAge    = 15552000 // 180 days: less is forgotten between two visits a year
)

// parseHSTS reads one field value (RFC 6797 section 6.1). Browsers ignore a field that does not follow the grammar or
// repeats a directive; the problem is then the code and arguments of why, else nil.
func parseHSTS(value string) (policy hstsPolicy, problem finding.Args) {
	seen := make(map[string]bool)
	for _, directive := range webview.SplitQuoted(value, ';') {
		name, argument, hasArgument := strings.Cut(directive, "=")
		name = strings.ToLower(strings.Trim(name, " \t"))
		if name == "" && !hasArgument {
			continue
		}
		argument, ok := hstsArgument(argument, hasArgument)
		if !ok || !isToken(name) {
			return hstsPolicy{}, finding.Args{"problem": "HSTS_NOT_A_DIRECTIVE",
				"directive": shownHeader(strings.TrimSpace(directive))}
		}
		if seen[name] {
			return hstsPolicy{}, finding.Args{"problem": "HSTS_DIRECTIVE_TWICE", "directive": shownHeader(name)}
		}
		seen[name] = true
		if problem := policy.set(name, argument, hasArgument); problem != "" {
			return hstsPolicy{}, finding.Args{"problem": problem}
		}
	}
	if !seen["max-age"] {
		return hstsPolicy{}, finding.Args{"problem": "HSTS_NO_MAX_AGE"}
	}
	return policy, nil
}

// set takes one directive; unknown ones are ignored.
func (p *hstsPolicy) set(name, argument string, hasArgument bool) (problem string) {
	switch name {
	case "max-age":
		age, ok := parseSeconds(argument)
		if !ok {
			return "HSTS_MAX_AGE_NOT_A_NUMBER"
		}
		p.maxAge = age
	case "includesubdomains":
		if hasArgument {
			return "HSTS_SUBDOMAINS_VALUE"
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

// judgeHSTS follows RFC 6797 section 8.1: only the first field counts, only over TLS without errors, never for an
// address.
func judgeHSTS(p page) verdict {
	v := verdict{value: p.shownValue(hstsHeader), set: headerLine{Name: hstsHeader, Value: hstsValue}}
	sent := v.value != nil
	switch {
	case p.answer.URL.Host().IsAddr():
		v.add(codeHSTSAddress, nil)
		return v
	case p.answer.TLS == nil:
		v.add("HSTS_WITHOUT_TLS", finding.Args{"sent": sent})
		return v
	case !p.secure():
		v.add("HSTS_CERTIFICATE_REFUSED", finding.Args{"defect": p.answer.TLS.Verdict.Refusal(), "sent": sent})
		v.subject = webview.CertificateSubject(p.answer.URL.Host().Authority(), p.answer.URL.Port())
		return v
	case !sent:
		v.add("HSTS_MISSING", nil)
		return v
	}
	v.judgeHSTSFields(p)
	v.judgeHSTSOnTheWay(p)
	if p.notVerified() {
		v.add("HSTS_NOT_VERIFIED", nil)
	}
	return v
}

func (v *verdict) judgeHSTSFields(p page) {
	values := p.values(hstsHeader)
	if len(values) > 1 {
		v.add("HSTS_REPEATED", finding.Args{"times": len(values)})
	}
	policy, problem := parseHSTS(values[0])
	switch {
	case problem != nil:
		v.add("HSTS_IGNORED", problem)
		return
	case policy.maxAge == 0:
		v.add("HSTS_INEFFECTIVE", nil)
		return
	case policy.maxAge < hstsWeakAge:
		v.add("HSTS_SHORT", describeAge(policy.maxAge))
	default:
		v.add("HSTS_KEPT", describeAge(policy.maxAge))
	}
	v.judgeHSTSReach(p, policy)
}

// judgeHSTSReach reports on subdomains and on the requirements of preload (hstspreload.org): browsers' own lists are
// not seen here, and a name gets there only by being submitted.
func (v *verdict) judgeHSTSReach(p page, policy hstsPolicy) {
	eligible := policy.maxAge >= hstsPreloadAge && policy.includeSubDomains
	switch {
	case policy.preload && !eligible:
		v.add("HSTS_PRELOAD_REFUSED", nil)
		v.set.Value += "; preload"
		v.complete(hstsRemedy, finding.Args{"preload": true})
	case policy.preload:
		v.add("HSTS_PRELOAD", nil)
		if name := registrableName(p.answer); name != p.answer.URL.Host().String() {
			v.add("HSTS_PRELOAD_DOMAIN", finding.Args{"name": shownHeader(name)})
		}
	case policy.includeSubDomains:
		v.add("HSTS_SUBDOMAINS", nil)
	default:
		v.add("HSTS_NO_SUBDOMAINS", nil)
	}
}

// judgeHSTSOnTheWay looks at the https answers that redirected here: a browser that has only seen www.example.com's
// policy still requests example.com over http.
func (v *verdict) judgeHSTSOnTheWay(p page) {
	site := registrableName(p.answer)
	reported := map[string]bool{p.answer.URL.Host().String(): true}
	for _, hop := range p.earlier {
		host := hop.URL.Host().String()
		if reported[host] || hop.TLS == nil || !hop.TLS.Verdict.Authorized || hop.URL.Host().IsAddr() ||
			registrableName(hop) != site {
			continue
		}
		reported[host] = true
		if policy, problem := parseHSTS(hop.Header.Get(hstsHeader)); problem == nil && policy.maxAge > 0 {
			continue
		}
		v.add("HSTS_REDIRECT_WITHOUT", finding.Args{"host": shownHeader(host)})
		v.complete(hstsRemedy, finding.Args{"redirects": true})
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

// describeAge returns the arguments for a number of seconds.
func describeAge(seconds int64) finding.Args {
	const minute, hour, day = 60, 3600, 86400
	switch {
	case seconds >= 100*365*day:
		return finding.Args{"century": true}
	case seconds >= day:
		return finding.Args{"days": seconds / day}
	case seconds >= hour:
		return finding.Args{"hours": seconds / hour}
	case seconds >= minute:
		return finding.Args{"minutes": seconds / minute}
	}
	return finding.Args{"seconds": seconds}
}
