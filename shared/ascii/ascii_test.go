package ascii

import (
	"strings"
	"testing"
	"unicode"
)

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hex     = digits + "abcdefABCDEF"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]struct {
		ofByte func(byte) bool
		ofRune func(rune) bool
		all    string
	}{
		"digits":       {IsDigit[byte], IsDigit[rune], digits},
		"letters":      {IsLetter[byte], IsLetter[rune], letters},
		"alphanumeric": {IsAlphanumeric[byte], IsAlphanumeric[rune], letters + digits},
		"hexadecimal":  {IsHexDigit[byte], IsHexDigit[rune], hex},
	} {
		for r := rune(-1); r <= unicode.MaxRune; r++ {
			want := strings.ContainsRune(class.all, r)
			if got := class.ofRune(r); got != want {
				t.Errorf("%s: %U is %t", name, r, got)
			}
		}
		for c := range 256 {
			want := strings.IndexByte(class.all, byte(c)) >= 0
			if got := class.ofByte(byte(c)); got != want {
				t.Errorf("%s: byte %#x is %t", name, c, got)
			}
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ digits, ascii bool }{
		"":          {false, true},
		"0":         {true, true},
		"0123456":   {true, true},
		"12a":       {false, true},
		"-1":        {false, true},
		"1 ":        {false, true},
		"\u0661":    {false, false}, // a digit of Arabic
		"a\x7f\x00": {false, true},
		"\u0080":    {false, false},
		"\xff":      {false, false},
	} {
		if got := AllDigits(s); got != want.digits {
			t.Errorf("AllDigits(%q) = %t", s, got)
		}
		if got := Is(s); got != want.ascii {
			t.Errorf("Is(%q) = %t", s, got)
		}
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"":      false,
		"%":     false,
		"%2":    false,
		"%2f":   true,
		"%2F/a": true,
		"%2g":   false,
		"%g2":   false,
		"a%2f":  false,
		"%%2f":  false,
	} {
		if got := StartsWithEscape(s); got != want {
			t.Errorf("StartsWithEscape(%q) = %t", s, got)
		}
	}
}

func TestHasBrokenEscape(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false, "abc": false, "%41": false, "a%2Fb%2f": false, "%": true, "50%": true, "%4": true, "%zz": true, "%41%": true,
		"%%41": true,
	} {
		if got := HasBrokenEscape(s); got != want {
			t.Errorf("HasBrokenEscape(%q) = %t", s, got)
		}
	}
}
