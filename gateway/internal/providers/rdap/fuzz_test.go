package rdap

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"diagnostics/shared/netpolicy"
)

func addFixtures(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, body := range []string{
		`{"ldhName":"example-shop.com","entities":[{"roles":["registrant"],"vcardArray":["vcard",[["adr",{"label":"a\nFrance"},"text",[]]]]}]}`,
		`{"startAddress":"0.0.0.1","endAddress":"255.255.255.254"}`, `{"startAddress":"::","endAddress":"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}`,
		`{"cidr0_cidrs":[{"v6prefix":"2000::","length":3}]}`, `{"cidr0_cidrs":[{"v4prefix":"8.0.0.0","length":-1}]}`,
		`{"events":[{"eventAction":"expiration","eventDate":"2026-02-30T25:61:61+99:99"}],"handle":"x"}`,
	} {
		f.Add([]byte(body))
	}
}

// wantClean fails where a text could forge a line of a log or turn what stands beside it.
func wantClean(t *testing.T, kept any) {
	t.Helper()
	out, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	walkTexts(back, func(s string) {
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("not clean: %q", s)
		}
		if n := len([]rune(s)); n > maxHref {
			t.Fatalf("a text of %d characters", n)
		}
	})
}

// stored is a value that went through a store.
func stored[V any](t *testing.T, v V) (back V) {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func walkTexts(v any, see func(string)) {
	switch v := v.(type) {
	case string:
		see(v)
	case []any:
		for _, e := range v {
			walkTexts(e, see)
		}
	case map[string]any:
		for _, e := range v {
			walkTexts(e, see)
		}
	}
}

func FuzzReadDomain(f *testing.F) {
	addFixtures(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := readDomain(body, "example-shop.com")
		if err != nil {
			return
		}
		wantClean(t, r)
		if !domainFits("example-shop.com")(stored(t, r)) {
			t.Fatalf("what was read would not be taken out of the store: %+v", r)
		}
		if d := r.Domain; d != nil {
			if d.Status == nil || d.Nameservers == nil || d.Contacts == nil || d.DNSSEC.DS == nil {
				t.Fatalf("a list is nil: %+v", d)
			}
			wantClean(t, merged(d, d))
		}
	})
}

func FuzzReadNetwork(f *testing.F) {
	addFixtures(f)
	addr := netip.MustParseAddr("8.8.8.8")
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := readNetwork(body, addr)
		if err != nil || r.Network == nil {
			return
		}
		wantClean(t, r)
		if !networkFits(addr)(stored(t, r)) {
			t.Fatalf("what was read would not be taken out of the store: %+v", r.Network)
		}
		n := r.Network
		b := block{start: netip.MustParseAddr(n.StartAddress), end: netip.MustParseAddr(n.EndAddress)}
		if !b.holds(addr) || n.Status == nil {
			t.Fatalf("%+v of %v", n, b)
		}
		wantExact(t, b, n.CIDRs)
	})
}

// wantExact fails unless the prefixes cover the block from end to end, in order, without a gap.
func wantExact(t *testing.T, b block, prefixes []string) {
	t.Helper()
	next := b.start
	for i, s := range prefixes {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Masked() != p || p.Addr() != next {
			t.Fatalf("%v: %v begins at %v, want %v (%v)", b, p, p.Addr(), next, err)
		}
		if last := netpolicy.LastOf(p); i == len(prefixes)-1 && last != b.end {
			t.Fatalf("%v ends at %v", prefixes, last)
		}
		next = netpolicy.LastOf(p).Next()
	}
	if len(prefixes) == 0 {
		t.Fatalf("no prefix for %v", b)
	}
}
