// Package csp reads Content Security Policies by the grammar and the algorithms of W3C CSP Level 3 (section numbers are
// that text's) and says what several of them allow together and what is wrong with each. It is pure: no I/O.
//
// A policy is a list of directives (parse.go), most of which hold a list of source expressions (source.go). What a
// directive governs, and which other one speaks where it is absent, is a table (directive.go). What all enforced
// policies allow is asked in allow.go; what a reviewer would say of them is in assess.go, and of their syntax in
// lint.go.
package csp

import (
	"strings"

	"diagnostics/shared/ascii"
)

// Policy is one serialized policy (section 2.2).
type Policy struct {
	// Directives are the first of each name, in order.
	Directives []Directive
	// Duplicates are the names of directives that a browser ignores, because one of the name came before, each once.
	Duplicates []string
	// NonASCII counts the directives that a browser ignores because they are not ASCII.
	NonASCII int

	byName map[string]int
	// lists are the directives that hold sources, by name: each is read once, since a header may have thousands of them.
	lists map[string]list
}

// Directive is a name and its values.
type Directive struct {
	Name   string // lower case
	Values []string
}

// ParseHeaders reads the values of the header fields of one name (section 2.2.2). Each may hold several policies: a
// comma always separates two of them. A policy without anything in it is none.
func ParseHeaders(values []string) []Policy {
	var policies []Policy
	for _, value := range values {
		for serialized := range strings.SplitSeq(value, ",") {
			if p := Parse(serialized); len(p.Directives) > 0 || p.NonASCII > 0 {
				policies = append(policies, p)
			}
		}
	}
	return policies
}

// Parse reads one serialized policy (section 2.2.1). Nothing is an error there: what cannot be read is ignored.
func Parse(serialized string) Policy {
	p := Policy{byName: make(map[string]int), lists: make(map[string]list)}
	duplicates := make(map[string]bool)
	for token := range strings.SplitSeq(serialized, ";") {
		token = strings.Trim(token, whitespace)
		switch {
		case token == "":
			continue
		case !ascii.Is(token):
			p.NonASCII++
			continue
		}
		fields := strings.FieldsFunc(token, isWhitespace)
		name := strings.ToLower(fields[0])
		if _, seen := p.byName[name]; !seen {
			p.byName[name] = len(p.Directives)
			p.Directives = append(p.Directives, Directive{Name: name, Values: fields[1:]})
			if g := known[name].grammar; g == sourceList || g == ancestorList {
				p.lists[name] = parseList(fields[1:])
			}
			continue
		}
		if !duplicates[name] {
			duplicates[name] = true
			p.Duplicates = append(p.Duplicates, name)
		}
	}
	return p
}

// Directive gives the directive of the name itself.
func (p Policy) Directive(name string) (Directive, bool) {
	i, ok := p.byName[name]
	if !ok {
		return Directive{}, false
	}
	return p.Directives[i], true
}

// Effective gives the directive that governs what the name governs: the directive itself or the first of its fallbacks
// (section 6.8.3). There is none where nothing is restricted.
func (p Policy) Effective(name string) (Directive, bool) {
	d, ok := p.Directive(name)
	for fallbacks := known[name].fallbacks; !ok && len(fallbacks) > 0; fallbacks = fallbacks[1:] {
		d, ok = p.Directive(fallbacks[0])
	}
	return d, ok
}

// effectiveList gives the sources of the directive that governs what the name governs.
func (p Policy) effectiveList(name string) (list, bool) {
	d, ok := p.Effective(name)
	return p.lists[d.Name], ok
}

// whitespace is ASCII whitespace as the Infra standard has it.
const whitespace = "\t\n\f\r "

func isWhitespace(r rune) bool { return r < 0x80 && strings.ContainsRune(whitespace, r) }
