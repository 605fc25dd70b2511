package whois

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"diagnostics/gateway/internal/providers/internal/refusal"
	"diagnostics/gateway/internal/text"
)

// FuzzRead holds all formats to what may leave them, whatever a server sends.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		tld, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
		said := sample(f, strings.TrimPrefix(file, "testdata/"))
		f.Add(tld, strings.NewReplacer("EXAMPLE", "example", "SHOP", "shop").Replace(said))
	}
	f.Add("co", "Domain Name: example-shop.co\nRegistrar: a\x00 b\u202e @\n"+
		"Registrar URL: //[::1]\nName Server: .\nDomain Status: http (,")
	f.Fuzz(func(t *testing.T, tld, said string) {
		name := "example-shop." + tld
		said = text.Decode(said)
		s := formatOf(tld).read(said, name)
		outcome, d := s.outcome, s.domain
		if s.line != "" {
			wantPlain(t, s.line)
		}
		if (outcome == Found) != (d != nil) {
			t.Fatalf("%s, %+v", outcome, d)
		}
		if wait, asked := tooMany(said); asked != (wait > 0) || wait > refusal.MaxPause {
			t.Fatalf("a pause of %v", wait)
		}
		if d == nil {
			return
		}
		out, err := json.Marshal(record{Outcome: outcome, Domain: d, Server: "whois.example.net"})
		if err != nil {
			t.Fatal(err)
		}
		var back record
		if err := json.Unmarshal(out, &back); err != nil || !back.fits() {
			t.Fatalf("what was read would not be taken out of the store: %s (%v)", out, err)
		}
		for _, s := range append(append([]string{}, d.Status...), d.Nameservers...) {
			wantPlain(t, s)
		}
		if d.Registrar != nil {
			for _, s := range []*string{d.Registrar.Name, d.Registrar.URL, d.Registrar.IANAID} {
				if s != nil {
					wantPlain(t, *s)
				}
			}
		}
	})
}

// wantPlain fails where a text could forge a line of a log, turn what stands beside it, or is an e-mail address.
func wantPlain(t *testing.T, s string) {
	t.Helper()
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '@' }
	if s == "" || len([]rune(s)) > maxValue+1 || strings.ContainsFunc(s, bad) {
		t.Fatalf("%q", s)
	}
}
