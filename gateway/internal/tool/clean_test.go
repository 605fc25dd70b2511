package tool

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"diagnostics/gateway/internal/fault"
)

func TestCleanInput(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "example.com": "example.com", "  example.com ": "example.com", " ": "", "\u00a0example.com\u3000": "example.com", "a b": "a b", "münchen.de": "münchen.de",
		strings.Repeat("a", 2048): strings.Repeat("a", 2048),
		// Characters are counted, not bytes.
		strings.Repeat("é", 2048): strings.Repeat("é", 2048), strings.Repeat("😀", 2048): strings.Repeat("😀", 2048),
	} {
		got, err := CleanInput(in)
		if err != nil || got != want {
			t.Errorf("%.40q: %.40q, %v; want %.40q", in, got, err, want)
		}
	}
}

func TestCleanInputRefuses(t *testing.T) {
	t.Parallel()
	inputs := []string{
		strings.Repeat("a", 2049), strings.Repeat("é", 2049),
		// The length is that of what was sent, before trimming.
		"a" + strings.Repeat(" ", 2048),
		// Control characters are refused at the edges too.
		"AS15169\r\n", "\texample.com", "example.com\n", "a\x00b",
		"\xff", "a\x80b", "\xc3", "\xed\xa0\x80",
	}
	for c := range rune(0x20) {
		inputs = append(inputs, "a"+string(c)+"b")
	}
	for c := rune(0x7F); c < 0xA0; c++ {
		inputs = append(inputs, "a"+string(c)+"b")
	}
	for _, in := range inputs {
		got, err := CleanInput(in)
		if !fault.Is(err, fault.Invalid) || got != "" {
			t.Errorf("%.40q: %.40q, %v; want Invalid", in, got, err)
		}
	}
	for _, in := range []string{"a\u00a0b", "a~b", "a b", "\u2028x"} {
		if _, err := CleanInput(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzCleanInput(f *testing.F) {
	for _, s := range []string{"example.com", " a ", "a\r\n", "\xff", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := CleanInput(s)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) ||
			utf8.RuneCountInString(got) > MaxInput || got != strings.TrimSpace(got) {
			t.Fatalf("%q gives %q", s, got)
		}
	})
}
