package rdap

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/want, to be read line by line before it is kept")

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// wantJSON holds a value against testdata/want.
func wantJSON(t *testing.T, name string, got any) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "want", name)
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

func TestDomainsAsRegistriesTellThem(t *testing.T) {
	t.Parallel()
	for file, name := range map[string]string{
		"verisign.json": "example-shop.com", "registrar.json": "example-shop.com", "pir.json": "charity-site.org",
		"denic.json": "xn--mnchen-shop-thb.de", "nominet.json": "news-site.co.uk", "wrongtypes_domain.json": "odd-site.net",
		"hostile_text.json": "evil-site.com", "redacted_domain.json": "quiet-charity.org",
	} {
		record, err := readDomain(fixture(t, file), name)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		wantJSON(t, file, record)
	}
}

func TestNetworksAsRegistriesTellThem(t *testing.T) {
	t.Parallel()
	for file, addr := range map[string]string{
		"arin.json": "8.8.8.8", "ripe.json": "193.0.6.139", "ripe6.json": "2001:67c:2e8::1", "apnic.json": "1.1.1.1",
		"lacnic.json": "200.3.14.10", "afrinic.json": "196.216.2.6", "padded.json": "11.98.0.7",
		"redacted_network.json": "11.98.1.7",
	} {
		record, err := readNetwork(fixture(t, file), netip.MustParseAddr(addr))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		wantJSON(t, file, record)
	}
}

// What the fixtures hold of people must not be found in anything that leaves the package, the caches included.
func TestNothingPersonalIsKept(t *testing.T) {
	t.Parallel()
	personal := []string{
		"Doe", "Perez", "jane", "john", "Secret", "Hiddentown", "94043", "5550001111", "Amphitheatre", "Broadcasting Street", "Rambla",
		"Cordelia", "Box", "mmr-", "2003-12", "Floor",
	}
	for _, file := range []string{"registrar.json", "nominet.json", "arin.json", "ripe.json", "apnic.json", "lacnic.json",
		"afrinic.json", "redacted_network.json"} {
		kept, err := os.ReadFile(filepath.Join("testdata", "want", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range personal {
			if bytes.Contains(kept, []byte(p)) {
				t.Errorf("%s: %q was kept", file, p)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":       "",
		"HTML":          "<!DOCTYPE html><html></html>",
		"truncated":     `{"objectClassName":"domain","ldhName":"a.c`,
		"a byte order":  "\xef\xbb\xbf" + `{"objectClassName":"domain","ldhName":"a.com"}`,
		"two values":    `{"ldhName":"a.com"}{}`,
		"a list":        `[{"ldhName":"a.com"}]`,
		"a string":      `"a.com"`,
		"a number":      `7`,
		"deep lists":    strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19),
		"deep objects":  strings.Repeat(`{"entities":`, 33) + "1" + strings.Repeat("}", 33),
		"other class":   `{"objectClassName":"autnum","handle":"AS1"}`,
		"other name":    `{"objectClassName":"domain","ldhName":"b.com"}`,
		"nothing in it": `{}`,
	} {
		if r, err := readDomain([]byte(body), "a.com"); err == nil {
			t.Errorf("%s: gives %+v", name, r)
		}
	}
	// null is an object without members to encoding/json; nothing in it is nothing.
	if r, err := readDomain([]byte(`null`), "a.com"); err == nil {
		t.Errorf("null gives %+v", r)
	}
}

func TestDepthBothSides(t *testing.T) {
	t.Parallel()
	nested := func(n int) []byte {
		return []byte(`{"ldhName":"a.com","x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}")
	}
	if _, err := readDomain(nested(maxDepth), "a.com"); err != nil {
		t.Errorf("%d deep: %v", maxDepth, err)
	}
	if _, err := readDomain(nested(maxDepth+1), "a.com"); !errors.Is(err, errTooDeep) {
		t.Errorf("%d deep: %v", maxDepth+1, err)
	}
	brackets := `{"ldhName":"a.com","x":"` + strings.Repeat(`[{\"`, 100) + `"}`
	if _, err := readDomain([]byte(brackets), "a.com"); err != nil {
		t.Errorf("brackets in a string: %v", err)
	}
}

func TestNamesAreCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ldh, asked string
		same       bool
	}{
		{"A.COM", "a.com", true}, {"a.com.", "a.com", true}, {"münchen.de", "xn--mnchen-3ya.de", true}, {"MÜNCHEN.de", "xn--mnchen-3ya.de", true},
		{"b.com", "a.com", false}, {"a.com.evil.org", "a.com", false}, {"xn--mnchen-3ya.de", "xn--mnchen-3ya.de", true},
	} {
		_, err := readDomain([]byte(`{"objectClassName":"Domain","ldhName":"`+c.ldh+`"}`), c.asked)
		if (err == nil) != c.same {
			t.Errorf("%s for %s: %v", c.ldh, c.asked, err)
		}
	}
}

func TestErrorObjectsWithStatus200(t *testing.T) {
	t.Parallel()
	for _, code := range []string{`404`, `"404"`} {
		body := []byte(`{"errorCode":` + code + `,"title":"Not Found"}`)
		if r, err := readDomain(body, "a.com"); err != nil || r.Reason != NotFound || r.Domain != nil {
			t.Errorf("domain %s: %+v, %v", code, r, err)
		}
		if r, err := readNetwork(body, netip.MustParseAddr("1.1.1.1")); err != nil || r.Reason != NotFound ||
			r.Network != nil {
			t.Errorf("network %s: %+v, %v", code, r, err)
		}
	}
}

func TestHugeLists(t *testing.T) {
	t.Parallel()
	body := `{"ldhName":"a.com","status":[` + strings.Repeat(`"active",`, 50000) + `"last"],"notices":[` +
		strings.TrimSuffix(strings.Repeat(`{"title":"t","description":["`+strings.Repeat("x", 5000)+`"]},{"title":"u"},`,
			50), ",") + `],"entities":[` +
		strings.TrimSuffix(strings.Repeat(`{"roles":["registrant"]},`, 1000), ",") + `]}`
	r, err := readDomain([]byte(body), "a.com")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Domain.Status) != maxElements || len(r.Domain.Contacts) != maxContacts || len(r.Notices) != 2 {
		t.Errorf("%d status, %d contacts, %d notices", len(r.Domain.Status), len(r.Domain.Contacts), len(r.Notices))
	}
	if n := len([]rune(r.Notices[0].Description)); n != maxDescription {
		t.Errorf("a description of %d characters", n)
	}
}
