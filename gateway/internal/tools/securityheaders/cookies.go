package securityheaders

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/ascii"

	"golang.org/x/net/publicsuffix"
)

// cookie is one Set-Cookie field. SameSite is Strict, Lax or None, null where it is absent or no such value.
type cookie struct {
	Name     string        `json:"name" bound:"text=4k"`
	Secure   bool          `json:"secure"`
	HTTPOnly bool          `json:"httpOnly"`
	SameSite *string       `json:"sameSite" wire:"enum=Strict|Lax|None"`
	Issues   []cookieIssue `json:"issues"`
}

// cookieIssue is what is wrong with one cookie.
type cookieIssue struct {
	Code     string `json:"code"`
	Severity string `json:"severity" wire:"enum=fail|warn|info"` // fail, warn or info
	Message  string `json:"message"`
}

// Enums implements decode.Enumerated.
func (cookieIssue) Enums() map[string][]string {
	return map[string][]string{"code": {
		"DELETED", "DOMAIN", "DOMAIN_WIDE", "DUPLICATE", "IGNORED", "LONG_LIVED", "NONE_WITHOUT_SECURE", "NOT_HTTP_ONLY",
		"NOT_SECURE", "NO_PREFIX", "NO_SAME_SITE", "PARTITIONED_WITHOUT_SECURE", "PREFIX", "SAME_SITE_INVALID",
		"SAME_SITE_NONE", "SECURE_OVER_HTTP",
	}}
}

// maxCookieAge is the longest that browsers keep a cookie (RFC 6265bis section 5.5).
const maxCookieAge = 400 * 24 * time.Hour

// judgedCookie is a cookie with the facts that its issues are made from.
type judgedCookie struct {
	cookie
	facts []fact
}

func judgeCookies(p page) []judgedCookie {
	cookies := make([]judgedCookie, 0, len(p.values("Set-Cookie")))
	seen := make(map[string]bool)
	for _, field := range p.values("Set-Cookie") {
		c := parseSetCookie(field)
		judged := p.judgeCookie(c)
		key := c.name + "\x00" + c.domain + "\x00" + c.path
		if seen[key] {
			judged.add("COOKIE_DUPLICATE", nil)
		}
		seen[key] = true
		cookies = append(cookies, judged)
	}
	return cookies
}

// add reports an issue. Its code is that of the fact; a fact that weighs more for the cookie of a login, or over plain
// HTTP, has a code of its own.
func (c *judgedCookie) add(code string, args finding.Args) {
	c.facts = append(c.facts, fact{code, args})
	issue := strings.TrimPrefix(code, "COOKIE_")
	issue = strings.TrimPrefix(strings.TrimPrefix(issue, "LOGIN_"), "PLAIN_")
	message := rows.Sentence(code, args.With(finding.Args{"issue": true}))
	c.Issues = append(c.Issues, cookieIssue{issue, string(rows[code].Severity), message})
}

func (p page) judgeCookie(set setCookie) judgedCookie {
	c := judgedCookie{cookie: cookie{Name: webview.HeaderText(set.name), Secure: set.secure, HTTPOnly: set.httpOnly,
		SameSite: set.sameSiteValue(), Issues: []cookieIssue{}}}
	if set.ignored != "" {
		c.add("COOKIE_IGNORED", finding.Args{"problem": set.ignored})
		return c
	}
	c.judgeRefusals(p, set)
	if set.deletes(p.now) {
		c.add(codeCookieDeleted, nil)
		return c
	}
	login := looksLikeSession(set.name)
	switch {
	case set.secure:
	case login:
		c.add("COOKIE_LOGIN_NOT_SECURE", nil)
	case p.answer.TLS == nil:
		c.add("COOKIE_PLAIN_NOT_SECURE", nil)
	default:
		c.add("COOKIE_NOT_SECURE", nil)
	}
	switch {
	case set.httpOnly:
	case login:
		c.add("COOKIE_LOGIN_NOT_HTTP_ONLY", nil)
	default:
		c.add("COOKIE_NOT_HTTP_ONLY", nil)
	}
	switch {
	case set.isNone():
		c.add("COOKIE_SAME_SITE_NONE", nil)
	case c.SameSite != nil:
	case set.hasSameSite:
		c.add("COOKIE_SAME_SITE_INVALID", nil)
	case login:
		c.add("COOKIE_LOGIN_NO_SAME_SITE", nil)
	default:
		c.add("COOKIE_NO_SAME_SITE", nil)
	}
	if set.hasDomain && p.domainProblem(set) == "" {
		c.add("COOKIE_DOMAIN_WIDE", nil)
	}
	if life, kept := set.lifetime(p.now); kept && life > maxCookieAge {
		c.add("COOKIE_LONG_LIVED", nil)
	}
	if login && !hasCookiePrefix(set.name) && set.secure && !set.hasDomain && set.path == "/" {
		c.add(codeCookieNoPrefix, finding.Args{"name": shownHeader(set.name)})
	}
	return c
}

func (c setCookie) sameSiteValue() *string {
	for _, value := range []string{"Strict", "Lax", "None"} {
		if strings.EqualFold(c.sameSite, value) {
			return &value
		}
	}
	return nil
}

// judgeRefusals reports what makes browsers refuse the cookie.
func (c *judgedCookie) judgeRefusals(p page, set setCookie) {
	if lacks := set.brokenPrefix(); lacks != nil {
		c.add("COOKIE_PREFIX", lacks)
	}
	if set.secure && p.answer.TLS == nil {
		c.add("COOKIE_SECURE_OVER_HTTP", nil)
	}
	if set.isNone() && !set.secure {
		c.add("COOKIE_NONE_WITHOUT_SECURE", nil)
	}
	if set.partitioned && !set.secure {
		c.add("COOKIE_PARTITIONED_WITHOUT_SECURE", nil)
	}
	if problem := p.domainProblem(set); problem != "" {
		c.add("COOKIE_DOMAIN", finding.Args{"problem": problem})
	}
}

func (c setCookie) isNone() bool { return strings.EqualFold(c.sameSite, "None") }

// domainProblem is the code of why browsers refuse the cookie's Domain, empty if they do not.
func (p page) domainProblem(c setCookie) string {
	host := p.answer.URL.Host().String()
	switch {
	case !c.hasDomain || c.domain == host:
		return ""
	case p.answer.URL.Host().IsAddr() || !strings.HasSuffix(host, "."+c.domain):
		return "COOKIE_OTHER_DOMAIN"
	}
	if suffix, _ := publicsuffix.PublicSuffix(c.domain); suffix == c.domain {
		return "COOKIE_PUBLIC_SUFFIX"
	}
	return ""
}

// judgeCookieControl sums the cookies up by the worst of them.
func judgeCookieControl(p page) verdict {
	var v verdict
	if len(p.cookies) == 0 {
		v.add(codeCookiesNone, nil)
		return v
	}
	count := finding.Args{"count": len(p.cookies)}
	v.add("COOKIES_SET", count)
	names := make([]string, 0, len(p.cookies))
	for _, c := range p.cookies {
		names = append(names, c.Name+"="+webview.CookieMask)
		v.weighCookie(c)
	}
	v.value = new(strings.Join(names, "; "))
	if len(v.facts) == 1 {
		v.facts[0].code = "COOKIES_FINE"
	}
	return v
}

// weighCookie applies the worst issue of a cookie. What would only be better still is left to the list of
// cookies.
func (v *verdict) weighCookie(c judgedCookie) {
	var worst fact
	for _, f := range c.facts {
		if f.code != codeCookieDeleted && f.code != codeCookieNoPrefix && rank(f.code) > rank(worst.code) {
			worst = f
		}
	}
	if worst.code != "" {
		v.add(worst.code, worst.args.With(finding.Args{"cookie": shownHeader(c.Name), "nameless": c.Name == ""}))
	}
}

// setCookie is a Set-Cookie field as RFC 6265bis section 5.6 reads it. The value is not kept.
type setCookie struct {
	name      string
	hasDomain bool
	domain    string // lower case, without a leading dot
	path      string // empty where it is the default
	sameSite  string // as written, of the last attribute
	hasMaxAge bool
	maxAge    int64 // seconds
	expires   time.Time

	hasSameSite, secure, httpOnly, partitioned bool

	// ignored is the code of why browsers ignore the field altogether, empty if they do not.
	ignored string
}

const (
	maxCookiePair      = 4096 // octets of name and value
	maxCookieAttribute = 1024 // octets of an attribute's value
)

// parseSetCookie reads one field value.
func parseSetCookie(field string) setCookie {
	pair, rest, _ := strings.Cut(field, ";")
	name, value, hasName := strings.Cut(pair, "=")
	if !hasName {
		name, value = "", pair
	}
	c := setCookie{name: strings.Trim(name, " \t")}
	value = strings.Trim(value, " \t")
	switch {
	case strings.ContainsFunc(field, isCookieControl):
		c.ignored = "COOKIE_CONTROL_CHARACTER"
	case c.name == "" && value == "":
		c.ignored = "COOKIE_EMPTY"
	case len(c.name)+len(value) > maxCookiePair:
		c.ignored = "COOKIE_TOO_LONG"
	case c.name == "" && hasCookiePrefix(value):
		c.ignored = "COOKIE_NAMELESS_PREFIX"
	}
	for attribute := range strings.SplitSeq(rest, ";") {
		c.set(attribute)
	}
	return c
}

func isCookieControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func (c *setCookie) set(attribute string) {
	name, value, _ := strings.Cut(attribute, "=")
	value = strings.Trim(value, " \t")
	if len(value) > maxCookieAttribute {
		return
	}
	switch strings.ToLower(strings.Trim(name, " \t")) {
	case "secure":
		c.secure = true
	case "httponly":
		c.httpOnly = true
	case "partitioned":
		c.partitioned = true
	case "samesite":
		c.hasSameSite, c.sameSite = true, value
	case "domain":
		c.domain = strings.ToLower(strings.TrimPrefix(value, "."))
		c.hasDomain = c.domain != ""
	case "path":
		c.path = ""
		if strings.HasPrefix(value, "/") {
			c.path = value
		}
	case "max-age":
		if age, ok := parseMaxAge(value); ok {
			c.hasMaxAge, c.maxAge = true, age
		}
	case "expires":
		c.expires = cmp.Or(parseCookieDate(value), c.expires)
	}
}

func parseMaxAge(s string) (int64, bool) {
	n, _ := strconv.ParseInt(s, 10, 64) // the nearest number where there is none so large
	return n, ascii.AllDigits(strings.TrimPrefix(s, "-"))
}

// cookieDates are the forms in which servers write Expires. Browsers read more; a date that is none of these is no date
// here.
var cookieDates = []string{
	"Mon, 02 Jan 2006 15:04:05 MST", "Mon, 02-Jan-2006 15:04:05 MST", "Monday, 02-Jan-06 15:04:05 MST",
	"Mon, 2 Jan 2006 15:04:05 MST", "Mon, 02-Jan-06 15:04:05 MST", "Mon Jan _2 15:04:05 2006",
	"Mon, 02 Jan 2006 15:04:05 -0700",
}

func parseCookieDate(s string) time.Time {
	for _, layout := range cookieDates {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// lifetime is how long the browser is to keep the cookie; kept is false for one that ends with the session. Max-Age
// goes before Expires.
func (c setCookie) lifetime(now time.Time) (life time.Duration, kept bool) {
	const day = 24 * time.Hour
	switch {
	case c.hasMaxAge:
		seconds := min(max(c.maxAge, -1), int64(100*365*day/time.Second))
		return time.Duration(seconds) * time.Second, true
	case !c.expires.IsZero():
		return c.expires.Sub(now), true
	}
	return 0, false
}

// deletes reports whether a field only ends a cookie.
func (c setCookie) deletes(now time.Time) bool {
	life, kept := c.lifetime(now)
	return kept && life <= 0
}

// cookiePrefixes are name prefixes that browsers hold a cookie to, in any case of letters; the longest that fits
// counts.
var cookiePrefixes = []string{"__host-http-", "__host-", "__http-", "__secure-"}

func cookiePrefix(name string) string {
	lower := strings.ToLower(name)
	for _, prefix := range cookiePrefixes {
		if strings.HasPrefix(lower, prefix) {
			return prefix
		}
	}
	return ""
}

func hasCookiePrefix(s string) bool { return cookiePrefix(s) != "" }

// brokenPrefix returns the arguments for what a name's prefix promises and the cookie lacks, nil if nothing.
func (c setCookie) brokenPrefix() finding.Args {
	prefix := cookiePrefix(c.name)
	var lacks []string
	if prefix != "" && !c.secure {
		lacks = append(lacks, "Secure")
	}
	if strings.HasSuffix(prefix, "http-") && !c.httpOnly {
		lacks = append(lacks, "HttpOnly")
	}
	isHost := strings.HasPrefix(prefix, "__host-")
	if isHost && c.path != "/" {
		lacks = append(lacks, "Path=/")
	}
	domain := isHost && c.hasDomain
	if len(lacks) == 0 && !domain {
		return nil
	}
	return finding.Args{"lacks": strings.Join(lacks, ", "), "more": domain && len(lacks) > 0, "domain": domain}
}

// What the names of cookies for logins have: parts anywhere, and whole words.
var (
	sessionParts = []string{"sess", "auth", "token", "jwt", "login", "logged", "remember", "credential", "identity"}
	sessionWords = []string{"sid", "ssid", "sso", "saml", "cfid", "cftoken"}
)

// looksLikeSession reports whether a login is usually kept under such a name. A token against forged requests is meant
// to be read.
func looksLikeSession(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "csrf") || strings.Contains(lower, "xsrf") {
		return false
	}
	if slices.ContainsFunc(sessionParts, func(part string) bool { return strings.Contains(lower, part) }) {
		return true
	}
	words := strings.FieldsFunc(lower, func(r rune) bool { return !ascii.IsAlphanumeric(r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(sessionWords, word) })
}
