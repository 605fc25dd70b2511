package robotstxt

import (
	"slices"
	"strings"
)

// Effect sums up what a file says to a crawler.
type Effect string

// The effects.
const (
	AllowAll    Effect = "allowAll"
	SomeRules   Effect = "rules"
	DisallowAll Effect = "disallowAll"
)

// Effect is what the file says to a crawler without a group of its own: the group for "*" decides, and where there is
// none everything is allowed.
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
