package securityheaders

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/shared/ascii"
)

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
