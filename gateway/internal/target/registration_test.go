package target

import (
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/fault"
)

func TestParseRegistration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, name, registrable string }{
		{"example.com", "example.com", "example.com"},
		{"WWW.Example.COM.", "www.example.com", "example.com"},
		{"a.b.c.example.co.uk", "a.b.c.example.co.uk", "example.co.uk"},
		{"www.münchen.de", "www.xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
		// A name that is itself a suffix stays as it stands.
		{"co.uk", "co.uk", "co.uk"},
		{"com.au", "com.au", "com.au"},
		// Private rules do not count, long ones no more than short ones.
		{"github.io", "github.io", "github.io"},
		{"someone.github.io", "someone.github.io", "github.io"},
		{"a.someone.github.io", "a.someone.github.io", "github.io"},
		{"x.blogspot.com", "x.blogspot.com", "blogspot.com"},
		{"b.s3.dualstack.us-east-1.amazonaws.com", "b.s3.dualstack.us-east-1.amazonaws.com", "amazonaws.com"},
		{"x.cn-north-1.eb.amazonaws.com.cn", "x.cn-north-1.eb.amazonaws.com.cn", "amazonaws.com.cn"},
		// Wildcard and exception rules of the ICANN section.
		{"www.foo.ck", "www.foo.ck", "www.foo.ck"},
		{"a.www.foo.ck", "a.www.foo.ck", "www.foo.ck"},
		{"foo.ck", "foo.ck", "foo.ck"},
		{"a.www.ck", "a.www.ck", "www.ck"},
		{"a.b.city.kawasaki.jp", "a.b.city.kawasaki.jp", "city.kawasaki.jp"},
		// A top-level domain that the list does not have: the default rule.
		{"a.b.nosuchtld", "a.b.nosuchtld", "b.nosuchtld"},
		{"_dmarc.a_b.example.com", "_dmarc.a_b.example.com", "example.com"},
		{"8.8.8.8.in-addr.arpa", "8.8.8.8.in-addr.arpa", "8.in-addr.arpa"},
	} {
		r, err := ParseRegistration(c.typed)
		if err != nil {
			t.Errorf("%q: %v", c.typed, err)
			continue
		}
		if r.IsAddr() || r.Name() != c.name || r.String() != c.name || r.DenyKey() != c.name ||
			r.Registrable() != c.registrable || r.LimitKey() != c.registrable {
			t.Errorf("%q: name %q, deny key %q, registrable %q, limit key %q; want %q, %q", c.typed, r.Name(), r.DenyKey(),
				r.Registrable(), r.LimitKey(), c.name, c.registrable)
		}
	}
}

func TestParseRegistrationOfAddress(t *testing.T) {
	t.Parallel()
	r, err := ParseRegistration("2606:4700:4700:0::1111")
	if err != nil {
		t.Fatal(err)
	}
	const want = "2606:4700:4700::1111"
	if !r.IsAddr() || r.Addr() != netip.MustParseAddr(want) || r.Name() != "" || r.Registrable() != "" ||
		r.LimitKey() != want || r.DenyKey() != want || r.String() != want {
		t.Errorf("%+v", r)
	}
}

func TestParseRegistrationRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "example.com\r\nhelp", "example.com -p 22", "--host=127.0.0.1 example.com", "=example.com", "?", "%rwhois V-1.5", "example.com#127.0.0.1", "example.com@127.0.0.1",
		"AS15169 x", "8.8.8.0/24", "https://example.com/",
	} {
		_, err := ParseRegistration(s)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{"10.0.0.1", "::1", "localhost", "printer.local", "AS15169", "com", "0x0",
		"_example.com", "example_.co.uk", "167772161"} {
		_, err := ParseRegistration(s)
		checkFault(t, s, err, fault.Refused)
	}
}
