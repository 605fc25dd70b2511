package spf

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"

	peer "blitiri.com.ar/go/spf"
	"github.com/google/go-cmp/cmp"
)

func (z *zone) AllAddresses(ctx context.Context, name string) ([]netip.Addr, error) {
	return z.Addresses(ctx, name)
}

// families answers as a resolver does that leaves IPv6 out where there is IPv4, when one family is enough.
type families struct{ *zone }

func (f families) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	all, err := f.zone.Addresses(ctx, name)
	if v4 := slices.DeleteFunc(slices.Clone(all), netip.Addr.Is6); len(v4) > 0 {
		return v4, err
	}
	return all, err
}

// senders is a zone of hosts and includes.
func senders() *zone {
	z := &zone{txt: map[string][]string{}, mx: map[string][]string{}, ip: map[string][]string{home: {"192.0.43.8"}}}
	for i := range 6 {
		host := fmt.Sprintf("h%d.com", i)
		z.ip[host] = []string{fmt.Sprintf("192.31.%d.%d", 196+i/4, 16*i+1), fmt.Sprintf("2620:4f:8000:%d::%d", i/2, i)}
		z.mx[fmt.Sprintf("m%d.com", i)] = []string{host, fmt.Sprintf("h%d.com", (i+1)%6)}
	}
	for i := range 9 {
		z.txt[fmt.Sprintf("i%d.com", i)] = []string{
			fmt.Sprintf("v=spf1 ip4:192.52.193.%d/28 ip4:192.52.193.%d a:h%d.com ~all", 16*i, 16*i+20, i%6)}
	}
	z.txt["deep.com"] = []string{"v=spf1 include:i0.com include:i1.com -ip4:192.52.193.32/29 include:i2.com ?all"}
	z.txt["led.com"] = []string{"v=spf1 ip4:192.175.48.0/25 redirect=i3.com"}
	z.txt["nobody.com"] = []string{"v=spf1 -all"}
	z.txt["reverse.com"] = []string{"v=spf1 ptr mx:m1.com -all"}
	return z
}

func shorten(t *testing.T, z *zone, record string) *Suggestion {
	t.Helper()
	z.txt[home] = []string{record}
	return Shorten(t.Context(), z, Check(t.Context(), families{z}, home))
}

func TestShorten(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(" a:h0.com", 11)
	for name, c := range map[string]struct {
		record string
		want   *Suggestion
	}{
		"within the limits":              {"v=spf1 a a a a a a a a a a -all", nil},
		"said twice":                     {"v=spf1" + many + " ~all", &Suggestion{Record: "v=spf1 a:h0.com ~all", Lookups: 1, Notes: []mail.Issue{note("SPF_COVERED_LEFT_OUT", "a:h0.com (10 times)")}}},
		"covered":                        {"v=spf1 ip4:192.31.196.0/23 ip6:2620:4f:8000::/48" + strings.Repeat(" mx:m0.com a:h1.com", 6) + " include:nobody.com -all", &Suggestion{Record: "v=spf1 ip4:192.31.196.0/23 ip6:2620:4f:8000::/48 -all", Lookups: 0, Notes: []mail.Issue{note("SPF_IDLE_LEFT_OUT", "include:nobody.com"), note("SPF_COVERED_LEFT_OUT", "mx:m0.com (6 times), a:h1.com (6 times)")}}},
		"nothing there":                  {"v=spf1 a:x1.com a:x2.com mx:x3.com a:h0.com -all", &Suggestion{Record: "v=spf1 a:h0.com -all", Lookups: 1, Notes: []mail.Issue{note("SPF_VOID_LEFT_OUT", "a:x1.com, a:x2.com, mx:x3.com")}}},
		"hosts before includes":          {"v=spf1 mx:m0.com a:h2.com/28 ptr include:i0.com include:i1.com include:i2.com include:i3.com include:reverse.com -all", &Suggestion{Record: "v=spf1 ip4:192.31.196.1 ip4:192.31.196.17 ip4:192.31.196.32/28 ip4:192.52.193.0/28 ip4:192.52.193.20 ip6:2620:4f:8000::/127 ip6:2620:4f:8000:1::2 include:i1.com include:i2.com include:i3.com include:reverse.com -all", Lookups: 9, Notes: []mail.Issue{note("SPF_INCLUDES_EXPANDED", "include:i0.com"), note("SPF_HOSTS_REPLACED", "mx:m0.com, a:h2.com/28"), note("SPF_PTR_LEFT_OUT", "ptr")}}},
		"neighbours":                     {"v=spf1 ip4:192.31.196.0/25 ip4:192.31.196.128/25 x=" + strings.Repeat("y", 405) + " -all", &Suggestion{Record: "v=spf1 ip4:192.31.196.0/24 x=" + strings.Repeat("y", 405) + " -all", Notes: []mail.Issue{note("SPF_NETWORKS_MERGED", "")}}},
		"behind all":                     {"v=spf1 a -all mx:" + strings.Repeat("b.", 230) + "com redirect=i0.com", &Suggestion{Record: "v=spf1 a -all", Lookups: 1, Notes: []mail.Issue{note("SPF_AFTER_ALL_LEFT_OUT", "mx:"+strings.Repeat("b.", 38)+"b…, redirect=i0.com")}}},
		"too long for one":               {"v=spf1" + scattered(30) + " ?a -all", &Suggestion{Record: "v=spf1 include:_spf1.home.com include:_spf2.home.com ?a -all", Lookups: 3, Parts: []Part{{"_spf1.home.com", "v=spf1" + scattered(24) + " -all"}, {"_spf2.home.com", "v=spf1" + strings.TrimPrefix(scattered(30), scattered(24)) + " -all"}}, Notes: []mail.Issue{note("SPF_PARTS_FIRST", "")}}},
		"too long and no room for parts": {"v=spf1" + scattered(30) + distinct(9) + " -all", nil},
		"nothing to do":                  {"v=spf1 x=" + strings.Repeat("y", 450) + " -all", nil},
		"other faults":                   {"v=spf1" + many + " foo -all", nil},
		"everybody":                      {"v=spf1" + many + " +all", nil},
		"not known":                      {"v=spf1" + distinct(11) + " -all", nil},
		"read in two ways":               {"v=spf1 ip6:::ffff:192.0.43.0/120 ip4:192.31.196.0/25 ip4:192.31.196.128/25" + many + " -all", &Suggestion{Record: "v=spf1 ip4:192.31.196.0/24 ip6:::ffff:192.0.43.0/120 a:h0.com -all", Lookups: 1, Notes: []mail.Issue{note("SPF_COVERED_LEFT_OUT", "a:h0.com (10 times)"), note("SPF_NETWORKS_MERGED", "")}}},
	} {
		got := shorten(t, senders(), c.record)
		if c.want != nil && c.want.Parts == nil {
			c.want.Parts = []Part{}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// scattered are networks of which none touches another.
func scattered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " ip4:192.52.193.%d", 4*i)
	}
	return b.String()
}

// distinct are terms that cost a lookup each and cannot be distinguished.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " exists:%%{i}.x%d.com", i)
	}
	return b.String()
}

// randomRecord has more of everything than a record may have.
func randomRecord(r *rand.Rand) string {
	record := "v=spf1"
	for range 5 + r.IntN(40) {
		record += " " + []string{"", "", "", "", "", "+", "-", "~", "?"}[r.IntN(9)]
		switch r.IntN(12) {
		case 0, 1:
			record += fmt.Sprintf("ip4:192.31.%d.%d/%d", 196+r.IntN(2), r.IntN(256), 22+r.IntN(11))
		case 2:
			record += fmt.Sprintf("ip6:2620:4f:8000:%d::%d/%d", r.IntN(3), r.IntN(8), 45+r.IntN(84))
		case 3, 4:
			record += fmt.Sprintf("ip4:192.52.193.%d", r.IntN(256))
		case 5:
			record += fmt.Sprintf("a:h%d.com", r.IntN(6))
		case 6:
			record += fmt.Sprintf("a:h%d.com/%d//%d", r.IntN(6), 20+r.IntN(13), 40+r.IntN(89))
		case 7:
			record += fmt.Sprintf("mx:m%d.com", r.IntN(6))
		case 8, 9:
			record += fmt.Sprintf("include:i%d.com", r.IntN(9))
		case 10:
			record += []string{"include:deep.com", "include:led.com", "include:nobody.com", "a", "a/24"}[r.IntN(5)]
		case 11:
			record += []string{"a:gone.com", "ptr", "exists:%{i}.x.com", "a:%{d}", "exists:gone.com"}[r.IntN(5)]
		}
	}
	return record + []string{" -all", " ~all", " redirect=i8.com", "", " ~all a:h0.com redirect=i1.com"}[r.IntN(5)]
}

// maxEdges is how many senders are tried by a record: all would take minutes.
const maxEdges = 100

// edges are addresses on both sides of the ends of networks that a zone speaks of, and some between.
func edges(z *zone, r *rand.Rand) []net.IP {
	var list []net.IP
	add := func(a netip.Addr) {
		for _, near := range []netip.Addr{a.Prev(), a, a.Next()} {
			list = append(list, near.AsSlice())
		}
	}
	for _, texts := range z.txt {
		for field := range strings.FieldsSeq(strings.Join(texts, " ")) {
			if term := parseTerm(field); term.Prefix.IsValid() {
				s := spanOf(term.Prefix)
				add(s.first)
				add(s.last)
			}
		}
	}
	for _, texts := range z.ip {
		for _, text := range texts {
			a := netip.MustParseAddr(text)
			for _, bits := range []int{24, 28, 30, 48, 64, 96, a.BitLen()} {
				s := spanOf(netip.PrefixFrom(a, min(bits, a.BitLen())))
				add(s.first)
				add(s.last)
			}
		}
	}
	for range 50 {
		list = append(list, net.IPv4(192, byte(31+21*r.IntN(2)), byte(193+r.IntN(5)), byte(r.IntN(256))))
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), maxEdges)]
}

// TestShorterRecordsSayTheSame: another implementation comes to the same verdict by the shorter record, and to that
// within the limits, for senders on both sides of the networks' ends.
func TestShorterRecordsSayTheSame(t *testing.T) {
	t.Parallel()
	offered, parts, flattened := 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		before, after := senders(), senders()
		record := randomRecord(r)
		found := shorten(t, before, record)
		if found == nil {
			continue
		}
		offered++
		parts += len(found.Parts)
		after.txt[home] = []string{found.Record}
		for _, p := range found.Parts {
			after.txt[p.Name] = []string{p.Record}
		}
		holdLimits(t, after, found)
		if mail.Issues(found.Notes).HasCode("SPF_INCLUDES_EXPANDED") {
			flattened++
		}
		if strings.Contains(record, "ptr") && !strings.Contains(found.Record, "ptr") {
			continue // what ptr lets in is not an address's to say
		}
		for _, sender := range edges(before, r) {
			was, errWas := verdict(before, sender, peer.OverrideLookupLimit(plenty), peer.OverrideVoidLookupLimit(plenty))
			is, errIs := verdict(after, sender)
			if was != is {
				t.Fatalf("seed %d: %s comes to %s (%v) in place of %s (%v)\n%s\n%+v", seed, sender, is, errIs, was, errWas,
					record, found)
			}
		}
	}
	t.Logf("%d offered, %d parts, %d with includes rewritten", offered, parts, flattened)
	if offered < 20 || parts == 0 || flattened == 0 {
		t.Error("that shows too little")
	}
}

func verdict(z *zone, sender net.IP, options ...peer.Option) (peer.Result, error) {
	return peer.CheckHostWithSender(sender, home, "x@"+home, append(options, peer.WithResolver(peerResolver{z}))...)
}

// note returns the note of a change. Empty terms are left out of its arguments.
func note(code, terms string) mail.Issue {
	if terms == "" {
		return mail.Issue{Code: code}
	}
	return mail.Issue{Code: code, Args: finding.Args{"terms": terms}}
}

// holdLimits checks a suggestion as it would stand in the DNS.
func holdLimits(t *testing.T, z *zone, found *Suggestion) {
	t.Helper()
	report := Check(t.Context(), families{z}, home)
	if report.faulty || report.Tree.Lookups != found.Lookups || found.Lookups > MaxLookups {
		t.Errorf("%+v: %d lookups, %v", found, report.Tree.Lookups, report.Issues)
	}
	for _, text := range append([]string{found.Record}, partTexts(found)...) {
		if len(text) > safeOctets {
			t.Errorf("%d octets: %s", len(text), text)
		}
	}
	if len(found.Notes) == 0 || Shorten(t.Context(), z, report) != nil {
		t.Errorf("%+v is not the end", found)
	}
}

func partTexts(found *Suggestion) []string {
	var list []string
	for _, p := range found.Parts {
		list = append(list, p.Record)
	}
	return list
}

// TestUnknownAddressesAreNotWrittenDown: where a host could not be looked up the term stays.
func TestUnknownAddressesAreNotWrittenDown(t *testing.T) {
	t.Parallel()
	z := senders()
	record := "v=spf1 a:h0.com mx:m3.com include:i0.com include:i1.com include:i2.com include:i4.com include:i5.com -all"
	z.txt[home] = []string{record}
	report := Check(t.Context(), z, home)
	z.ip["h0.com"] = []string{"!ESERVFAIL"}
	z.ip["h3.com"] = []string{"!ETIMEOUT"}
	found := Shorten(t.Context(), z, report)
	const kept = " a:h0.com mx:m3.com include:i0.com"
	if found == nil || !strings.HasPrefix(found.Record, "v=spf1 ip4:") || !strings.Contains(found.Record, kept) {
		t.Errorf("%+v", found)
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	parse := func(texts string) networks {
		var set networks
		for field := range strings.FieldsSeq(texts) {
			set = set.with(networks{spanOf(netip.MustParsePrefix(field))})
		}
		return set
	}
	for _, c := range []struct{ set, without, want string }{
		{"0.0.0.0/0", "", "0.0.0.0/0"}, {"::/0", "", "::/0"}, {"0.0.0.0/1 128.0.0.0/1 ::/0", "", "0.0.0.0/0 ::/0"},
		{"10.0.0.0/25 10.0.0.128/25 10.0.1.0/24", "", "10.0.0.0/23"}, {"10.0.1.0/24 10.0.2.0/24", "", "10.0.1.0/24 10.0.2.0/24"},
		{"10.0.0.0/30", "10.0.0.1/32", "10.0.0.0/32 10.0.0.2/31"}, {"10.0.0.0/30", "10.0.0.0/31 10.0.0.3/32", "10.0.0.2/32"}, {"10.0.0.0/30", "10.0.0.0/29", ""},
		{"255.255.255.254/31", "255.255.255.255/32", "255.255.255.254/32"}, {"255.255.255.255/32 ::/128", "", "255.255.255.255/32 ::/128"},
		{"0.0.0.0/0", "0.0.0.0/32 255.255.255.255/32", "0.0.0.1/32 0.0.0.2/31 0.0.0.4/30 …"}, {"::/0", "::/1", "8000::/1"}, {"", "::/0", ""},
	} {
		var got []string
		for _, p := range parse(c.set).without(parse(c.without)).prefixes() {
			got = append(got, p.String())
		}
		begin, more := strings.CutSuffix(c.want, " …")
		if text := strings.Join(got, " "); !strings.HasPrefix(text, begin) || !more && text != c.want {
			t.Errorf("%s without %s: %s", c.set, c.without, text)
		}
	}
	if _, whole := parse("10.0.0.0/32 10.0.0.2/32").prefixesUpTo(1); whole {
		t.Error("two networks are more than one")
	}
	if list, whole := parse("10.0.0.0/32 10.0.0.2/32").prefixesUpTo(2); !whole || len(list) != 2 {
		t.Error(list)
	}
}
