package text

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                  "",
		"plain":             "plain",
		"gr\u00fcn":         "gr\u00fcn",
		"gr\xfcn":           "gr\u00fcn",
		"\xc3\xbc \xfc":     "\u00c3\u00bc \u00fc", // as a whole: one octet that is no UTF-8 is enough
		"a\x00\x80\xff":     "a\x00\u0080\u00ff",
		"\u2713 \U0001F600": "\u2713 \U0001F600",
	} {
		if got := Decode(in); got != want {
			t.Errorf("Decode(%q) = %q, want %q", in, got, want)
		}
		if got := Decode([]byte(in)); got != want {
			t.Errorf("Decode of the bytes %q = %q, want %q", in, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 8, ""},
		{"12345678", 8, "12345678"},
		{"123456789", 8, "12345678"},
		{"by\x00 policy\x1b[31m\r\n", 80, "by policy[31m"},
		{"\xff\xfe", 80, "\uFFFD"},
		{"1234567\u00e9", 8, "1234567"}, // not half a character
		{"123456\u00e9", 8, "123456\u00e9"},
		{strings.Repeat("\x00", 9) + "12345678", 8, "12345678"},
	} {
		if got := Clean(c.in, c.limit); got != c.want {
			t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"éüß", 3, "éüß"}, // characters, not octets
		{"éüßa", 3, "éüß…"},
		{"a\r\nb\tc", 3, "abc"},
		{"abc\x00\u200b", 3, "abc"}, // what is left out does not count
		{"\u202eab\u2028c\xff", 3, "abc"},
		{"  a  ", 5, "a"},
	} {
		if got := Show(c.in, c.limit); got != c.want {
			t.Errorf("Show(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestMarked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a b": "a b", "12345678": "12345678", "123456789": "12345678…", "\x00a\xff\u202e": "\uFFFDa\uFFFD\uFFFD",
		"éééééééé": "éééééééé", "ééééééééé": "éééééééé…",
	} {
		if got := Marked(in, 8); got != want {
			t.Errorf("Marked(%q) = %q, want %q", in, got, want)
		}
	}
}
