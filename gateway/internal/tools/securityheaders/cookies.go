package securityheaders

import (
	"fmt"
	"strings"
	"time"

	"diagnostics/gateway/internal/tools/internal/webview"

	"golang.org/x/net/publicsuffix"
)

// cookie is one Set-Cookie field. SameSite is Strict, Lax or None, null where it is absent or no such value.
type cookie struct {
	Name     string        `json:"name"`
	Secure   bool          `json:"secure"`
	HTTPOnly bool          `json:"httpOnly"`
	SameSite *string       `json:"sameSite"`
	Issues   []cookieIssue `json:"issues"`
}

// cookieIssue is what is wrong with one cookie.
type cookieIssue struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // fail, warn or info
	Message  string `json:"message"`
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

// judgeRefusals tells what makes browsers refuse the cookie.
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

// weighCookie tells the worst of what is wrong with a cookie. What would only be better still is left to the list of
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
