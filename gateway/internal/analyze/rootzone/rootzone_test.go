package rootzone_test

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/shared/netpolicy"
)

func TestBuiltIn(t *testing.T) {
	t.Parallel()
	h := rootzone.DefaultHints()
	if len(h.Servers) != 13 || len(h.Addresses()) != 26 || h.Date == "" || h.Source == "" {
		t.Errorf("%+v", h)
	}
	for _, s := range h.Servers {
		if len(s.Addresses) != 2 || !s.Addresses[0].Is4() || !s.Addresses[1].Is6() {
			t.Errorf("%s: %v", s.Name, s.Addresses)
		}
		for _, a := range s.Addresses {
			if !netpolicy.Judge(a).Public {
				t.Errorf("%s: %s is not public", s.Name, a)
			}
		}
	}
	a := rootzone.DefaultAnchors()
	var tags []string
	for _, ds := range a.DS {
		tags = append(tags, fmt.Sprint(ds.KeyTag, ds.Algorithm, ds.DigestType, len(ds.Digest)))
	}
	if got := strings.Join(tags, ", "); got != "20326 8 2 64, 38696 8 2 64" || a.Date == "" {
		t.Errorf("%s, %+v", got, a)
	}
}

const server = ". IN NS ns.root.\nns.root. IN A 10.0.0.1\n"

func TestHintsThatAreRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"empty":              {"", "no NS record"},
		"no zone file":       {"hello", "dns: "},
		"no address":         {". IN NS ns.root.", "ns.root. has no address"},
		"another zone":       {server + "com. IN NS ns.root.", "com."},
		"another type":       {server + "ns.root. IN TXT x", "ns.root."},
		"another class":      {". CH NS ns.root.", "class IN"},
		"another file":       {"$INCLUDE /etc/passwd\n" + server, "$INCLUDE"},
		"generated":          {"$GENERATE 1-60000 a$ A 10.0.0.1\n" + server, "$GENERATE"},
		"too long":           {server + strings.Repeat(";", rootzone.MaxText), "octets"},
		"too many records":   {server + strings.Repeat("ns.root. IN A 10.0.0.1\n", 511), "records"},
		"too many servers":   {servers(27), "more than 26"},
		"address of no name": {". IN NS .\n", ". has no address"},
	} {
		if _, err := rootzone.ParseHints(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func servers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ". IN NS ns%d.root.\nns%[1]d.root. IN A 10.0.0.1\n", i)
	}
	return b.String()
}

func TestHints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		servers string
	}{
		"one":             {server, "[{ns.root. [10.0.0.1]}]"},
		"a TTL":           {". 60 IN NS NS.Root.\nns.ROOT. 60 IN A 10.0.0.1", "[{ns.root. [10.0.0.1]}]"},
		"both families":   {server + "ns.root. IN AAAA 2001:db8::1\nns.root. A 10.0.0.1", "[{ns.root. [10.0.0.1 2001:db8::1]}]"},
		"an idle address": {server + "other.root. IN A 10.0.0.2", "[{ns.root. [10.0.0.1]}]"},
	} {
		got, err := rootzone.ParseHints(c.text)
		if err != nil || fmt.Sprint(got.Servers) != c.servers {
			t.Errorf("%s: %v, %v", name, got.Servers, err)
		}
	}
	if h, err := rootzone.ParseHints(servers(26)); err != nil || len(h.Servers) != 26 {
		t.Error(err)
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	const ds = ". IN DS 1 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D\n"
	for name, c := range map[string]struct {
		text string
		many int // 0 where it is rejected
	}{
		"a DS":            {ds, 1},
		"two":             {ds + ds, 2},
		"a key":           {". IN DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==", 1},
		"empty":           {"; nothing", 0},
		"of another":      {strings.Replace(ds, ".", "com.", 1), 0},
		"of another type": {ds + server, 0},
		"a broken key":    {". IN DNSKEY 257 3 13 !", 0},
	} {
		got, err := rootzone.ParseAnchors(c.text)
		if (err == nil) != (c.many > 0) || len(got.DS) != c.many {
			t.Errorf("%s: %v, %v", name, got.DS, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(server)
	f.Add("$TTL 60\n@ NS a\na A 1.2.3.4\n")
	f.Add(". IN DS 1 8 2 00\n. IN DNSKEY 257 3 13 AAAA\n")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := rootzone.ParseHints(text); err == nil {
			for _, s := range h.Servers {
				if len(s.Addresses) == 0 {
					t.Errorf("%s has no address", s.Name)
				}
			}
		}
		if a, err := rootzone.ParseAnchors(text); err == nil && len(a.DS) == 0 {
			t.Error("no anchors")
		}
	})
}
