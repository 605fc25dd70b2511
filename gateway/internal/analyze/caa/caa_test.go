package caa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestIssuer(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"letsencrypt.org":                        "letsencrypt.org",
		" LetsEncrypt.org\t":                     "letsencrypt.org",
		"ca1.example.net; account=230123":        "ca1.example.net",
		"ca.example.net;a=b; c-d=":               "ca.example.net",
		"ca.example.net; a = b ; validation=x=y": "ca.example.net",
		"ca.example.net;":                        "ca.example.net",
		";":                                      "",
		" ; ":                                    "",
		"":                                       "",
		";account=1":                             "",
		"localhost":                              "localhost",
		"xn--bcher-kva.example":                  "xn--bcher-kva.example",
		"a--b.example":                           "a--b.example",
		"%%%%%":                                  "!",
		"ca.example.net policy=ev":               "!",
		"ca.example.net; policy":                 "!",
		"ca.example.net; a=b;":                   "!",
		"ca.example.net; -a=b":                   "!",
		"-ca.example.net":                        "!",
		"ca-.example.net":                        "!",
		"ca..example.net":                        "!",
		"ca.example.net.":                        "!",
		"https://ca.example.net":                 "!",
		"bücher.example":                         "!",
		"ca.example.net\n":                       "!",
		"ca.example.net; a=b c=d":                "!",
		"ca.example.net, other.example":          "!",
		"ca.example.net; a=\u00e9":               "!",
	} {
		name, ok := Issuer(value)
		if !ok {
			name += "!"
		}
		if name != want {
			t.Errorf("%q: %q, want %q", value, name, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	issue := func(value string) Record { return Record{Tag: "issue", Value: value} }
	wild := func(value string) Record { return Record{Tag: "issuewild", Value: value} }
	unknown := Record{Flags: 128, Tag: "tbs", Value: "Unknown"}
	only := func(names ...string) Policy {
		return Policy{Restricted: true, Issuers: names, WildRestricted: true, Wildcards: names}
	}
	for name, c := range map[string]struct {
		records []Record
		want    Policy
	}{
		"none":             {nil, Policy{}},
		"one issuer":       {[]Record{issue("ca.net")}, only("ca.net")},
		"the same twice":   {[]Record{issue("ca.net"), {Tag: "ISSUE", Value: "CA.net; a=b"}}, only("ca.net")},
		"no one":           {[]Record{issue(";")}, only()},
		"no one, and one":  {[]Record{issue(";"), issue("ca.net")}, only("ca.net")},
		"wildcards apart":  {[]Record{issue("ca.net"), wild("other.net")}, Policy{Restricted: true, Issuers: []string{"ca.net"}, WildRestricted: true, Wildcards: []string{"other.net"}}},
		"no wildcards":     {[]Record{issue("ca.net"), wild(";")}, Policy{Restricted: true, Issuers: []string{"ca.net"}, WildRestricted: true}},
		"wildcards alone":  {[]Record{wild("ca.net")}, Policy{WildRestricted: true, Wildcards: []string{"ca.net"}}},
		"reports alone":    {[]Record{{Tag: "iodef", Value: "mailto:a@b.net"}}, Policy{Reports: []string{"mailto:a@b.net"}}},
		"critical":         {[]Record{unknown}, Policy{Restricted: true, WildRestricted: true, Critical: []Record{unknown}}},
		"critical wins":    {[]Record{issue("ca.net"), unknown}, Policy{Restricted: true, WildRestricted: true, Critical: []Record{unknown}}},
		"all other flags":  {[]Record{{Flags: 127, Tag: "tbs"}, issue("ca.net")}, only("ca.net")},
		"critical, known":  {[]Record{{Flags: 128, Tag: "Issue", Value: "ca.net"}, {Flags: 128, Tag: "contactemail"}}, only("ca.net")},
		"unparsable":       {[]Record{issue("%%%%%")}, Policy{Restricted: true, WildRestricted: true, Unparsable: []Record{issue("%%%%%")}}},
		"unparsable, one":  {[]Record{issue("%"), issue("ca.net")}, Policy{Restricted: true, Issuers: []string{"ca.net"}, WildRestricted: true, Wildcards: []string{"ca.net"}, Unparsable: []Record{issue("%")}}},
		"unknown, lenient": {[]Record{{Tag: "tbs"}}, Policy{}},
	} {
		if diff := cmp.Diff(c.want, Read(c.records), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// No issuer has a character that a name has not, however hostile the value.
func FuzzIssuer(f *testing.F) {
	for _, value := range []string{"ca.example.net; a=b", ";", "%%%%%", "a..b", "\x00", strings.Repeat("a-", 99)} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		name, ok := Issuer(value)
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !ok && name != "" {
			t.Errorf("%q: %q, %t", value, name, ok)
		}
		if again, ok := Issuer(name); !ok || again != name {
			t.Errorf("%q: %q is not read again", value, name)
		}
	})
}
