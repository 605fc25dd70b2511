package spf

import (
	"regexp"
	"strings"

	"diagnostics/shared/ascii"
)

// checkMacros holds a macro-string against RFC 7208 section 7.1: 7-bit printable characters without spaces, and a
// percent sign only where it begins a macro. macros reports whether anything in it is expanded. problem is the
// code of a clause on what is wrong, empty if nothing is.
func checkMacros(s string, explanation bool) (macros bool, problem string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c > '~' {
			return macros, "SPF_CHARACTERS"
		}
		if c != '%' {
			continue
		}
		length, problem := macroLength(s[i:], explanation)
		if problem != "" {
			return macros, problem
		}
		macros = true
		i += length - 1
	}
	return macros, ""
}

// macroLength gives the length of the macro that s begins with.
func macroLength(s string, explanation bool) (length int, problem string) {
	if len(s) < 2 {
		return 0, "SPF_PERCENT_AT_END"
	}
	switch s[1] {
	case '%', '_', '-':
		return 2, ""
	case '{':
	default:
		return 0, "SPF_PERCENT_WITHOUT_MACRO"
	}
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return 0, "SPF_MACRO_OPEN"
	}
	if !isMacroBody(s[2:end], explanation) {
		return 0, "SPF_MACRO_UNKNOWN"
	}
	return end + 1, ""
}

// isMacroBody reports whether body may stand between the braces: a letter, digits, an r and delimiters.
func isMacroBody(body string, explanation bool) bool {
	letters := "slodiphv"
	if explanation {
		letters += "crt"
	}
	if body == "" || !strings.Contains(letters, strings.ToLower(body[:1])) {
		return false
	}
	rest := body[1:]
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	// A transformer of zero labels keeps nothing (RFC 7208 section 7.1: it must not be zero).
	if digits > 0 && strings.Trim(rest[:digits], "0") == "" {
		return false
	}
	rest = rest[digits:]
	if rest != "" && rest[0]|0x20 == 'r' {
		rest = rest[1:]
	}
	return strings.Trim(rest, ".-+,/_=") == ""
}

// checkDomainSpec holds a domain-spec against RFC 7208 section 7.1: a macro-string whose end is a macro or a top label
// that is not all digits.
func checkDomainSpec(s string) (macros bool, problem string) {
	macros, problem = checkMacros(s, false)
	switch {
	case problem != "":
		return macros, problem
	case s == "":
		return false, "SPF_DOMAIN_MISSING"
	case macros && endsInMacro(s):
		return macros, ""
	}
	trimmed := strings.TrimSuffix(s, ".")
	dot := strings.LastIndexByte(trimmed, '.')
	if dot < 0 || !topLabel.MatchString(trimmed[dot+1:]) || ascii.AllDigits(trimmed[dot+1:]) {
		return macros, "SPF_DOMAIN_END"
	}
	return macros, ""
}

// endsInMacro reports whether the last character belongs to a macro. The string is a valid macro-string.
func endsInMacro(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		length, _ := macroLength(s[i:], false)
		if i += length - 1; i == len(s)-1 {
			return true
		}
	}
	return false
}

// topLabel has inner hyphens, and is not all digits: "1-2" is one too.
var topLabel = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
