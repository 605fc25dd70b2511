package target

import (
	"testing"

	"diagnostics/gateway/internal/fault"
)

func TestParseHostPort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed       string
		defaultPort uint16
		want, key   string
	}{
		{"example.com:443", 0, "example.com:443", "example.com"},
		{"EXAMPLE.com.:25", 0, "example.com:25", "example.com"},
		{"example.com:1", 0, "example.com:1", "example.com"},
		{"example.com:65535", 0, "example.com:65535", "example.com"},
		{"1.1.1.1:443", 0, "1.1.1.1:443", "1.1.1.1"},
		{"[2606:4700:4700::1111]:443", 0, "[2606:4700:4700::1111]:443", "2606:4700:4700::1111"},
		{"[2606:4700:4700:0::1111]:53", 443, "[2606:4700:4700::1111]:53", "2606:4700:4700::1111"},
		{"example.com", 443, "example.com:443", "example.com"},
		{"1.1.1.1", 443, "1.1.1.1:443", "1.1.1.1"},
		{"2606:4700:4700::1111", 443, "[2606:4700:4700::1111]:443", "2606:4700:4700::1111"},
		{"[2606:4700:4700::1111]", 443, "[2606:4700:4700::1111]:443", "2606:4700:4700::1111"},
		{"münchen.de:8443", 443, "xn--mnchen-3ya.de:8443", "xn--mnchen-3ya.de"},
	} {
		hp, err := ParseHostPort(c.typed, c.defaultPort)
		if err != nil || hp.String() != c.want || hp.LimitKey() != c.key {
			t.Errorf("%q: %q, %q, %v; want %q, %q", c.typed, hp, hp.LimitKey(), err, c.want, c.key)
		}
	}
}

func TestParseHostPortRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", ":443", "example.com:", "example.com:0", "example.com:65536", "example.com:99999", "example.com:-1", "example.com:+80", "example.com:8 0",
		"example.com:0x50", "example.com:080", "example.com:80:80", "example.com:http", "[example.com]:443", "[8.8.8.8]:443", "[2606:4700:4700::1111:443",
		"[2606:4700:4700::1111]443", "2606:4700:4700::1111]:443", "[[2606:4700:4700::1111]]:443", "[]:443", "https://example.com:443", "user@example.com:443",
		"example.com:443/", "example.com：443", "example.com:４４３", "exa mple.com:443", "[2606:4700:4700::1111]:", "[2606:4700:4700::1111]x",
	} {
		for _, defaultPort := range []uint16{0, 443} {
			_, err := ParseHostPort(s, defaultPort)
			checkFault(t, s, err, fault.Invalid)
		}
	}
	for _, s := range []string{"example.com", "1.1.1.1", "2606:4700:4700::1111", "[2606:4700:4700::1111]",
		"2606:4700:4700::1111:443"} {
		_, err := ParseHostPort(s, 0)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{
		"127.0.0.1:443", "127.0.0.1.:443", "[::1]:443", "[fe80::1%eth0]:443", "[fe80::1%25eth0]:443", "[::ffff:8.8.8.8]:443", "localhost:443", "gateway:443", "127.1:443",
		"①②⑦.⓪.⓪.①:443",
	} {
		_, err := ParseHostPort(s, 0)
		checkFault(t, s, err, fault.Refused)
	}
}

func FuzzParseHostPort(f *testing.F) {
	for _, s := range []string{"example.com:443", "[2606:4700::1]:1", "1.1.1.1", "::1", "[::1%lo]:1", "a:b:c", "[x]:1",
		"example.com:065"} {
		f.Add(s, uint16(0))
		f.Add(s, uint16(443))
	}
	f.Fuzz(func(t *testing.T, s string, defaultPort uint16) {
		hp, err := ParseHostPort(s, defaultPort)
		if err != nil {
			checkFault(t, s, err, fault.Invalid, fault.Refused)
			return
		}
		checkHost(t, s, hp.Host)
		checkPlain(t, s, hp.String())
		if again, err := ParseHostPort(hp.String(), 0); hp.Port == 0 || err != nil || again != hp {
			t.Fatalf("%q is %q at first and %q, %v again", s, hp, again, err)
		}
	})
}
