package bootstrap

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/target"
)

// listing is a file with one service.
func listing(entries, urls string) []byte {
	return []byte(fmt.Sprintf(`{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[[[%s],[%s]]]}`, entries,
		urls))
}

const aRegistry = `"https://rdap.registry-site.com/v1/"`

func TestParse(t *testing.T) {
	t.Parallel()
	long := "https://rdap.registry-site.com/" + strings.Repeat("x", 100)
	for what, c := range map[string]struct {
		entries, urls string
		want          string // the base of com; empty for no such file
	}{
		"one":              {`"com"`, aRegistry, "https://rdap.registry-site.com/v1/"},
		"without a slash":  {`"com"`, `"https://rdap.registry-site.com"`, "https://rdap.registry-site.com/"},
		"the first https":  {`"com"`, `"http://a-site.com/","https://b-site.com/","https://c-site.com/"`, "https://b-site.com/"},
		"in capitals":      {`"COM"`, aRegistry, "https://rdap.registry-site.com/v1/"},
		"beside no name":   {`"","-","münchen","a b","com"`, aRegistry, "https://rdap.registry-site.com/v1/"},
		"a long path":      {`"com"`, `"` + long + `"`, long},
		"no https":         {`"com"`, `"http://rdap.registry-site.com/"`, ""},
		"no URL":           {`"com"`, ``, ""},
		"a private server": {`"com"`, `"https://10.0.0.1/"`, ""},
		"inside by name":   {`"com"`, `"https://rdap.internal/"`, ""},
		"a query":          {`"com"`, `"https://rdap.registry-site.com/?q="`, ""},
		"a user":           {`"com"`, `"https://user@rdap.registry-site.com/"`, ""},
		"a script":         {`"com"`, `"javascript:alert(1)"`, ""},
		"no entry":         {``, aRegistry, ""},
	} {
		got, err := parse(listing(c.entries, c.urls), readName)
		if (err == nil) != (c.want != "") {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if base := got.bases["com"]; err == nil && base.String() != c.want {
			t.Errorf("%s: %s", what, base)
		}
	}
	twice := `{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[[["com"],["https://a-site.com/"]],` +
		`[["com"],["https://b-site.com/"]]]}`
	if got, err := parse([]byte(twice), readName); err != nil || got.bases["com"].String() != "https://a-site.com/" {
		t.Errorf("twice: %v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const good = `{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[[["com"],["https://a-site.com/"]]]}`
	if _, err := parse([]byte(good), readName); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"another version":       {`"1.0"`, `"2.0"`},
		"no version":            {`"version":"1.0",`, ``},
		"no date":               {`"publication":"2026-01-02T03:04:05Z",`, ``},
		"a date that is none":   {`2026-01-02T03:04:05Z`, `yesterday`},
		"a service of one list": {`,["https://a-site.com/"]`, ``},
		"of three lists":        {`[["com"]`, `[["a"],["com"]`},
		"no services":           {`[[["com"],["https://a-site.com/"]]]`, `[]`},
		"services of no lists":  {`[[["com"],["https://a-site.com/"]]]`, `{"com":"https://a-site.com/"}`},
		"a number for a name":   {`"com"`, `1`},
		"cut":                   {`/"]]]}`, ``},
		"more after the end":    {`]]]}`, `]]]} {}`},
		"a web page":            {good, `<html></html>`},
		"nothing":               {good, ``},
		"null":                  {good, `null`},
	} {
		changed := strings.Replace(good, change[0], change[1], 1)
		if changed == good {
			t.Fatalf("%s: nothing is changed", what)
		}
		if got, err := parse([]byte(changed), readName); err == nil {
			t.Errorf("%s passes: %v", what, got)
		}
	}
}

// The longest of the listed suffixes counts, by whole labels.
func TestNames(t *testing.T) {
	t.Parallel()
	table, err := parse([]byte(`{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[`+
		`[["uk"],["https://uk-site.com/"]],[["co.uk","xn--p1ai"],["https://co-site.com/"]]]}`), readName)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"example.uk": "https://uk-site.com/", "example.co.uk": "https://co-site.com/", "co.uk": "https://co-site.com/",
		"example.ac.uk": "https://uk-site.com/", "exampleco.uk": "https://uk-site.com/", "example.duk": "", "uk.com": "",
		"example.xn--p1ai": "https://co-site.com/",
	} {
		if got, ok := ofName(table, name); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v, %t; want %s", name, got, ok, want)
		}
	}
}

// The smallest listed block counts, at both of its ends.
func TestBlocks(t *testing.T) {
	t.Parallel()
	read := func(of string, key func(string) (netip.Prefix, bool)) blocks {
		table, err := parse([]byte(of), key)
		if err != nil {
			t.Fatal(err)
		}
		return newBlocks(table)
	}
	v4 := read(`{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[`+
		`[["8.0.0.0/8","9.0.0.1/8","2001:db8::/32","0.0.0.0/33"],["https://a-site.com/"]],`+
		`[["8.8.0.0/16"],["https://b-site.com/"]]]}`, readPrefix(32))
	v6 := read(`{"version":"1.0","publication":"2026-01-02T03:04:05Z","services":[`+
		`[["2600::/12","8.0.0.0/8","::ffff:8.0.0.0/104"],["https://a-site.com/"]]]}`, readPrefix(128))
	for address, want := range map[string]string{
		"7.255.255.255": "", "8.0.0.0": "https://a-site.com/", "8.7.255.255": "https://a-site.com/",
		"8.8.0.0": "https://b-site.com/", "8.8.255.255": "https://b-site.com/", "8.9.0.0": "https://a-site.com/",
		"8.255.255.255": "https://a-site.com/", "9.0.0.1": "",
		"25ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": "", "2600::": "https://a-site.com/",
		"260f:ffff:ffff:ffff:ffff:ffff:ffff:ffff": "https://a-site.com/", "2610::": "",
	} {
		a, list := netip.MustParseAddr(address), v4
		if a.Is6() {
			list = v6
		}
		if got, ok := list.of(a); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v, %t; want %s", address, got, ok, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]numbers{
		"1-2": {1, 2}, "7": {7, 7}, "0-4294967295": {0, 4294967295}, "3-3": {3, 3},
	} {
		if got, ok := readNumbers(s); !ok || got != want {
			t.Errorf("%s: %v, %t", s, got, ok)
		}
	}
	for _, s := range []string{"", "-", "2-1", "1-", "-1", "1-2-3", "4294967296", "AS1", "1 - 2", "+1"} {
		if got, ok := readNumbers(s); ok {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// Whatever stands in a file, what is taken of it can be queried: a public https URL for a name or a block.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"ipv4.json", "ipv6.json", "asn.json"} {
		f.Add(copied(name))
	}
	f.Add(listing(`"com","co.uk","8.0.0.0/8","2600::/12","1-2"`, aRegistry))
	f.Add(listing(`"xn--p1ai"`, `"http://a-site.com/","https://[2600::1]:8443/rdap/%20?"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > maxFile {
			return
		}
		askable := func(base target.URL) {
			again, err := target.ParseURL(base.String())
			if err != nil || again.Scheme() != "https" || strings.Contains(base.RequestURI(), "?") {
				t.Fatalf("base %s: %v", base, err)
			}
		}
		if names, err := parse(body, readName); err == nil {
			for name, base := range names.bases {
				askable(base)
				if got, ok := ofName(names, "x."+name); !ok || name != strings.ToLower(name) {
					t.Fatalf("%q: %v, %t", name, got, ok)
				}
			}
		}
		for _, read := range []func(string) (netip.Prefix, bool){readPrefix(32), readPrefix(128)} {
			if table, err := parse(body, read); err == nil {
				list := newBlocks(table)
				for p, base := range table.bases {
					askable(base)
					if _, ok := list.of(p.Addr()); !ok {
						t.Fatalf("%v is not found", p)
					}
				}
			}
		}
		if table, err := parse(body, readNumbers); err == nil {
			for n := range table.bases {
				if n.first > n.last {
					t.Fatalf("%+v", n)
				}
			}
		}
	})
}
