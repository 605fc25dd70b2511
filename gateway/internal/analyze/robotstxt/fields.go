package robotstxt

import (
	"net/url"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/ascii"
)

// maxCrawlDelay is a day in seconds; what is longer is a mistake.
const maxCrawlDelay = 24 * 60 * 60

func (p *parser) sitemap(number int, value string) {
	if value == "" {
		p.issues.add(CodeSitemapMissing, number, nil)
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil:
		p.issues.add(CodeSitemapInvalid, number, nil)
	case !u.IsAbs() || u.Host == "":
		p.issues.add(CodeSitemapRelative, number, nil)
	default:
		p.sitemaps = append(p.sitemaps, Sitemap{URL: strings.ToValidUTF8(value, "\uFFFD"), Line: number})
	}
}

// crawlDelay is for the crawlers that the group has named so far: files that separate groups by it alone are common.
func (p *parser) crawlDelay(number int, value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || !(seconds >= 0) || seconds > maxCrawlDelay:
		p.issues.add(CodeBadCrawlDelay, number, nil)
		return
	case len(p.rules) == 0:
		p.issues.add(CodeRuleBeforeAgent, number, finding.Args{"delay": true})
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

// known are fields that crawlers once read, or that some read still.
var known = map[string]string{
	"noindex": CodeRetiredField, "nofollow": CodeRetiredField, "noarchive": CodeRetiredField,
	"host": CodeExtension, "clean-param": CodeExtension, "request-rate": CodeExtension, "visit-time": CodeExtension,
	"content-signal": CodeProposal, "content-usage": CodeProposal,
}

// typos are spellings that some crawlers accept and others do not.
var typos = map[string]string{
	"useragent": "user-agent", "user agent": "user-agent", "user_agent": "user-agent", "user–agent": "user-agent",
	"dissallow": "disallow", "dissalow": "disallow", "disalow": "disallow", "diasllow": "disallow", "disallaw": "disallow",
	"site-map": "sitemap", "site map": "sitemap", "sitemaps": "sitemap",
	"crawldelay": "crawl-delay", "crawl delay": "crawl-delay", "crawl_delay": "crawl-delay",
}

func (p *parser) unknown(number int, name string) {
	if p.issues.full() { // spares the arguments: a file may have nothing but such lines
		return
	}
	shown := show(name)
	switch code, isKnown := known[name]; {
	case code == CodeRetiredField:
		p.issues.add(code, number, finding.Args{"field": name, "never": name == "noarchive"})
	case code == CodeExtension:
		p.issues.add(code, number, finding.Args{"field": capitalized(name), "host": name == "host",
			"yandex": name == "clean-param"})
	case isKnown:
		p.issues.add(code, number, finding.Args{"field": capitalized(name)})
	case typos[name] != "":
		p.issues.add(CodeMisspelt, number, finding.Args{"field": shown, "meant": typos[name]})
	case shown == "":
		p.issues.add(CodeFieldMissing, number, nil)
	default:
		p.issues.add(CodeUnknownField, number, finding.Args{"field": shown})
	}
}

func capitalized(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

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
