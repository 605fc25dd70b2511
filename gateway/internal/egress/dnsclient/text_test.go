package dnsclient_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"diagnostics/gateway/internal/egress/dnsclient"

	"github.com/miekg/dns"
)

// TestJoinTXT is the trap of presentation format: miekg/dns escapes what it gives, and one character may lie across
// two strings of a record.
func TestJoinTXT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		chunks []string // as they go on the wire
		want   string
	}{
		{"plain", []string{"v=spf1 -all"}, "v=spf1 -all"},
		{"joined without a space", []string{"v=DKIM1; p=MII", "BIj"}, "v=DKIM1; p=MIIBIj"},
		{"quotes and backslashes", []string{`a"b\c`}, `a"b\c`},
		{"semicolons", []string{"a;b"}, "a;b"},
		{"UTF-8", []string{"grün ✓"}, "grün ✓"},
		{"UTF-8 across strings", []string{"gr\xc3", "\xbcn"}, "grün"},
		{"Latin-1", []string{"gr\xfcn"}, "grün"},
		{"Latin-1 beside UTF-8 in one record", []string{"\xc3\xbc", "\xfc"}, "Ã¼ü"},
		{"control characters", []string{"a\x00\x1f\x7fb"}, "a\x00\x1f\x7fb"},
		{"digits after a backslash", []string{`\065`}, `\065`},
		{"empty", []string{""}, ""},
		{"empty and not", []string{"", "a", ""}, "a"},
		{"every octet", []string{everyOctet()}, latin1(everyOctet())},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := dnsclient.JoinTXT(overTheWire(t, c.chunks)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func everyOctet() string {
	b := make([]byte, 255)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return string(b)
}

func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// overTheWire gives the strings of a TXT record as the library does for a packet that holds exactly these octets.
func overTheWire(t testing.TB, chunks []string) []string {
	t.Helper()
	var data []byte
	for _, c := range chunks {
		data = append(append(data, byte(len(c))), c...)
	}
	packet := []byte{0 /* root */, 0, 16, 0, 1, 0, 0, 0, 60, byte(len(data) >> 8), byte(len(data))}
	rr, _, err := dns.UnpackRR(append(packet, data...), 0)
	if err != nil {
		t.Fatal(err)
	}
	return rr.(*dns.TXT).Txt
}

func FuzzJoinTXT(f *testing.F) {
	f.Add("v=spf1 -all", "x")
	f.Add(`a"b\c`, "\xc3")
	f.Add("\\255\\256\\", "\x00")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 255 || len(b) > 255 {
			return // longer than a character-string can be
		}
		got := dnsclient.JoinTXT(overTheWire(t, []string{a, b}))
		want := a + b
		if !utf8.ValidString(want) {
			want = latin1(want)
		}
		if got != want {
			t.Errorf("JoinTXT(%q, %q) = %q, want %q", a, b, got, want)
		}
		_ = dnsclient.Unescape(a) // whatever is not from the library must not panic
	})
}

func TestTrimRoot(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":               "",
		".":              "",
		"example.com.":   "example.com",
		"example.com":    "example.com",
		`example.com\.`:  `example.com\.`,
		`example.com\\.`: `example.com\\`,
	} {
		if got := dnsclient.TrimRoot(in); got != want {
			t.Errorf("TrimRoot(%q) = %q, want %q", in, got, want)
		}
	}
}
