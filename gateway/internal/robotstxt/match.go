package robotstxt

import "strings"

// Verdict is what a file says to one crawler about one path.
type Verdict struct {
	Allowed bool
	// Rule is the one that decided, nil where none matches.
	Rule *Rule
}

// Group gives the group that is for a crawler: the one that names its product token (case does not count), else the one
// for "*". It is nil where there is neither, and everything is allowed.
func (f File) Group(crawler string) *Group {
	var all *Group
	token := productToken(crawler)
	for i := range f.Groups {
		for _, name := range f.Groups[i].UserAgents {
			if name == "*" {
				all = &f.Groups[i]
			} else if strings.EqualFold(name, token) {
				return &f.Groups[i]
			}
		}
	}
	return all
}

// MayFetch tells whether the crawler may fetch the path (with its query, as it stands in a URL). /robots.txt itself is
// always allowed (RFC 9309 section 2.2.2).
func (f File) MayFetch(crawler, path string) Verdict {
	if path == "/robots.txt" {
		return Verdict{Allowed: true}
	}
	group := f.Group(crawler)
	if group == nil {
		return Verdict{Allowed: true}
	}
	return group.decide(path)
}

// decide finds the most specific rule, the one with the most octets; allow wins a tie (RFC 9309 section 2.2.2).
func (g *Group) decide(path string) Verdict {
	subject := newSubject(path)
	verdict, longest := Verdict{Allowed: true}, -1
	for i := range g.Rules {
		rule := &g.Rules[i]
		pattern := newPattern(rule.Path)
		if rule.Path == "" || !pattern.matches(subject) {
			continue
		}
		if n := pattern.length(); n > longest || n == longest && rule.Type == Allow && !verdict.Allowed {
			verdict, longest = Verdict{Allowed: rule.Type == Allow, Rule: rule}, n
		}
	}
	return verdict
}

// Effect sums up what a file says to a crawler.
type Effect string

// The effects.
const (
	AllowAll    Effect = "allowAll"
	SomeRules   Effect = "rules"
	DisallowAll Effect = "disallowAll"
)

// Effect is what the file says to a crawler without a group of its own.
func (f File) Effect() Effect {
	group := f.Group("")
	if group == nil {
		return AllowAll
	}
	return group.effect()
}

// effect looks for rules that no other can outweigh: a pattern that matches every path decides against all that are shorter.
func (g *Group) effect() Effect {
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

// pattern is a rule's path in the two normal forms in which paths are compared (see subject).
type pattern struct {
	plain, query string
	end          bool // a $ at the end: the path ends here
}

func newPattern(path string) pattern {
	path, end := strings.CutSuffix(path, "$")
	return pattern{plain: normal(path, "*"), query: queryDecoded(normal(path, "*")), end: end}
}

// length is the number of octets of the pattern, its special characters included.
func (p pattern) length() int {
	if p.end {
		return len(p.plain) + 1
	}
	return len(p.plain)
}

// canMatch tells whether any path can match: all begin with a slash.
func (p pattern) canMatch() bool {
	return strings.HasPrefix(p.plain, "/") || strings.HasPrefix(p.plain, "*")
}

// matchesAll tells whether every path matches: a slash, or nothing, among any number of stars.
func (p pattern) matchesAll() bool {
	rest := strings.Trim(p.plain, "*")
	open := !p.end || strings.HasSuffix(p.plain, "*")
	return p.plain != "" && open && (rest == "" || rest == "/")
}

// subject is a URL's path and query as they are compared. A reserved character and its percent-encoding are not the same
// in a path (/a%2Fb is not /a/b), but RFC 9309 section 2.2.2 wants them to be in a query (?u=http%3A%2F%2Fx): hence the two.
type subject struct{ plain, query string }

func newSubject(path string) subject {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	plain := normal(path, "")
	return subject{plain: plain, query: queryDecoded(plain)}
}

func (p pattern) matches(s subject) bool {
	return p.canMatch() && (wildcard(p.plain, s.plain, p.end) || wildcard(p.query, s.query, p.end))
}

// wildcard matches with * for any octets, from the start of the text and, where end is set, to its end. It goes back to the
// last star alone, so that no pattern takes longer than the product of both lengths.
func wildcard(pattern, text string, end bool) bool {
	p, t, star, mark := 0, 0, -1, 0
	for {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p == len(pattern) && (!end || t == len(text)):
			return true
		case p < len(pattern) && t < len(text) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0 && mark < len(text):
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
}
