// Package csp reads Content Security Policies by the grammar and the algorithms of W3C CSP Level 3 (section numbers are
// that text's) and reports what several of them allow together and what is wrong with each. It is pure: no I/O.
//
// A policy is a list of directives, most of which hold a list of source expressions: parse.go, which also has the table
// of directives and their fallbacks. allow.go reports what all enforced policies allow together, assess.go reviews
// them, and lint.go checks their syntax.
package csp

import (
	"encoding/base64"
	"slices"
	"strings"

	"diagnostics/shared/ascii"

	"golang.org/x/net/publicsuffix"
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

// Directive returns the directive of the name itself.
func (p Policy) Directive(name string) (Directive, bool) {
	i, ok := p.byName[name]
	if !ok {
		return Directive{}, false
	}
	return p.Directives[i], true
}

// Effective returns the directive that governs what the name governs: the directive itself or the first of its
// fallbacks (section 6.8.3). There is none where nothing is restricted.
func (p Policy) Effective(name string) (Directive, bool) {
	d, ok := p.Directive(name)
	for fallbacks := known[name].fallbacks; !ok && len(fallbacks) > 0; fallbacks = fallbacks[1:] {
		d, ok = p.Directive(fallbacks[0])
	}
	return d, ok
}

// effectiveList returns the sources of the directive that governs what the name governs.
func (p Policy) effectiveList(name string) (list, bool) {
	d, ok := p.Effective(name)
	return p.lists[d.Name], ok
}

// whitespace is ASCII whitespace as the Infra standard has it.
const whitespace = "\t\n\f\r "

func isWhitespace(r rune) bool { return r < 0x80 && strings.ContainsRune(whitespace, r) }

// grammar is what a directive's values are.
type grammar int

const (
	sourceList    grammar = iota + 1 // section 2.3.1
	ancestorList                     // section 6.4.2: sources without nonces, hashes and unsafe keywords
	sandboxTokens                    // section 6.3.2
	noValue
	freeText
	retired // no browser of today acts on it
)

// about is a row of the table of directives.
type about struct {
	grammar   grammar
	fallbacks []string // whose list governs where this one is absent, in order (section 6.8.3)
	why       string   // the code of why it is retired
}

// known are the directives of CSP Level 3, of the specifications that extend it, and those that were removed.
var known = map[string]about{
	"default-src":      {grammar: sourceList},
	"script-src":       {grammar: sourceList, fallbacks: []string{"default-src"}},
	"script-src-elem":  {grammar: sourceList, fallbacks: []string{"script-src", "default-src"}},
	"script-src-attr":  {grammar: sourceList, fallbacks: []string{"script-src", "default-src"}},
	"style-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"style-src-elem":   {grammar: sourceList, fallbacks: []string{"style-src", "default-src"}},
	"style-src-attr":   {grammar: sourceList, fallbacks: []string{"style-src", "default-src"}},
	"img-src":          {grammar: sourceList, fallbacks: []string{"default-src"}},
	"font-src":         {grammar: sourceList, fallbacks: []string{"default-src"}},
	"media-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"connect-src":      {grammar: sourceList, fallbacks: []string{"default-src"}},
	"manifest-src":     {grammar: sourceList, fallbacks: []string{"default-src"}},
	"object-src":       {grammar: sourceList, fallbacks: []string{"default-src"}},
	"child-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"frame-src":        {grammar: sourceList, fallbacks: []string{"child-src", "default-src"}},
	"fenced-frame-src": {grammar: sourceList, fallbacks: []string{"frame-src", "child-src", "default-src"}},
	"worker-src":       {grammar: sourceList, fallbacks: []string{"child-src", "script-src", "default-src"}},

	"base-uri":        {grammar: sourceList},
	"form-action":     {grammar: sourceList},
	"frame-ancestors": {grammar: ancestorList},

	"sandbox":                   {grammar: sandboxTokens},
	"upgrade-insecure-requests": {grammar: noValue},
	"require-trusted-types-for": {grammar: freeText},
	"trusted-types":             {grammar: freeText},
	"webrtc":                    {grammar: freeText},
	"report-to":                 {grammar: freeText},
	"report-uri":                {grammar: freeText},

	"prefetch-src":            {grammar: retired, fallbacks: []string{"default-src"}, why: whyPrefetch},
	"block-all-mixed-content": {grammar: retired, why: whyMixed},
	"plugin-types":            {grammar: retired, why: whyPlugins},
	"referrer":                {grammar: retired, why: whyReferrer},
	"reflected-xss":           {grammar: retired, why: whyFilters},
	"navigate-to":             {grammar: retired, why: whyRemoved},
	"require-sri-for":         {grammar: retired, why: whyIntegrity},
	"disown-opener":           {grammar: retired, why: whyOpener},
	"policy-uri":              {grammar: retired, why: whyHeader},
	"options":                 {grammar: retired, why: whyScriptSrc},
	"allow":                   {grammar: retired, why: whyDefault},
	"xhr-src":                 {grammar: retired, why: whyConnectSrc},
}

// sandboxFlags are the tokens of the sandbox directive (HTML, "parse a sandboxing directive").
var sandboxFlags = map[string]bool{
	"allow-downloads": true, "allow-forms": true, "allow-modals": true, "allow-orientation-lock": true,
	"allow-pointer-lock": true, "allow-popups": true, "allow-popups-to-escape-sandbox": true, "allow-presentation": true,
	"allow-same-origin": true, "allow-scripts": true, "allow-storage-access-by-user-activation": true,
	"allow-top-navigation": true, "allow-top-navigation-by-user-activation": true,
	"allow-top-navigation-to-custom-protocols": true,
}

// list is a directive's values as sources. It is read as a browser reads it: 'none' beside others does not count, and a
// list without any source that counts matches nothing.
type list []Source

func parseList(values []string) list {
	sources := make(list, 0, len(values))
	for _, value := range values {
		sources = append(sources, ParseSource(value))
	}
	return sources
}

func (l list) has(keyword string) bool {
	return slices.ContainsFunc(l, func(s Source) bool { return s.Kind == Keyword && s.Keyword == keyword })
}

func (l list) hasKind(kind Kind) bool {
	return slices.ContainsFunc(l, func(s Source) bool { return s.Kind == kind })
}

// trusts reports whether the list names scripts one by one, by nonce or hash.
func (l list) trusts() bool { return l.hasKind(Nonce) || l.hasKind(Hash) }

// allowsAllInline reports whether the list does: "does a source list allow all inline behavior for type" (section
// 6.7.3.2).
func (l list) allowsAllInline(isScript bool) bool {
	return l.has("'unsafe-inline'") && !l.trusts() && (!isScript || !l.has("'strict-dynamic'"))
}

// admitsNoElement reports whether by a list no script element matches, as by 'none' or an empty one.
func (l list) admitsNoElement() bool { return !l.trusts() && !l.hasFallbacksInForce() }

// admitsNoHandler reports whether by a list no event handler attribute matches.
func (l list) admitsNoHandler() bool {
	return !l.allowsAllInline(true) && (!l.has("'unsafe-hashes'") || !l.hasKind(Hash))
}

// hasFallbacks reports whether the list has anything that 'strict-dynamic' takes back.
func (l list) hasFallbacks() bool {
	return l.hasKind(Host) || l.hasKind(Scheme) || l.has("'self'") || l.has("'unsafe-inline'")
}

// hasFallbacksInForce reports whether the list has a source beside nonces and hashes that 'strict-dynamic' does not
// take back.
func (l list) hasFallbacksInForce() bool { return l.hasFallbacks() && !l.has("'strict-dynamic'") }

// admitsAnyone reports whether the list matches URLs of the scheme that anyone can control: every host of a network
// scheme, or a scheme without hosts.
func (l list) admitsAnyone(scheme string) bool {
	for _, s := range l {
		switch s.Kind {
		case Scheme:
			if schemeMatches(s.Scheme, scheme) {
				return true
			}
		case Host:
			if isNetwork(scheme) && (s.Scheme == "" || schemeMatches(s.Scheme, scheme)) && s.openHost() {
				return true
			}
		case Invalid, None, Keyword, Nonce, Hash:
		}
	}
	return false
}

// openHost reports whether the source matches nearly every host: all of them, or all below a registry's suffix (*.com).
func (s Source) openHost() bool {
	suffix, icann := s.sharedSuffix()
	return s.Host == "*" || suffix != "" && icann
}

// sharedSuffix is the public suffix below which a wildcard matches every name, empty where it is none: anyone who
// registers there is matched. icann reports whether it is a registry's suffix (com) and not that of a company that
// lends names (github.io).
func (s Source) sharedSuffix() (suffix string, icann bool) {
	below, isWildcard := strings.CutPrefix(s.Host, "*.")
	if !isWildcard {
		return "", false
	}
	suffix, icann = publicsuffix.PublicSuffix(below)
	// What is on no list (an internal name) is a suffix by the list's default rule, and no one else can register there.
	if suffix != below || !icann && !strings.Contains(suffix, ".") {
		return "", false
	}
	return suffix, icann
}

// admitsHost reports whether the list matches https scripts of the host at the default port, whatever their path.
func (l list) admitsHost(host string) bool {
	for _, s := range l {
		if s.Kind != Host || s.Path != "" && s.Path != "/" {
			continue
		}
		if s.Scheme != "" && !schemeMatches(s.Scheme, "https") || s.Port != "" && s.Port != "*" && s.Port != "443" {
			continue
		}
		if s.Host == host || strings.HasPrefix(s.Host, "*.") && strings.HasSuffix(host, s.Host[1:]) {
			return true
		}
	}
	return false
}

func isNetwork(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss"
}

// schemeMatches reports whether there is a "scheme-part match" (section 6.7.2.9): what is written without protection
// also matches the same with it.
func schemeMatches(written, scheme string) bool {
	switch written {
	case scheme:
		return true
	case "http", "wss":
		return scheme == "https"
	case "ws":
		return scheme == "wss" || scheme == "http" || scheme == "https"
	}
	return false
}

// Kind says which production of source-expression (section 2.3.1) a source is.
type Kind int

// The kinds.
const (
	Invalid Kind = iota
	None         // 'none', which counts only alone
	Keyword
	Nonce
	Hash
	Scheme
	Host
)

// Source is one source expression.
type Source struct {
	Kind Kind
	Text string // as written

	Keyword   string // of a Keyword, lower case, with its quotes
	Value     string // of a Nonce or a Hash, as written
	Algorithm string // of a Hash: sha256, sha384 or sha512
	Scheme    string // of a Scheme, and of a Host where it names one; lower case
	Host      string // of a Host: lower case, "*" or with a leading "*." for a wildcard
	Port      string // of a Host where it names one: digits or "*"
	Path      string // of a Host where it names one
}

// keywords are the keyword-sources. A browser without support for one ignores it.
var keywords = map[string]bool{
	"'self'": true, "'unsafe-inline'": true, "'unsafe-eval'": true, "'strict-dynamic'": true, "'unsafe-hashes'": true,
	"'report-sample'": true, "'unsafe-allow-redirects'": true, "'wasm-unsafe-eval'": true, "'trusted-types-eval'": true,
	"'report-sha256'": true, "'report-sha384'": true, "'report-sha512'": true, "'inline-speculation-rules'": true,
}

// digestLengths are those of the hash algorithms, in bytes.
var digestLengths = map[string]int{"sha256": 32, "sha384": 48, "sha512": 64}

// ParseSource reads one source expression. What matches no production is Invalid, and matches nothing.
func ParseSource(text string) Source {
	if strings.HasPrefix(text, "'") {
		return parseQuoted(text)
	}
	if scheme, ok := strings.CutSuffix(text, ":"); ok && isScheme(scheme) {
		return Source{Kind: Scheme, Text: text, Scheme: strings.ToLower(scheme)}
	}
	return parseHost(text)
}

func parseQuoted(text string) Source {
	lower := strings.ToLower(text)
	inner, closed := strings.CutSuffix(text[1:], "'")
	prefix, value, _ := strings.Cut(inner, "-")
	prefix = strings.ToLower(prefix)
	switch {
	case lower == "'none'":
		return Source{Kind: None, Text: text}
	case keywords[lower]:
		return Source{Kind: Keyword, Text: text, Keyword: lower}
	case !closed || !isBase64Value(value):
		return Source{Text: text}
	case prefix == "nonce":
		return Source{Kind: Nonce, Text: text, Value: value}
	case digestLengths[prefix] > 0:
		return Source{Kind: Hash, Text: text, Algorithm: prefix, Value: value}
	}
	return Source{Text: text}
}

func parseHost(text string) Source {
	s := Source{Kind: Host, Text: text}
	rest := text
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		if !isScheme(scheme) {
			return Source{Text: text}
		}
		s.Scheme, rest = strings.ToLower(scheme), after
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, s.Path = rest[:i], rest[i:]
	}
	if strings.ContainsAny(s.Path, "?#") {
		return Source{Text: text}
	}
	host, port, hasPort := strings.Cut(rest, ":")
	if hasPort && port != "*" && !isPort(port) || !isHostPart(host) {
		return Source{Text: text}
	}
	s.Host, s.Port = strings.TrimSuffix(strings.ToLower(host), "."), port
	return s
}

// isHostPart reports whether s is a host-part: "*", or labels that an asterisk may stand before. Browsers take the
// underscore that the grammar forgets.
func isHostPart(s string) bool {
	if s == "*" {
		return true
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "*."), ".")
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool { return !isHostChar(r) }) {
			return false
		}
	}
	return true
}

func isHostChar(r rune) bool { return ascii.IsAlphanumeric(r) || r == '-' || r == '_' }

func isPort(s string) bool { return len(s) <= 5 && ascii.AllDigits(s) }

func isScheme(s string) bool {
	if s == "" || !ascii.IsLetter(s[0]) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !ascii.IsAlphanumeric(r) && r != '+' && r != '-' && r != '.'
	})
}

// isBase64Value reports whether s is a base64-value: both alphabets, at most two signs of padding.
func isBase64Value(s string) bool {
	digits := strings.TrimRight(s, "=")
	if digits == "" || len(s)-len(digits) > 2 {
		return false
	}
	return !strings.ContainsFunc(digits, func(r rune) bool {
		return !ascii.IsAlphanumeric(r) && !strings.ContainsRune("+/-_", r)
	})
}

// MinNonceBits is the length that section 7.1 requires of a nonce before encoding.
const MinNonceBits = 128

// NonceBits is how much a nonce can hold: four bits a character where all are hexadecimal digits, else six.
func (s Source) NonceBits() int {
	digits := strings.TrimRight(s.Value, "=")
	if strings.ContainsFunc(digits, func(r rune) bool { return !ascii.IsHexDigit(r) }) {
		return 6 * len(digits)
	}
	return 4 * len(digits)
}

// DigestFits reports whether a hash is as long as its algorithm's are. One that is not never matches.
func (s Source) DigestFits() bool {
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s.Value, "="))
	digest, err := base64.RawStdEncoding.DecodeString(digits)
	return err == nil && len(digest) == digestLengths[s.Algorithm]
}
