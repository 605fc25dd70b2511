package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzText holds that whatever someone sends can be shown.
func FuzzText(f *testing.F) {
	f.Add("plain", 3)
	f.Add("gr\xfcn\x00\x1b[31m \u202etxt\ufeff", 5)
	f.Add("\U0001F600\U0001F600", 5)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 0), 4096)
		if got := Decode(s); !utf8.ValidString(got) || utf8.ValidString(s) && got != s {
			t.Errorf("Decode(%q) = %q", s, got)
		}
		got := Clean(s, limit)
		if !utf8.ValidString(got) || len(got) > limit || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("Clean(%q, %d) = %q", s, limit, got)
		}
		if again := Clean(got, limit); again != got {
			t.Errorf("Clean twice: %q, then %q", got, again)
		}
		shown := Show(s, limit)
		if utf8.RuneCountInString(shown) > limit+1 ||
			strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Show(%q, %d) = %q", s, limit, shown)
		}
		marked := Marked(s, limit)
		if utf8.RuneCountInString(marked) > limit+1 ||
			strings.ContainsFunc(marked, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Marked(%q, %d) = %q", s, limit, marked)
		}
	})
}
