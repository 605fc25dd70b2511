package csp

import (
	"encoding/base64"
	"strings"

	"diagnostics/shared/ascii"
)

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

// keywords are the keyword-sources. A browser that does not know one ignores it.
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

// MinNonceBits is what section 7.1 asks of a nonce before encoding.
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
