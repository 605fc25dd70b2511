package csp

import (
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/tool/finding"
)

// The codes of issues that Lint returns.
const (
	NotASCII           = "CSP_NOT_ASCII"
	DuplicateDirective = "CSP_DUPLICATE_DIRECTIVE"
	UnexpectedValue    = "CSP_UNEXPECTED_VALUE"
	RetiredDirective   = "CSP_RETIRED_DIRECTIVE"
	ReportURI          = "CSP_REPORT_URI"
	DirectiveColon     = "CSP_DIRECTIVE_WITH_COLON"
	SourceAsDirective  = "CSP_SOURCE_AS_DIRECTIVE"
	UnknownDirective   = "CSP_UNKNOWN_DIRECTIVE"
	SandboxToken       = "CSP_UNKNOWN_SANDBOX_TOKEN" // #nosec G101 -- a code
	TrustedTypesSink   = "CSP_TRUSTED_TYPES_SINK"
	ReportToNames      = "CSP_REPORT_TO_NAMES"
	EmptyList          = "CSP_EMPTY_LIST"
	NoneWithOthers     = "CSP_NONE_WITH_OTHERS"
	InlineIgnored      = "CSP_INLINE_IGNORED"
	ShortNonce         = "CSP_SHORT_NONCE"
	BadHash            = "CSP_BAD_HASH"
	MalformedNonce     = "CSP_MALFORMED_NONCE"
	MalformedHash      = "CSP_MALFORMED_HASH"
	UnknownKeyword     = "CSP_UNKNOWN_KEYWORD"
	IPv6Source         = "CSP_IPV6_SOURCE"
	InvalidSource      = "CSP_INVALID_SOURCE"
	UnquotedKeyword    = "CSP_UNQUOTED_KEYWORD"
	MissingSemicolon   = "CSP_MISSING_SEMICOLON"
	MisplacedSource    = "CSP_MISPLACED_SOURCE"
)

// The codes of why a directive is retired, the argument "why" of RetiredDirective.
const (
	whyDefault    = "CSP_WHY_DEFAULT_SRC"
	whyPrefetch   = "CSP_WHY_PREFETCH"
	whyMixed      = "CSP_WHY_MIXED_CONTENT"
	whyPlugins    = "CSP_WHY_PLUGINS"
	whyReferrer   = "CSP_WHY_REFERRER_POLICY"
	whyFilters    = "CSP_WHY_FILTERS"
	whyRemoved    = "CSP_WHY_REMOVED"
	whyIntegrity  = "CSP_WHY_INTEGRITY_POLICY"
	whyOpener     = "CSP_WHY_OPENER_POLICY"
	whyHeader     = "CSP_WHY_HEADER"
	whyScriptSrc  = "CSP_WHY_SCRIPT_SRC"
	whyConnectSrc = "CSP_WHY_CONNECT_SRC"
)

// Lint returns what a browser ignores in the policy, and why. The same issue is reported once.
func (p Policy) Lint() []Issue {
	l := linter{seen: make(map[[3]string]bool)}
	if p.NonASCII > 0 {
		l.add(NotASCII, "", "")
	}
	for _, name := range p.Duplicates {
		l.add(DuplicateDirective, Shown(name), "")
	}
	for _, d := range p.Directives {
		l.directive(p, d)
	}
	return l.issues
}

// linter gathers issues.
type linter struct {
	issues []Issue
	seen   map[[3]string]bool
}

// add reports an issue of a directive and one of its sources; each may be empty.
func (l *linter) add(code, directive, source string) {
	args := finding.Args{}
	if directive != "" {
		args["directive"] = directive
	}
	if source != "" {
		args["source"] = Shown(source)
	}
	l.addArgs(code, directive, source, args)
}

func (l *linter) addArgs(code, directive, detail string, args finding.Args) {
	if key := [3]string{code, directive, Shown(detail)}; !l.seen[key] {
		l.seen[key] = true
		l.issues = append(l.issues, Issue{code, args})
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
			l.add(UnexpectedValue, d.Name, "")
		}
	case freeText:
		l.text(d)
	case retired:
		l.addArgs(RetiredDirective, d.Name, "", finding.Args{"directive": d.Name, "why": about.why})
	}
}

func (l *linter) unknown(d Directive) {
	switch {
	case known[strings.TrimSuffix(d.Name, ":")].grammar != 0:
		l.add(DirectiveColon, Shown(d.Name), "")
	case ParseSource(d.Name).Kind != Invalid && strings.ContainsAny(d.Name, "':./*"):
		l.add(SourceAsDirective, Shown(d.Name), "")
	default:
		l.add(UnknownDirective, Shown(d.Name), "")
	}
}

func (l *linter) sandbox(d Directive) {
	for _, token := range d.Values {
		if !sandboxFlags[strings.ToLower(token)] {
			l.add(SandboxToken, "", token)
		}
	}
}

func (l *linter) text(d Directive) {
	switch d.Name {
	case "report-uri":
		l.add(ReportURI, "", "")
	case "require-trusted-types-for":
		if !slices.Contains(d.Values, "'script'") {
			l.add(TrustedTypesSink, "", "")
		}
	case "report-to":
		if len(d.Values) != 1 {
			l.add(ReportToNames, "", "")
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
		l.add(EmptyList, d.Name, "")
	}
	if len(sources) > 1 && sources.hasKind(None) {
		l.add(NoneWithOthers, d.Name, "")
	}
	if sources.trusts() && sources.has("'unsafe-inline'") {
		l.add(InlineIgnored, d.Name, "")
	}
}

func (l *linter) source(d Directive, s Source) {
	switch s.Kind {
	case Invalid:
		l.invalid(d, s)
	case Host:
		l.host(d, s)
	case Nonce:
		if bits := s.NonceBits(); bits < MinNonceBits {
			l.addArgs(ShortNonce, d.Name, strconv.Itoa(bits),
				finding.Args{"directive": d.Name, "bits": bits, "needed": MinNonceBits})
		}
	case Hash:
		if !s.DigestFits() {
			l.addArgs(BadHash, d.Name, s.Algorithm, finding.Args{"directive": d.Name, "algorithm": s.Algorithm})
		}
	case None, Keyword, Scheme:
	}
}

func (l *linter) invalid(d Directive, s Source) {
	lower := strings.ToLower(s.Text)
	switch {
	case strings.HasPrefix(lower, "'nonce-"):
		l.add(MalformedNonce, d.Name, "")
	case strings.HasPrefix(lower, "'sha"):
		l.add(MalformedHash, d.Name, "")
	case strings.HasPrefix(lower, "'"):
		l.add(UnknownKeyword, d.Name, s.Text)
	case strings.Contains(lower, "["):
		l.add(IPv6Source, d.Name, s.Text)
	default:
		l.add(InvalidSource, d.Name, s.Text)
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
		l.add(UnquotedKeyword, d.Name, s.Text)
	case known[word].grammar != 0:
		l.add(MissingSemicolon, d.Name, s.Text)
	}
}

// misplaced reports sources that mean nothing in the directive.
func (l *linter) misplaced(d Directive, s Source) {
	if s.Kind == Nonce || s.Kind == Hash || s.Kind == Keyword && s.Keyword != "'self'" && s.Keyword != "'report-sample'" {
		l.add(MisplacedSource, d.Name, s.Text)
	}
}
