package mtasts

import (
	"regexp"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
)

// MaxAge is the longest time, in seconds, that a policy may be kept (RFC 8461 section 3.2).
const MaxAge = 31557600

// shortAge is a time so short that a policy hardly protects.
const shortAge = 86400

// Policy is a policy file.
type Policy struct {
	// Mode is enforce, testing or none; empty where the file has no valid one.
	Mode string
	// MX are the valid patterns, lower case.
	MX []string
	// MaxAge is in seconds, -1 where the file has no valid one.
	MaxAge int
	Issues mail.Issues
}

// maxPatterns bounds how many mx lines are read.
const maxPatterns = 200

// ParsePolicy reads a policy file: lines of "key: value" that end in LF or CRLF.
func ParsePolicy(text string) Policy {
	p := Policy{MaxAge: -1, MX: []string{}}
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimRight(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found || !validKey.MatchString(key) || !printable(value) {
			p.Issues.Add("MTASTS_POLICY_SYNTAX", finding.Args{"number": i + 1, "line": mail.Quoted(line)})
			continue
		}
		value = strings.TrimLeft(value, " \t")
		if key != "version" && len(seen) == 0 {
			p.Issues.Add("MTASTS_VERSION_NOT_FIRST", nil)
		}
		if seen[key] && key != "mx" {
			p.Issues.Add("MTASTS_KEY_TWICE", finding.Args{"key": mail.Show(key)})
			continue
		}
		seen[key] = true
		p.set(key, value)
	}
	p.required(seen)
	return p
}

// validKey is the name of a field (RFC 8461 section 3.2).
var validKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F })
}

func (p *Policy) set(key, value string) {
	switch key {
	case "version":
		if value != version {
			p.Issues.Add("MTASTS_POLICY_VERSION", finding.Args{"version": mail.Quoted(value)})
		}
	case "mode":
		switch value {
		case "enforce", "testing", "none":
			p.Mode = value
		default:
			p.Issues.Add("MTASTS_MODE", finding.Args{"mode": mail.Quoted(value)})
		}
	case "max_age":
		p.setMaxAge(value)
	case "mx":
		p.addPattern(value)
	}
}

func (p *Policy) setMaxAge(value string) {
	age, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err != nil || len(value) > 10 || age > MaxAge:
		p.Issues.Add("MTASTS_MAX_AGE", finding.Args{"age": mail.Quoted(value), "most": MaxAge})
		return
	case age < shortAge:
		p.Issues.Add("MTASTS_MAX_AGE_SHORT", nil)
	}
	p.MaxAge = int(age)
}

// validPattern is a hostname, or one with a star for its whole first label.
var validPattern = regexp.MustCompile(
	`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (p *Policy) addPattern(value string) {
	pattern := strings.ToLower(value)
	switch {
	case len(p.MX) >= maxPatterns:
		p.Issues.Add("MTASTS_TOO_MANY_PATTERNS", finding.Args{"most": maxPatterns})
	case len(pattern) > 253 || !validPattern.MatchString(pattern):
		p.Issues.Add("MTASTS_PATTERN", finding.Args{"pattern": mail.Quoted(value)})
	default:
		p.MX = append(p.MX, pattern)
	}
}

func (p *Policy) required(seen map[string]bool) {
	for _, key := range []string{"version", "mode", "max_age"} {
		if !seen[key] {
			p.Issues.Add("MTASTS_KEY_ABSENT", finding.Args{"key": key})
		}
	}
	if !seen["mx"] && p.Mode != "none" {
		p.Issues.Add("MTASTS_MX_LINE_ABSENT", nil)
	}
}

// Covers reports whether a mail exchange matches one of the patterns (RFC 8461 section 4.1): a star stands for exactly
// one label. The name is lower case, without a trailing dot.
func (p Policy) Covers(exchange string) bool {
	for _, pattern := range p.MX {
		parent, wild := strings.CutPrefix(pattern, "*.")
		if !wild && pattern == exchange {
			return true
		}
		if first, rest, found := strings.Cut(exchange, "."); wild && found && first != "" && rest == parent {
			return true
		}
	}
	return false
}
