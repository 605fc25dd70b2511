// Package text makes text of what strangers' servers send as such.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Decode reads bytes as UTF-8, or as a whole as ISO 8859-1 where they are not valid UTF-8.
func Decode[T []byte | string](b T) string {
	s := string(b)
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// Clean makes text fit to be shown: valid UTF-8, no control characters, at most limit bytes.
func Clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
