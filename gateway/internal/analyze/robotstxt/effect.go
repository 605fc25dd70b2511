package robotstxt

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"diagnostics/shared/ascii"
)

// Effect is what a file allows a crawler.
type Effect string

// The effects.
const (
	AllowAll    Effect = "allowAll"
	SomeRules   Effect = "rules"
	DisallowAll Effect = "disallowAll"
)

// Effect returns what the file allows a crawler without a group of its own: the group for "*" decides, and where there
// is none everything is allowed.
func (f File) Effect() Effect {
	for _, group := range f.Groups {
		if slices.Contains(group.UserAgents, "*") {
			return group.effect()
		}
	}
	return AllowAll
}

// effect looks for rules that no other can outweigh: a pattern that matches every path decides against all that are
// shorter.
func (g Group) effect() Effect {
	openTo, shutTo := -1, -1 // the longest rule for every path, by type
	for _, rule := range g.Rules {
		if p := newPattern(rule.Path); p.matchesAll() && rule.Type == Allow {
			openTo = max(openTo, p.length())
		} else if p.matchesAll() {
			shutTo = max(shutTo, p.length())
		}
	}
	allows, disallows := false, false
	for _, rule := range g.Rules {
		p := newPattern(rule.Path)
		switch {
		case !p.canMatch():
		case rule.Type == Allow && p.length() >= shutTo:
			allows = true
		case rule.Type == Disallow && p.length() > openTo:
			disallows = true
		}
	}
	switch {
	case !disallows:
		return AllowAll
	case shutTo > openTo && !allows:
		return DisallowAll
	}
	return SomeRules
}

// pattern is a rule's path in its normal form.
type pattern struct {
	plain string
	end   bool // a $ at the end: the path ends here
}

func newPattern(path string) pattern {
	path, end := strings.CutSuffix(path, "$")
	return pattern{plain: normal(path), end: end}
}

// length is the number of octets of the pattern, its special characters included.
func (p pattern) length() int {
	if p.end {
		return len(p.plain) + 1
	}
	return len(p.plain)
}

// canMatch reports whether any path can match: all begin with a slash.
func (p pattern) canMatch() bool {
	return strings.HasPrefix(p.plain, "/") || strings.HasPrefix(p.plain, "*")
}

// matchesAll reports whether every path matches: a slash, or nothing, among any number of stars.
func (p pattern) matchesAll() bool {
	rest := strings.Trim(p.plain, "*")
	open := !p.end || strings.HasSuffix(p.plain, "*")
	return p.plain != "" && open && (rest == "" || rest == "/")
}

const upperHex = "0123456789ABCDEF"

// normal writes a pattern as its octets are compared and counted (RFC 9309 section 2.2.2): escapes of unreserved
// characters are undone, all others in upper case; octets outside ASCII are escaped, and so is $, which is special at
// the end alone.
func normal(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && ascii.StartsWithEscape(path[i:]) {
			octet, _ := strconv.ParseUint(path[i+1:i+3], 16, 8)
			c = byte(octet)
			i += 2
			if isUnreserved(c) {
				b.WriteByte(c)
			} else {
				writeEscape(&b, c)
			}
			continue
		}
		if c >= utf8.RuneSelf || c == '$' {
			writeEscape(&b, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func writeEscape(b *strings.Builder, c byte) { b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]}) }

func isUnreserved(c byte) bool {
	return ascii.IsAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0
}

// Crawler is a well-known crawler, and what a site allows it.
type Crawler struct {
	Name   string // its product token
	Effect Effect
}

// crawlers are the well-known ones, search engines first. follows is the group that a crawler uses where none names
// itself, by its documentation: Applebot Googlebot's, YandexBot the one for all robots of Yandex.
var crawlers = []struct{ name, follows string }{
	{name: "Googlebot"},
	{name: "Bingbot"},
	{name: "Applebot", follows: "Googlebot"},
	{name: "DuckDuckBot"},
	{name: "YandexBot", follows: "Yandex"},
	{name: "GPTBot"},
	{name: "ClaudeBot"},
	{name: "CCBot"},
}

// Crawlers returns what the file allows each of the well-known crawlers, always in the same order.
func (f File) Crawlers() []Crawler {
	groups := make(map[string]int) // by lower-case token
	for i, group := range f.Groups {
		for _, token := range group.UserAgents {
			groups[strings.ToLower(token)] = i
		}
	}
	effects := make(map[int]Effect) // a file may be long, and one group for all of them
	list := make([]Crawler, 0, len(crawlers))
	for _, c := range crawlers {
		crawler := Crawler{Name: c.name, Effect: AllowAll}
		for _, token := range []string{c.name, c.follows, "*"} {
			i, ok := groups[strings.ToLower(token)]
			if !ok {
				continue
			}
			if _, known := effects[i]; !known {
				effects[i] = f.Groups[i].effect()
			}
			crawler.Effect = effects[i]
			break
		}
		list = append(list, crawler)
	}
	return list
}

// CrawlersWithoutFile returns the well-known crawlers with one effect for all, for a site without rules.
func CrawlersWithoutFile(effect Effect) []Crawler {
	list := make([]Crawler, 0, len(crawlers))
	for _, c := range crawlers {
		list = append(list, Crawler{Name: c.name, Effect: effect})
	}
	return list
}
