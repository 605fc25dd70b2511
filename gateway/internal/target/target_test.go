package target

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"diagnostics/gateway/internal/fault"
)

// checkFault holds what every error of this package promises, and gives the sentence.
func checkFault(t *testing.T, input string, err error, kinds ...fault.Kind) string {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("%.80q: error %v is not a *fault.Error", input, err)
		return ""
	}
	matches := false
	for _, k := range kinds {
		matches = matches || f.Kind == k
	}
	if !matches {
		t.Errorf("%.80q: kind %d, want %v (%s)", input, f.Kind, kinds, f.Sentence())
	}
	if f.Sentence() == "" || !strings.HasSuffix(f.Sentence(), ".") {
		t.Errorf("%.80q: bad sentence %q", input, f.Sentence())
	}
	if strings.ContainsFunc(f.Sentence(), unicode.IsControl) || len([]rune(f.Sentence())) > 260 {
		t.Errorf("%.80q: sentence with control characters or too long: %q", input, f.Sentence())
	}
	return f.Sentence()
}

// TestSentences holds the words that visitors read, one for each way in which an input can be wrong.
func TestSentences(t *testing.T) {
	t.Parallel()
	host := func(s string) error { _, err := ParseHost(s); return err }
	domain := func(s string) error { _, err := ParseDomain(s, true); return err }
	hostPort := func(s string) error { _, err := ParseHostPort(s, 0); return err }
	tlsHost := func(s string) error { _, err := ParseHostPort(s, 443); return err }
	url := func(s string) error { _, err := ParseURL(s); return err }
	address := func(s string) error { _, err := ParseAddress(s); return err }
	network := func(s string) error { _, err := ParseNetworkQuery(s); return err }
	registration := func(s string) error { _, err := ParseRegistration(s); return err }
	long := strings.Repeat("a", 70)
	for _, c := range []struct {
		parse       func(string) error
		input, want string
		kind        fault.Kind
	}{
		{host, "", "The hostname is missing. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "exa mple.com", "exa mple.com contains a space. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "a;b.com", "a;b.com has the character ; in it, which is not allowed in hostnames. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "exa\tmple\x07.com", "example.com contains a control character. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, long, strings.Repeat("a", 60) + "… has a part longer than 63 characters. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "localhost", "localhost is a name of the local machine (RFC 6761). Enter a valid public hostname, such as example.com.", fault.Refused},
		{host, "printer.local", "printer.local is a name for private networks (RFC 6762). Enter a valid public hostname, such as example.com.", fault.Refused},
		{host, "router", "router has no dot, so it is known only on local networks. Enter a valid public hostname, such as example.com.", fault.Refused},
		{host, "127.1", "127.1 ends in a number, as no public hostname does. Enter a valid public hostname, such as example.com.", fault.Refused},
		{host, "x._a.com", "x._a.com has an underscore at the start or the end of _a, which no registry allows. Enter a valid public hostname, such as example.com.", fault.Refused},
		{host, "10.0.0.1", "10.0.0.1 is a private address (RFC 1918). Enter a public IP address.", fault.Refused},
		{host, "fe80::1%eth0", "fe80::1%eth0 is an address of one link only (RFC 4007). Enter a public IP address.", fault.Refused},
		{host, "1:2", "Leave out the port. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "1:2:3", "1:2:3 is not an IPv6 address. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "https://example.com/", "Leave out the scheme and the path of the URL. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{host, "a@example.com", "Leave out everything up to the @ sign. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{domain, "8.8.8.8", "8.8.8.8 is an IP address. Enter a public domain name, such as example.com.", fault.Invalid},
		{domain, "1.0.0.10.in-addr.arpa", "1.0.0.10.in-addr.arpa is the reverse name of a non-public address (RFC 6761). Enter a public domain name, such as example.com.", fault.Refused},
		{hostPort, "example.com", "The port is missing. Enter a host and a port, such as example.com:443.", fault.Invalid},
		{hostPort, "2606:4700:4700::1111", "The port is missing. Enter the address in brackets and a port, such as [2606:4700:4700::1111]:443.", fault.Invalid},
		{hostPort, "example.com:0", "0 is not a port. Use a port from 1 to 65535.", fault.Invalid},
		{hostPort, "example.com:", "An empty text is not a port. Use a port from 1 to 65535.", fault.Invalid},
		{hostPort, "[example.com]:443", "Only an IPv6 address goes in brackets. Enter a host and a port, such as example.com:443.", fault.Invalid},
		{hostPort, "10.0.0.1:443", "10.0.0.1 is a private address (RFC 1918). Enter a public IP address.", fault.Refused},
		{tlsHost, "[2606:4700:4700::1111", "The closing bracket is missing. Enter a valid public hostname, such as example.com.", fault.Invalid},
		{url, "example.com", "The URL has no scheme. Enter a full URL that starts with http:// or https://, such as https://example.com/.", fault.Invalid},
		{url, "example.com:8080/x", "The URL has no scheme. Enter a full URL that starts with http:// or https://, such as https://example.com/.", fault.Invalid},
		{url, "ftp://example.com/", "Only http and https URLs can be checked, not ftp. Enter a full URL that starts with http:// or https://, such as https://example.com/.", fault.Invalid},
		{url, "http:foo", "Write two slashes after http: in a URL. Enter a full URL that starts with http:// or https://, such as https://example.com/.", fault.Invalid},
		{url, "https:///x", "The URL has no host. Enter a full URL that starts with http:// or https://, such as https://example.com/.", fault.Invalid},
		{url, "https://u:p@example.com/", "A URL must not contain a user name or password.", fault.Invalid},
		{url, "https://example.com:99999/", "99999 is not a port. Use a port from 1 to 65535.", fault.Invalid},
		{url, "https://example.com/%zz", "The path of the URL has a percent sign that must be written as %25.", fault.Invalid},
		{url, `https://example.com/a\b`, "The path of the URL has a backslash, which must be written as / or %5C.", fault.Invalid},
		{url, "http://localhost/", "localhost is a name of the local machine (RFC 6761). Enter a valid public hostname, such as example.com.", fault.Refused},
		{url, "http://127.0.0.1/", "127.0.0.1 is a loopback address (RFC 1122). Enter a public IP address.", fault.Refused},
		{address, "example.com", "example.com is not an IP address in its usual form. Enter a public IP address.", fault.Invalid},
		{address, "", "An empty text is not an IP address in its usual form. Enter a public IP address.", fault.Invalid},
		{address, "::ffff:8.8.8.8", "::ffff:8.8.8.8 is an IPv4-mapped address (RFC 4291). Enter a public IP address.", fault.Refused},
		{network, "AS64512", "AS64512 is a private AS number (RFC 6996). Enter an AS number, such as AS15169.", fault.Refused},
		{network, "ASfoo", "ASfoo is not an AS number. Enter an AS number, such as AS15169.", fault.Invalid},
		{network, "foo", "foo is neither an AS number nor an IP address. Enter an AS number, such as AS15169, or a public IP address.", fault.Invalid},
		{network, "167772161", "167772161 may be an AS number or an IP address in decimal. Write AS167772161, or the address with its dots.", fault.Invalid},
		{registration, "x y.com", "x y.com contains a space. Enter a public domain name or IP address, such as example.com.", fault.Invalid},
	} {
		if got := checkFault(t, c.input, c.parse(c.input), c.kind); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.input, got, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"example.com": "example.com", "": "", "\x00\x07\u202e\u200b\u2028\xff": "", "a\r\nb": "ab", "ünïcode": "ünïcode",
		strings.Repeat("é", 60): strings.Repeat("é", 60), strings.Repeat("é", 61): strings.Repeat("é", 60) + "…",
		"a\u202egpj.exe": "agpj.exe", "  a  ": "a",
	} {
		if got := show(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestShortHosts(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("a", 38) + "." + strings.Repeat("b", 37) + ".com"
	for name, want := range map[string]string{
		"example.com":                     "example.com",
		"2606:4700:4700::1111":            "2606:4700:4700::1111",
		fits:                              fits,
		"c" + fits:                        "c" + fits[:76] + "...",
		strings.Repeat("a.", 100) + "com": strings.Repeat("a.", 38) + "a...",
	} {
		h, err := ParseHost(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Short(); got != want || len(got) > 80 {
			t.Errorf("%s: %q of %d, want %q", name, got, len(got), want)
		}
	}
}
