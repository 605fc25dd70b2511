package robotstxt

import (
	"fmt"

	"diagnostics/gateway/internal/text"
)

// Severity is how bad an issue is.
type Severity string

// The severities: a line that does not do what it says, one that some crawlers read otherwise, one worth knowing.
const (
	SeverityFail Severity = "fail"
	SeverityWarn Severity = "warn"
	SeverityInfo Severity = "info"
)

// The codes of the issues.
const (
	CodeTooLong          = "TOO_LONG"
	CodeByteOrderMark    = "BYTE_ORDER_MARK"
	CodeNotUTF8          = "NOT_UTF8"
	CodeNoColon          = "NO_COLON"
	CodeUnknownField     = "UNKNOWN_FIELD"
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

// Issue is something about a file that its owner should know.
type Issue struct {
	Code     string
	Severity Severity
	Line     int // 0 for the file as a whole
	Message  string
}

// maxIssues bounds what a file of nothing but mistakes can make of itself.
const maxIssues = 100

// issues collects the first of them and counts the rest.
type issues struct {
	kept []Issue
	more int
}

func (i *issues) add(code string, severity Severity, line int, format string, args ...any) {
	if len(i.kept) == maxIssues {
		i.more++
		return
	}
	i.kept = append(i.kept, Issue{Code: code, Severity: severity, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (i *issues) list() []Issue {
	out := append([]Issue{}, i.kept...)
	if i.more > 0 {
		out = append(out, Issue{Code: CodeMoreIssues, Severity: SeverityInfo,
			Message: fmt.Sprintf("%d more issues are not listed.", i.more)})
	}
	return out
}

// maxShown bounds how much of a stranger's word a message repeats, in characters.
const maxShown = 40

func show(s string) string { return text.Show(s, maxShown) }
