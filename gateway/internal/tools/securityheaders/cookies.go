package securityheaders

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/ascii"

	"golang.org/x/net/publicsuffix"
)

// cookie is one Set-Cookie field. SameSite is Strict, Lax or None, null where it is absent or no such value.
type cookie struct {
	Name     string        `json:"name"`
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

const (
	cookieFail = "fail"
	cookieWarn = "warn"
	cookieInfo = "info"
)

// maxCookieAge is the longest that browsers keep a cookie (RFC 6265bis section 5.5).
const maxCookieAge = 400 * 24 * time.Hour

func judgeCookies(p page) []cookie {
	cookies := make([]cookie, 0, len(p.values("Set-Cookie")))
	seen := make(map[string]bool)
	for _, field := range p.values("Set-Cookie") {
		c := parseSetCookie(field)
		judged := p.judgeCookie(c)
		key := c.name + "\x00" + c.domain + "\x00" + c.path
		if seen[key] {
			judged.add(cookieInfo, "DUPLICATE",
				"A cookie of this name, domain and path is set more than once; the last one wins.")
		}
		seen[key] = true
		cookies = append(cookies, judged)
	}
	return cookies
}

func (c *cookie) add(severity, code, message string) {
	c.Issues = append(c.Issues, cookieIssue{Code: code, Severity: severity, Message: message})
}

func (p page) judgeCookie(c setCookie) cookie {
	out := cookie{Name: webview.HeaderText(c.name), Secure: c.secure, HTTPOnly: c.httpOnly, SameSite: c.sameSiteValue(),
		Issues: []cookieIssue{}}
	if c.ignored != "" {
		out.add(cookieWarn, "IGNORED", "Browsers ignore this cookie: "+c.ignored+".")
		return out
	}
	out.judgeRefusals(p, c)
	if c.deletes(p.now) {
		out.add(cookieInfo, "DELETED", "This only deletes the cookie.")
		return out
	}
	out.judgeTransport(p, c)
	out.judgeScripts(c)
	out.judgeSites(c)
	out.judgeReach(p, c)
	return out
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
func (c *cookie) judgeRefusals(p page, set setCookie) {
	if lacks := set.brokenPrefix(); lacks != "" {
		c.add(cookieWarn, "PREFIX", "Browsers refuse it: its name's prefix requires what it lacks ("+lacks+").")
	}
	if set.secure && p.answer.TLS == nil {
		c.add(cookieWarn, "SECURE_OVER_HTTP", "Browsers refuse a Secure cookie that is set over plain HTTP.")
	}
	if set.isNone() && !set.secure {
		c.add(cookieWarn, "NONE_WITHOUT_SECURE", "Browsers refuse SameSite=None without Secure.")
	}
	if set.partitioned && !set.secure {
		c.add(cookieWarn, "PARTITIONED_WITHOUT_SECURE", "Browsers refuse Partitioned without Secure.")
	}
	if problem := p.domainProblem(set); problem != "" {
		c.add(cookieWarn, "DOMAIN", "Browsers refuse it: "+problem+".")
	}
}

func (c setCookie) isNone() bool { return strings.EqualFold(c.sameSite, "None") }

func (p page) domainProblem(c setCookie) string {
	host := p.answer.URL.Host().String()
	switch {
	case !c.hasDomain || c.domain == host:
		return ""
	case p.answer.URL.Host().IsAddr() || !strings.HasSuffix(host, "."+c.domain):
		return "its Domain is neither this host nor a parent of it"
	}
	if suffix, _ := publicsuffix.PublicSuffix(c.domain); suffix == c.domain {
		return "its Domain is a public suffix, which others use too"
	}
	return ""
}

// judgeTransport: a session that travels in clear is a session that the network can take over.
func (c *cookie) judgeTransport(p page, set setCookie) {
	switch {
	case set.secure:
	case looksLikeSession(set.name):
		c.add(cookieFail, "NOT_SECURE",
			"Without Secure this cookie, which looks like a login's, is also sent over plain HTTP. Add: Secure.")
	case p.answer.TLS == nil:
		c.add(cookieWarn, "NOT_SECURE", "It is set and sent over plain HTTP. Use https and add: Secure.")
	default:
		c.add(cookieWarn, "NOT_SECURE", "Without Secure it is also sent over plain HTTP. Add: Secure.")
	}
}

func (c *cookie) judgeScripts(set setCookie) {
	switch {
	case set.httpOnly:
	case looksLikeSession(set.name):
		c.add(cookieFail, "NOT_HTTP_ONLY",
			"Without HttpOnly an injected script can steal this cookie, which looks like a login's. Add: HttpOnly.")
	default:
		c.add(cookieInfo, "NOT_HTTP_ONLY", "Scripts can read it. Add HttpOnly, unless the page's own scripts need it.")
	}
}

func (c *cookie) judgeSites(set setCookie) {
	switch {
	case set.isNone():
		c.add(cookieInfo, "SAME_SITE_NONE", "It is sent with requests that other sites cause. Use Lax or Strict, unless "+
			"it is meant for use in other sites' frames.")
	case c.SameSite != nil:
	case set.hasSameSite:
		c.add(cookieWarn, "SAME_SITE_INVALID",
			"Its SameSite is not Strict, Lax or None, so the browser's default applies.")
	case looksLikeSession(set.name):
		c.add(cookieWarn, "NO_SAME_SITE", "Without SameSite this cookie, which looks like a login's, is sent with requests "+
			"that other sites cause, in browsers whose default is not Lax. Add: SameSite=Lax.")
	default:
		c.add(cookieInfo, "NO_SAME_SITE",
			"Without SameSite browsers differ: some treat it as Lax, others send it everywhere. Add: SameSite=Lax.")
	}
}

func (c *cookie) judgeReach(p page, set setCookie) {
	if set.hasDomain && p.domainProblem(set) == "" {
		c.add(cookieInfo, "DOMAIN_WIDE", "With Domain, it is sent to every subdomain too. Leave Domain out, unless they "+
			"need it.")
	}
	if life, kept := set.lifetime(p.now); kept && life > maxCookieAge {
		c.add(cookieInfo, "LONG_LIVED", "Browsers cut its lifetime to 400 days.")
	}
	if looksLikeSession(set.name) && !hasCookiePrefix(set.name) && set.secure && !set.hasDomain && set.path == "/" {
		c.add(cookieInfo, "NO_PREFIX",
			"It could be named __Host-"+shownHeader(set.name)+", so that no subdomain can set one in its place.")
	}
}

// judgeCookieControl sums the cookies up by the worst of them.
func judgeCookieControl(p page) controlVerdict {
	if len(p.cookies) == 0 {
		v := controlVerdict{status: controlNotApplicable}
		v.add("The answer sets no cookies.")
		return v
	}
	v := controlVerdict{status: controlPass}
	names := make([]string, 0, len(p.cookies))
	for _, c := range p.cookies {
		names = append(names, c.Name+"="+webview.CookieMask)
		v.weighCookie(c)
	}
	v.value = new(strings.Join(names, "; "))
	opening := countWord(len(p.cookies), "cookie is", "cookies are") + " set"
	if v.status == controlPass {
		v.findings = []string{opening + ", each with what it needs (Secure, HttpOnly, SameSite)."}
		return v
	}
	v.findings = append([]string{opening + "."}, v.findings...)
	// A pattern and no header to send: the issues of each cookie say what that one lacks.
	v.recommendation = advice{before: "Set-Cookie: __Host-name=value; Path=/; Secure; HttpOnly; SameSite=Lax"}
	return v
}

// weighCookie applies the worst issue of a cookie. What would only be better still is left to the list of
// cookies.
func (v *controlVerdict) weighCookie(c cookie) {
	weights := map[string]controlStatus{cookieFail: controlFail, cookieWarn: controlWarn, cookieInfo: controlInfo}
	for _, severity := range []string{cookieFail, cookieWarn, cookieInfo} {
		for _, issue := range c.Issues {
			if issue.Severity == severity && issue.Code != "DELETED" && issue.Code != "NO_PREFIX" {
				v.find(weights[severity], "%s: %s", shownCookieName(c.Name), issue.Message)
				return
			}
		}
	}
}

func shownCookieName(name string) string {
	if name == "" {
		return "A cookie without a name"
	}
	return fmt.Sprintf("“%s”", shownHeader(name))
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

	// ignored says why browsers ignore the field altogether, empty where they do not.
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
		c.ignored = "it contains a control character"
	case c.name == "" && value == "":
		c.ignored = "it has neither a name nor a value"
	case len(c.name)+len(value) > maxCookiePair:
		c.ignored = "name and value are longer than 4,096 bytes"
	case c.name == "" && hasCookiePrefix(value):
		c.ignored = "it has no name, and a value that begins like a protected name"
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

// brokenPrefix says what a name's prefix promises and the cookie lacks, empty where nothing.
func (c setCookie) brokenPrefix() string {
	prefix := cookiePrefix(c.name)
	var lacks []string
	if prefix != "" && !c.secure {
		lacks = append(lacks, "Secure")
	}
	if strings.HasSuffix(prefix, "http-") && !c.httpOnly {
		lacks = append(lacks, "HttpOnly")
	}
	if strings.HasPrefix(prefix, "__host-") {
		if c.path != "/" {
			lacks = append(lacks, "Path=/")
		}
		if c.hasDomain {
			lacks = append(lacks, "the absence of Domain")
		}
	}
	return strings.Join(lacks, ", ")
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
