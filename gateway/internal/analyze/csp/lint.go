package csp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Lint returns what a browser ignores in the policy, and why. An issue of one code and message is reported once; the
// most severe come first.
func (p Policy) Lint() []Issue {
	l := linter{seen: make(map[Issue]bool)}
	if p.NonASCII > 0 {
		l.add(Warn, "non-ascii", "A directive contains characters outside ASCII, so browsers ignore the whole directive.")
	}
	for _, name := range p.Duplicates {
		l.add(Warn, "duplicate-directive", Quote(name)+" appears more than once; only the first counts.")
	}
	for _, d := range p.Directives {
		l.directive(p, d)
	}
	return sorted(l.issues)
}

func sorted(issues []Issue) []Issue {
	slices.SortStableFunc(issues, func(a, b Issue) int { return cmp.Compare(b.Severity, a.Severity) })
	return issues
}

// linter gathers issues.
type linter struct {
	issues []Issue
	seen   map[Issue]bool
}

func (l *linter) add(severity Severity, code, message string) {
	issue := Issue{Severity: severity, Code: code, Message: message}
	if !l.seen[issue] {
		l.seen[issue] = true
		l.issues = append(l.issues, issue)
	}
}

func (l *linter) directive(p Policy, d Directive) {
	about, isKnown := known[d.Name]
	if !isKnown {
		l.unknown(d)
		return
	}
	switch about.grammar {
	case sourceList, ancestorList:
		l.sources(d, p.lists[d.Name], about.grammar)
	case sandboxTokens:
		l.sandbox(d)
	case noValue:
		if len(d.Values) > 0 {
			l.add(Warn, "unexpected-value", d.Name+" takes no value; is a semicolon missing after it?")
		}
	case freeText:
		l.text(d)
	case retired:
		l.add(Info, "retired-directive", d.Name+" does nothing in today's browsers: "+about.note+".")
	}
}

func (l *linter) unknown(d Directive) {
	switch {
	case known[strings.TrimSuffix(d.Name, ":")].grammar != 0:
		l.add(Warn, "unknown-directive", Quote(d.Name)+" is not a directive: write the name without a colon.")
	case ParseSource(d.Name).Kind != Invalid && strings.ContainsAny(d.Name, "':./*"):
		l.add(Warn, "unknown-directive", Quote(d.Name)+" is where a directive's name should be: spaces separate sources, "+
			"a comma begins another policy and a semicolon another directive.")
	default:
		l.add(Warn, "unknown-directive", Quote(d.Name)+" is not a directive that browsers know, so they ignore it.")
	}
}

func (l *linter) sandbox(d Directive) {
	for _, token := range d.Values {
		if !sandboxFlags[strings.ToLower(token)] {
			l.add(Warn, "unknown-sandbox-token", Quote(token)+" in sandbox is not a token that browsers know.")
		}
	}
}

func (l *linter) text(d Directive) {
	switch d.Name {
	case "report-uri":
		l.add(Info, "retired-directive", "report-uri is being replaced by report-to with a Reporting-Endpoints header; "+
			"browsers that know both use report-to.")
	case "require-trusted-types-for":
		if !slices.Contains(d.Values, "'script'") {
			l.add(Warn, "trusted-types-sink",
				"require-trusted-types-for has only one value that counts: 'script', with its quotes.")
		}
	case "report-to":
		if len(d.Values) != 1 {
			l.add(Warn, "report-to-names", "report-to takes the name of one endpoint.")
		}
	}
}

func (l *linter) sources(d Directive, sources list, grammar grammar) {
	for _, s := range sources {
		l.source(d, s)
		if grammar == ancestorList || !strings.HasPrefix(d.Name, "script-src") && !strings.HasPrefix(d.Name, "style-src") &&
			d.Name != "default-src" {
			l.misplaced(d, s)
		}
	}
	if len(sources) == 0 {
		l.add(Info, "empty-list", d.Name+" has no value, which allows nothing, just like 'none'.")
	}
	if len(sources) > 1 && sources.hasKind(None) {
		l.add(Warn, "none-with-others", "'none' in "+d.Name+" is ignored because it is not the only source.")
	}
	if sources.trusts() && sources.has("'unsafe-inline'") {
		l.add(Info, "inline-taken-back", "'unsafe-inline' in "+d.Name+" is ignored because of the nonces or hashes beside "+
			"it; only very old browsers use it.")
	}
}

func (l *linter) source(d Directive, s Source) {
	switch s.Kind {
	case Invalid:
		l.invalid(d, s)
	case Host:
		l.host(d, s)
	case Nonce:
		if s.NonceBits() < MinNonceBits {
			l.add(Warn, "short-nonce", fmt.Sprintf("The nonce in %s has at most %d bits; it needs at least %d random bits, "+
				"new in every answer.", d.Name, s.NonceBits(), MinNonceBits))
		}
	case Hash:
		if !s.DigestFits() {
			l.add(Warn, "bad-hash", fmt.Sprintf("A hash in %s does not have the length of %s, so it never matches.", d.Name,
				s.Algorithm))
		}
	case None, Keyword, Scheme:
	}
}

func (l *linter) invalid(d Directive, s Source) {
	lower := strings.ToLower(s.Text)
	switch {
	case strings.HasPrefix(lower, "'nonce-"):
		l.add(Warn, "invalid-source",
			"A nonce in "+d.Name+" is malformed: it is base64, with a quotation mark on both sides.")
	case strings.HasPrefix(lower, "'sha"):
		l.add(Warn, "invalid-source",
			"A hash in "+d.Name+" is malformed: it is 'sha256-…', 'sha384-…' or 'sha512-…' in base64.")
	case strings.HasPrefix(lower, "'"):
		l.add(Warn, "invalid-source", Quote(s.Text)+" in "+d.Name+" is not a keyword that browsers know.")
	case strings.Contains(lower, "["):
		l.add(Warn, "invalid-source", Quote(s.Text)+" in "+d.Name+" is not a source: IPv6 addresses are not allowed.")
	default:
		l.add(Warn, "invalid-source", Quote(s.Text)+" in "+d.Name+" is not a source and is ignored.")
	}
}

// bareWord reports whether a word is a keyword that people write without the quotes that make it one.
func bareWord(word string) bool {
	quoted := "'" + word + "'"
	return keywords[quoted] || quoted == "'none'" || strings.HasPrefix(word, "nonce-") || digestPrefix(word)
}

func digestPrefix(word string) bool {
	algorithm, _, ok := strings.Cut(word, "-")
	return ok && digestLengths[algorithm] > 0
}

func (l *linter) host(d Directive, s Source) {
	word := strings.ToLower(s.Text)
	switch {
	case s.Scheme == "" && s.Port == "" && s.Path == "" && bareWord(word):
		l.add(Warn, "unquoted-keyword", Quote(s.Text)+" in "+d.Name+" lacks its single quotes, so it names a host.")
	case known[word].grammar != 0:
		l.add(Warn, "missing-semicolon",
			Quote(s.Text)+" is among the sources of "+d.Name+": is a semicolon missing before it?")
	}
}

// misplaced reports sources that mean nothing in the directive.
func (l *linter) misplaced(d Directive, s Source) {
	if s.Kind == Nonce || s.Kind == Hash || s.Kind == Keyword && s.Keyword != "'self'" && s.Keyword != "'report-sample'" {
		l.add(Info, "misplaced-source", Quote(s.Text)+" has no effect in "+d.Name+".")
	}
}
