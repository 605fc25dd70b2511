package robotstxt

import (
	"net/url"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"
)

// maxCrawlDelay is a day in seconds; what is longer is a mistake.
const maxCrawlDelay = 24 * 60 * 60

func (p *parser) sitemap(number int, value string) {
	if value == "" {
		p.issues.add(CodeSitemapMissing, SeverityFail, number, "The sitemap line names no URL.")
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil:
		p.issues.add(CodeSitemapInvalid, SeverityFail, number, "The sitemap line does not have a valid URL.")
	case !u.IsAbs() || u.Host == "":
		p.issues.add(CodeSitemapRelative, SeverityFail, number,
			"The URL of a sitemap must be absolute, with scheme and host.")
	default:
		p.sitemaps = append(p.sitemaps, Sitemap{URL: strings.ToValidUTF8(value, "\uFFFD"), Line: number})
	}
}

// crawlDelay is for the crawlers that the group has named so far: files that separate groups by it alone are common.
func (p *parser) crawlDelay(number int, value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || !(seconds >= 0) || seconds > maxCrawlDelay:
		p.issues.add(CodeBadCrawlDelay, SeverityWarn, number, "The crawl delay is not a number of seconds.")
		return
	case len(p.rules) == 0:
		p.issues.add(CodeRuleBeforeAgent, SeverityFail, number,
			"The crawl delay comes before any user-agent line, so it applies to no one.")
		return
	}
	if !p.ruled {
		p.other = number
	}
	for _, a := range p.open {
		if a.delay == nil {
			a.delay = &seconds
		}
	}
}

// retired are fields that crawlers once read, or that some read still, with what there is to know.
var retired = map[string]struct {
	severity Severity
	say      string
}{
	"noindex": {SeverityWarn,
		"Crawlers no longer read noindex here. Use a robots meta tag or the X-Robots-Tag header."},
	"nofollow": {SeverityWarn,
		"Crawlers no longer read nofollow here. Use a robots meta tag or the X-Robots-Tag header."},
	"noarchive": {SeverityWarn,
		"Crawlers do not read noarchive here. Use a robots meta tag or the X-Robots-Tag header."},
	"host": {SeverityInfo,
		"Host is an extension that hardly any crawler reads. A redirect to the preferred host does the same for all " +
			"crawlers."},
	"clean-param":    {SeverityInfo, "Clean-param is an extension of Yandex."},
	"request-rate":   {SeverityInfo, "Request-rate is an extension that hardly any crawler reads."},
	"visit-time":     {SeverityInfo, "Visit-time is an extension that hardly any crawler reads."},
	"content-signal": {SeverityInfo, "Content-signal is a proposal that not every crawler reads."},
	"content-usage":  {SeverityInfo, "Content-usage is a proposal that not every crawler reads."},
}

// typos are spellings that some crawlers accept and others do not.
var typos = map[string]string{
	"useragent": "user-agent", "user agent": "user-agent", "user_agent": "user-agent", "user–agent": "user-agent",
	"dissallow": "disallow", "dissalow": "disallow", "disalow": "disallow", "diasllow": "disallow", "disallaw": "disallow",
	"site-map": "sitemap", "site map": "sitemap", "sitemaps": "sitemap",
	"crawldelay": "crawl-delay", "crawl delay": "crawl-delay", "crawl_delay": "crawl-delay",
}

func (p *parser) unknown(number int, name string) {
	if known, ok := retired[name]; ok {
		p.issues.add(CodeUnknownField, known.severity, number, "%s", known.say)
		return
	}
	if meant, ok := typos[name]; ok {
		p.issues.add(CodeMisspelt, SeverityFail, number, "%s is not a field. Write %s.", show(name), meant)
		return
	}
	if show(name) == "" {
		p.issues.add(CodeUnknownField, SeverityWarn, number, "The line has no field before its colon.")
		return
	}
	p.issues.add(CodeUnknownField, SeverityWarn, number, "%s is not a field that crawlers know.", show(name))
}

// productToken is the start of a user-agent value that names a crawler: "*", or letters, digits, _ and -. RFC 9309
// section 2.2.1 leaves the digits out, but real crawlers have them in their names.
func productToken(value string) string {
	if value == "*" || strings.HasPrefix(value, "*") && strings.ContainsAny(value[1:2], space) {
		return "*"
	}
	end := strings.IndexFunc(value, func(r rune) bool { return !ascii.IsAlphanumeric(r) && r != '_' && r != '-' })
	if end < 0 {
		return value
	}
	return value[:end]
}
