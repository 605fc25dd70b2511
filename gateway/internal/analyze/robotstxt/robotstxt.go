// Package robotstxt reads robots.txt files by RFC 9309 and reports what is wrong with them. It is pure: bytes in,
// facts out. A line that cannot be read costs only itself.
package robotstxt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/ascii"
)

// MaxBytes is how much of a file counts (RFC 9309 section 2.5: at least 500 kibibytes; the large crawlers stop right
// there).
const MaxBytes = 500 << 10

// RuleType is what a rule does.
type RuleType string

// The two kinds of rules.
const (
	Allow    RuleType = "allow"
	Disallow RuleType = "disallow"
)

// Rule is one allow or disallow line. An empty path matches nothing.
type Rule struct {
	Type RuleType
	Path string // as written, at most MaxBytes
	Line int    // from 1
}

// Group holds the rules of one or several crawlers. No crawler is in two groups of a file: the rules of several groups
// are merged (RFC 9309 section 2.2.1).
type Group struct {
	// UserAgents are the product tokens as first written, "*" for all crawlers without a group of their own.
	UserAgents []string
	Rules      []Rule
	// CrawlDelay is in seconds, nil where none is given. It is no part of RFC 9309.
	CrawlDelay *float64
}

// Sitemap is one sitemap line.
type Sitemap struct {
	URL  string // as written
	Line int
}

// File is a parsed robots.txt.
type File struct {
	Groups   []Group
	Sitemaps []Sitemap
	Issues   []Issue
	// Lines counts the lines that this package understands.
	Lines int
}

// Parse reads a file. truncated means that its end is missing, so that its last line, unless a line break ends it, is
// half a line and left out. What is beyond MaxBytes is not read.
func Parse(body []byte, truncated bool) File {
	if len(body) > MaxBytes {
		body, truncated = body[:MaxBytes], true
	}
	var p parser
	if truncated {
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
		p.issues.add(CodeTooLong, 0, nil)
	}
	if text, marked := bytes.CutPrefix(body, []byte("\xef\xbb\xbf")); marked {
		body = text
		p.issues.add(CodeByteOrderMark, 1, nil)
	}
	for number := 1; len(body) > 0; number++ {
		var line []byte
		line, body = cutLine(body)
		p.line(number, line)
	}
	p.finish()
	groups := p.groups()
	return File{Groups: groups, Sitemaps: p.sitemaps, Issues: p.issues.list(), Lines: p.lines}
}

// cutLine splits at the first CR, LF or CRLF (RFC 9309 section 2.2, EOL).
func cutLine(text []byte) (line, rest []byte) {
	end := bytes.IndexAny(text, "\r\n")
	switch {
	case end < 0:
		return text, nil
	case text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n':
		return text[:end], text[end+2:]
	}
	return text[:end], text[end+1:]
}

// parser is the state between two lines.
type parser struct {
	issues   issues
	sitemaps []Sitemap
	lines    int

	agents []*agent          // in the order of their first mention
	byName map[string]*agent // by lower-case token
	open   []*agent          // whom the current group speaks to
	ruled  bool              // the current group has a rule, so that the next user-agent line begins another
	began  int               // line of the first user-agent line of the current group
	group  int               // number of the current group
	rules  [][]Rule          // by group
	other  int               // line of a crawl-delay since the last user-agent line, in a group without a rule
	early  bool              // a rule before any user-agent line was reported
}

// agent is one crawler as the file names it.
type agent struct {
	name   string
	groups []int // whose rules are for it
	delay  *float64
}

// line reads one line: a field, a colon and a value, or nothing but space and a comment.
func (p *parser) line(number int, raw []byte) {
	if !utf8.Valid(raw) {
		p.issues.add(CodeNotUTF8, number, nil)
	}
	text, _, _ := strings.Cut(string(raw), "#")
	text = strings.Trim(text, space)
	if text == "" {
		return
	}
	name, value, ok := strings.Cut(text, ":")
	name, value = strings.ToLower(strings.Trim(name, space)), strings.Trim(value, space)
	if !ok {
		p.issues.add(CodeNoColon, number, nil)
		return
	}
	p.field(number, name, value)
}

// space is what may stand around a field's parts: WS of RFC 9309 section 2.2, and the other blanks that files really
// have.
const space = " \t\v\f\x00"

func (p *parser) field(number int, name, value string) {
	switch name {
	case "user-agent":
		p.userAgent(number, value)
	case string(Allow), string(Disallow):
		p.rule(number, RuleType(name), value)
	case "sitemap":
		p.sitemap(number, value)
	case "crawl-delay":
		p.crawlDelay(number, value)
	default:
		p.unknown(number, name)
		return
	}
	p.lines++
}

// userAgent adds a crawler to the group, or begins the next group where this one has rules already. Other fields in
// between do not separate groups (RFC 9309 section 2.2.4).
func (p *parser) userAgent(number int, value string) {
	token := p.token(number, value)
	if p.ruled || len(p.rules) == 0 {
		p.rules = append(p.rules, nil)
		p.group, p.open, p.ruled, p.began, p.other = len(p.rules)-1, nil, false, number, 0
	}
	if p.other > 0 {
		p.issues.add(CodeGroupsJoin, number, nil)
		p.other = 0
	}
	if token == "" {
		return
	}
	a := p.agent(token)
	if len(a.groups) == 0 || a.groups[len(a.groups)-1] != p.group {
		a.groups = append(a.groups, p.group)
	}
	p.open = append(p.open, a)
}

func (p *parser) agent(token string) *agent {
	key := strings.ToLower(token)
	if a := p.byName[key]; a != nil {
		return a
	}
	if p.byName == nil {
		p.byName = make(map[string]*agent)
	}
	a := &agent{name: token}
	p.byName[key] = a
	p.agents = append(p.agents, a)
	return a
}

// token returns the product token of a user-agent line, "" where there is none.
func (p *parser) token(number int, value string) string {
	token := productToken(value)
	switch {
	case value == "":
		p.issues.add(CodeBadUserAgent, number, finding.Args{"empty": true})
	case token == "":
		p.issues.add(CodeBadUserAgent, number, nil)
	case token != value && !p.issues.full():
		p.issues.add(CodeUserAgentVersion, number, finding.Args{"token": show(token)})
	}
	return token
}

func (p *parser) rule(number int, kind RuleType, path string) {
	if len(p.rules) == 0 {
		if !p.early {
			p.issues.add(CodeRuleBeforeAgent, number, nil)
		}
		p.early = true
		return
	}
	p.ruled = true
	p.rules[p.group] = append(p.rules[p.group], Rule{Type: kind, Path: strings.ToValidUTF8(path, "\uFFFD"), Line: number})
	p.checkPath(number, path)
}

func (p *parser) checkPath(number int, path string) {
	switch {
	case path == "":
		return
	case path[0] != '/' && path[0] != '*':
		p.issues.add(CodePathWithoutSlash, number, nil)
	case strings.Contains(strings.TrimSuffix(path, "$"), "$"):
		p.issues.add(CodeInnerDollar, number, nil)
	}
	if strings.ContainsAny(path, " \t") {
		p.issues.add(CodePathWithSpace, number, nil)
	}
	if ascii.HasBrokenEscape(path) {
		p.issues.add(CodeBrokenEscape, number, nil)
	}
}

// finish reports a last group that names crawlers and has no rules.
func (p *parser) finish() {
	if len(p.rules) > 0 && !p.ruled {
		p.issues.add(CodeEmptyGroup, p.began, nil)
	}
}

// What groups may come to when rules are copied to every crawler that they are for. No file of MaxBytes reaches it by
// its own rules; one that names thousands of crawlers twice does.
const (
	maxMerged = 4 << 20
	ruleCost  = 48 // octets of a rule beside its path
)

// groups puts the crawlers that have the same rules into one group.
func (p *parser) groups() []Group {
	groups := []Group{}
	at := make(map[string]int)
	left := maxMerged
	for _, a := range p.agents {
		key := a.key()
		if i, ok := at[key]; ok {
			groups[i].UserAgents = append(groups[i].UserAgents, a.name)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, Group{UserAgents: []string{a.name}, Rules: p.merged(a, &left), CrawlDelay: a.delay})
	}
	if left < 0 {
		p.issues.add(CodeTooManyRules, 0, nil)
	}
	return groups
}

// merged returns the rules of all groups that name the crawler, in the order of the file.
func (p *parser) merged(a *agent, left *int) []Rule {
	rules := []Rule{}
	for _, i := range a.groups {
		for _, rule := range p.rules[i] {
			if *left -= len(rule.Path) + ruleCost; *left < 0 {
				return rules
			}
			rules = append(rules, rule)
		}
	}
	return rules
}

// key is the same for crawlers that have the same rules and delay.
func (a *agent) key() string {
	delay := ""
	if a.delay != nil {
		delay = strconv.FormatFloat(*a.delay, 'g', -1, 64)
	}
	return fmt.Sprint(a.groups, delay)
}

// The codes of the issues.
const (
	CodeTooLong          = "TOO_LONG"
	CodeByteOrderMark    = "BYTE_ORDER_MARK"
	CodeNotUTF8          = "NOT_UTF8"
	CodeNoColon          = "NO_COLON"
	CodeUnknownField     = "UNKNOWN_FIELD"
	CodeFieldMissing     = "FIELD_MISSING"
	CodeRetiredField     = "RETIRED_FIELD"
	CodeExtension        = "EXTENSION_FIELD"
	CodeProposal         = "PROPOSED_FIELD"
	CodeMisspelt         = "MISSPELT_FIELD"
	CodeBadUserAgent     = "BAD_USER_AGENT"
	CodeUserAgentVersion = "USER_AGENT_VERSION"
	CodeRuleBeforeAgent  = "RULE_BEFORE_USER_AGENT"
	CodePathWithoutSlash = "PATH_WITHOUT_SLASH"
	CodePathWithSpace    = "PATH_WITH_SPACE"
	CodeInnerDollar      = "INNER_DOLLAR"
	CodeBrokenEscape     = "BROKEN_ESCAPE"
	CodeEmptyGroup       = "EMPTY_GROUP"
	CodeGroupsJoin       = "GROUPS_JOIN"
	CodeBadCrawlDelay    = "BAD_CRAWL_DELAY"
	CodeSitemapMissing   = "SITEMAP_MISSING"
	CodeSitemapInvalid   = "SITEMAP_INVALID"
	CodeSitemapRelative  = "SITEMAP_RELATIVE"
	CodeTooManyRules     = "TOO_MANY_RULES"
	CodeMoreIssues       = "MORE_ISSUES"
)

// Issue is something about a file for its owner.
type Issue struct {
	Code string
	Line int // 0 for the file as a whole
	Args finding.Args
}

// maxIssues bounds what a file of nothing but mistakes can make of itself.
const maxIssues = 100

// issues collects the first of them and counts the rest.
type issues struct {
	kept []Issue
	more int
}

// full reports whether the next issue is only counted, and counts it.
func (i *issues) full() bool {
	if len(i.kept) == maxIssues {
		i.more++
		return true
	}
	return false
}

func (i *issues) add(code string, line int, args finding.Args) {
	if i.full() {
		return
	}
	i.kept = append(i.kept, Issue{code, line, args})
}

func (i *issues) list() []Issue {
	out := append([]Issue{}, i.kept...)
	if i.more > 0 {
		out = append(out, Issue{Code: CodeMoreIssues, Args: finding.Args{"count": i.more}})
	}
	return out
}

// maxShown bounds how much of a file's text an argument repeats, in characters.
const maxShown = 40

func show(s string) string { return text.Show(s, maxShown) }
