// Package ascii classifies the characters that the grammars of protocols are made of: those of US-ASCII alone, whatever
// else Unicode calls a letter or a digit.
package ascii

import (
	"strings"
	"unicode/utf8"
)

// IsDigit reports whether c is one of 0 to 9.
func IsDigit[C byte | rune](c C) bool { return '0' <= c && c <= '9' }

// IsLetter reports whether c is one of A to Z and a to z.
func IsLetter[C byte | rune](c C) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsAlphanumeric reports whether c is a letter or a digit.
func IsAlphanumeric[C byte | rune](c C) bool { return IsLetter(c) || IsDigit(c) }

// IsHexDigit reports whether c is a hexadecimal digit of either case.
func IsHexDigit[C byte | rune](c C) bool { return IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// AllDigits reports whether s is a number in digits alone; the empty string is none.
func AllDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !IsDigit(r) })
}

// StartsWithEscape reports whether s begins with a whole percent-encoded octet (RFC 3986 section 2.1).
func StartsWithEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' && IsHexDigit(s[1]) && IsHexDigit(s[2])
}

// HasBrokenEscape reports whether s has a percent sign that begins no percent-encoded octet.
func HasBrokenEscape(s string) bool {
	for i := range len(s) {
		if s[i] == '%' && !StartsWithEscape(s[i:]) {
			return true
		}
	}
	return false
}

// Is reports whether the text is of 7-bit characters alone.
func Is(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
