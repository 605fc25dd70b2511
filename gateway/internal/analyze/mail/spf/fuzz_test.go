package spf

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/mailtest"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// hall answers every TXT question with the one record, so that whatever it names leads back to it.
type hall struct{ record string }

func (h hall) TXT(context.Context, string) ([]string, error) { return []string{h.record}, nil }
func (h hall) MX(context.Context, string) ([]string, error)  { return nil, mail.ErrNotFound }
func (h hall) Addresses(context.Context, string) ([]netip.Addr, error) {
	return nil, nil
}
func (h hall) AllAddresses(_ context.Context, name string) ([]netip.Addr, error) {
	v4 := netip.AddrFrom4([4]byte{192, 0, 43, byte(len(name))})
	return []netip.Addr{v4, netip.MustParseAddr("2001:500:88:200::8")}, nil
}
func (h hall) V4(context.Context, string) ([]netip.Addr, error) { return nil, nil }

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"v=spf1 -all", "V=spf1 a:b.com/24//64 mx ?include:_spf.%{d2r.-} redirect=x.com exp=%{c}.x.com", "v=spf1 ip4:1.2.3.4/8 ip6:2001:db8::/32 ptr:a.b exists:%{i}._%{h}.x.com",
		"v=spf1 %%%_%- a:%{ a/%{d} a: a/ a// x=%{c}", "v=spf1 include:a.com include:b.com include:c.com ~all",
		"v=spf1 a a a a a a a a a a mx:b.com ip4:1.2.3.4/31 ip4:1.2.3.6/31 -all", "v=spf1 " + strings.Repeat("ip4:1.2.3.4/30 ip4:1.2.4.0 ", 20) + "?all",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, record string) {
		if IsRecord(record) && IsNear(record) {
			t.Fatal("both an SPF record and almost one")
		}
		report := Check(t.Context(), hall{record}, "home.com")
		if report.Found != IsRecord(record) {
			t.Fatalf("found %t", report.Found)
		}
		holdShorter(t, report)
		nodes := 0
		count(t, report.Tree, &nodes)
		if nodes > maxNodes {
			t.Fatalf("%d nodes", nodes)
		}
		mailtest.Showable(t, report.Issues)
	})
}

// holdShorter: what is offered keeps to the limits and can be read.
func holdShorter(t *testing.T, report Report) {
	found := Shorten(t.Context(), hall{}, report)
	if found == nil {
		return
	}
	texts := []string{found.Record}
	for _, p := range found.Parts {
		texts = append(texts, p.Record)
	}
	for _, text := range texts {
		terms, truncated := Parse(text)
		if truncated || len(text) > safeOctets || !IsRecord(text) {
			t.Fatalf("%q", text)
		}
		for _, term := range terms {
			if term.Problem != "" {
				t.Fatalf("%q: %s", text, term.Problem)
			}
		}
	}
	if found.Lookups > MaxLookups || len(found.Notes) == 0 {
		t.Fatalf("%+v", found)
	}
}

// count holds every branch's sum against its parts.
func count(t *testing.T, n *Node, nodes *int) {
	*nodes++
	lookups := 0
	for _, c := range n.Children {
		count(t, c, nodes)
		lookups += c.Lookups
	}
	if own := n.Lookups - lookups; own < 0 || own > 1 {
		t.Fatalf("%q has %d lookups of its own", n.Term, own)
	}
	if n.Children == nil {
		t.Fatalf("%q has a null list", n.Term)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a:b.com/24//64", "-ip4:1.2.3.4/8", "exists:%{ir}.%{v}._spf.%{d2}", "redirect=%{d}",
		"exp=%{c", "~all", "?mx//128", "ip6:::/0", "a:foo:bar/baz.b/24", "include:%{d2r-}.%{O}.%{l}", "mx:%%%_%-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		terms, _ := Parse(version + " " + field)
		for _, term := range terms {
			if term.Problem == "" && term.Kind == 0 {
				t.Fatalf("%q has no kind and no problem", term.Text)
			}
			if term.Problem == "" && (term.Kind == IP4 || term.Kind == IP6) && !term.Prefix.IsValid() {
				t.Fatalf("%q has no prefix", term.Text)
			}
			if term.Problem == "" && term.Spec != "" {
				holdExpanded(t, term.Spec)
			}
			if modifier := term.Kind >= Redirect; term.Kind != 0 && modifier != (term.Qualifier == 0) {
				t.Fatalf("%q has the qualifier %q", term.Text, term.Qualifier)
			}
		}
	})
}

// holdExpanded: the name has no macro left that could be filled in, and is one that can be queried, or reported as one
// that cannot.
func holdExpanded(t *testing.T, spec string) {
	name, known := expand(spec, names{current: "a-b.c.example.com", sender: "example.com"})
	if macros, _ := checkMacros(spec, false); !macros && (!known || name != spec && len(spec) <= netpolicy.MaxNameOctets) {
		t.Fatalf("%q has no macros and becomes %q", spec, name)
	}
	if !known || !canBeName(name) {
		return
	}
	if len(name) > netpolicy.MaxNameOctets {
		t.Fatalf("%q becomes a name of %d octets", spec, len(name))
	}
	if _, valid := dns.IsDomainName(presentation(name)); !valid {
		t.Fatalf("%q becomes %q, which the DNS does not take", spec, presentation(name))
	}
	isPublic(name)
}
