package text

import (
	"strings"
	"testing"
)

func TestListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ words, all, upToTwo string }{
		{"", "", ""},
		{"a", "a", "a"},
		{"a b", "a and b", "a and b"},
		{"a b c", "a, b and c", "a, b and 1 more"},
		{"a b c d", "a, b, c and d", "a, b and 2 more"},
	} {
		words := strings.Fields(c.words)
		if got := Listed(words); got != c.all {
			t.Errorf("Listed(%q) = %q, want %q", words, got, c.all)
		}
		if got := ListedUpTo(2, words, strings.ToLower); got != c.upToTwo {
			t.Errorf("ListedUpTo(2, %q) = %q, want %q", words, got, c.upToTwo)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"answer", "answers", "answer"} {
		if got := Number(n, "answers", "answer"); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}
