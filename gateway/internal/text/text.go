// Package text makes text of clients and servers fit to be shown.
package text

import (
	"fmt"
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

// Escaped shows control characters but the tab as escapes such as \x01, for text of others that matters as it stands.
func Escaped(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isHidden(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isHidden(r rune) bool { return unicode.IsControl(r) && r != '\t' }

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

// Show returns a client's or server's text for a sentence: at most limit characters, with an ellipsis where there were
// more; on one line, and without characters that are invisible or turn the reading order around.
func Show(s string, limit int) string {
	return strings.TrimSpace(Marked(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s), limit))
}

// Marked is Show with a mark in the place of what cannot be shown, for text of others that matters as it stands.
func Marked(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == limit {
			return b.String() + "…"
		}
		if !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Listed joins words as a sentence does: "a, b and c".
func Listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// ListedUpTo lists at most so many things by their names: "a, b and 3 more".
func ListedUpTo[T any](most int, things []T, name func(T) string) string {
	var words []string
	for _, thing := range things[:min(len(things), most)] {
		words = append(words, name(thing))
	}
	if more := len(things) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return Listed(words)
}

// Number returns the word that goes with a number: 1 answers, 2 answer.
func Number(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
