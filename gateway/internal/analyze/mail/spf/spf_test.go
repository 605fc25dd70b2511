package spf

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/mailtest"
	"diagnostics/shared/parallel"

	"github.com/google/go-cmp/cmp"
)

// zone is a DNS of the test's own. A name with any entry exists; the value "!ESERVFAIL" is a lookup that fails.
type zone struct {
	txt map[string][]string
	mx  map[string][]string
	ip  map[string][]string

	mu    sync.Mutex
	asked []string
}

func (z *zone) records(kind string, from map[string][]string, name string) ([]string, error) {
	z.mu.Lock()
	z.asked = append(z.asked, kind+" "+name)
	z.mu.Unlock()
	values := from[name]
	if len(values) == 1 && strings.HasPrefix(values[0], "!") {
		return nil, &mail.LookupError{Code: values[0][1:]}
	}
	for _, m := range []map[string][]string{z.txt, z.mx, z.ip} {
		if _, ok := m[name]; ok {
			return values, nil
		}
	}
	return nil, mail.ErrNotFound
}

func (z *zone) TXT(_ context.Context, name string) ([]string, error) {
	return z.records("TXT", z.txt, name)
}

func (z *zone) MX(_ context.Context, name string) ([]string, error) {
	return z.records("MX", z.mx, name)
}

func (z *zone) Addresses(_ context.Context, name string) ([]netip.Addr, error) {
	texts, err := z.records("IP", z.ip, name)
	var list []netip.Addr
	for _, t := range texts {
		list = append(list, netip.MustParseAddr(t))
	}
	return list, err
}

func (z *zone) V4(ctx context.Context, name string) ([]netip.Addr, error) {
	all, err := z.Addresses(ctx, name)
	return slices.DeleteFunc(all, netip.Addr.Is6), err
}

const home = "home.com"

// single is a zone in which the record of home.com is all there is, but for a few names that records may refer to.
func single(record string) *zone {
	return &zone{
		txt: map[string][]string{
			home: {record}, "ok.com": {"v=spf1 ip4:192.31.196.0/24 -all"}, "noall.com": {"v=spf1 ip4:192.31.196.0/24"},
			"open.com": {"v=spf1 +all"},
			"none.com": {"hello"}, "two.com": {"v=spf1 -all", "V=SPF1 ~all"}, "fails.com": {"!ESERVFAIL"}, "back.com": {"v=spf1 include:" + home + " -all"},
			"neutral.com": {"v=spf1 ?all"}, "near.com": {"v=spf1; -all"}, "ptr.com": {"v=spf1 ptr -all"}, "void.com": {"v=spf1 a:v1.com a:v2.com a:v3.com -all"},
		},
		mx: map[string][]string{"mail.com": {"mx.mail.com"}, "many.com": strings.Fields(strings.Repeat("mx.mail.com ", 11)),
			"ten.com": strings.Fields(strings.Repeat("mx.mail.com ", 10)), "mxfails.com": {"!ETIMEOUT"}},
		ip: map[string][]string{home: {"192.0.43.8"}, "host.com": {"192.0.43.8"}, "v6.com": {"2001:500:88:200::8"},
			"afails.com": {"!EREFUSED"}},
	}
}

// hostile panics on the TXT records of one name.
type hostile struct {
	*zone
	name string
}

func (h hostile) TXT(ctx context.Context, name string) ([]string, error) {
	if name == h.name {
		panic("boom")
	}
	return h.zone.TXT(ctx, name)
}

func TestAPanicOfALookupReachesTheCaller(t *testing.T) {
	t.Parallel()
	for _, name := range []string{home, "ok.com"} {
		p := parallel.Catch(func() { Check(t.Context(), hostile{single("v=spf1 include:ok.com -all"), name}, home) })
		if p == nil || p.Value != "boom" {
			t.Errorf("%s: caught %v", name, p)
		}
	}
}

func TestCheckJudgesEveryFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		record        string
		lookups, void int
		all           string
		want          []string
	}{
		{"v=spf1 -all", 0, 0, "-all", nil},
		{"V=SPF1 -ALL", 0, 0, "-all", nil},
		{"v=spf1   ip4:192.31.196.0/24   ~all  ", 0, 0, "~all", nil},
		{"v=spf1 A MX:mail.com Include:OK.com. ~All", 3, 0, "~all", nil},
		{"v=spf1", 0, 0, "", []string{"SPF_NO_ALL"}},
		{"v=spf1 ?all", 0, 0, "?all", []string{"SPF_NEUTRAL_ALL"}},
		{"v=spf1 all", 0, 0, "+all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 +all", 0, 0, "+all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 include:open.com -all", 1, 0, "-all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 -include:open.com -all", 1, 0, "-all", nil},
		{"v=spf1 redirect=open.com", 1, 0, "+all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 ip4:0.0.0.0/0 -all", 0, 0, "-all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 ?ip4:0.0.0.0/0 -all", 0, 0, "-all", nil},
		{"v=spf1 a/0 -all", 1, 0, "-all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 a//0 -all", 1, 0, "-all", []string{"SPF_ALLOWS_ALL"}},
		{"v=spf1 ip4:128.0.0.0/7 -all", 0, 0, "-all", []string{"SPF_NETWORK_BROAD"}},
		{"v=spf1 ip4:128.0.0.0/8 -all", 0, 0, "-all", nil},
		{"v=spf1 ip6:2600::/15 -all", 0, 0, "-all", []string{"SPF_NETWORK_BROAD"}},
		{"v=spf1 ip6:2600::/16 -all", 0, 0, "-all", nil},
		{"v=spf1 ip4:10.0.0.1 -all", 0, 0, "-all", []string{"SPF_NETWORK_NOT_PUBLIC"}},
		{"v=spf1 redirect=ok.com", 1, 0, "-all", nil},
		{"v=spf1 redirect=noall.com", 1, 0, "", []string{"SPF_NO_ALL"}},
		{"v=spf1 redirect=neutral.com", 1, 0, "?all", []string{"SPF_NEUTRAL_ALL"}},
		{"v=spf1 include:noall.com -all", 1, 0, "-all", nil},
		{"v=spf1 -all redirect=ok.com", 0, 0, "-all", []string{"SPF_REDIRECT_IGNORED"}},
		{"v=spf1 redirect=ok.com ~all", 0, 0, "~all", []string{"SPF_REDIRECT_IGNORED"}},
		{"v=spf1 redirect=ok.com redirect=ok.com", 2, 0, "-all", []string{"SPF_MODIFIER_TWICE"}},
		{"v=spf1 exp=e.ok.com exp=e.ok.com -all", 0, 0, "-all", []string{"SPF_MODIFIER_TWICE"}},
		{"v=spf1 -all include:ok.com", 0, 0, "-all", []string{"SPF_TERMS_AFTER_ALL"}},
		{"v=spf1 -all exp=e.ok.com x-y_z.1=%{c}", 0, 0, "-all", nil},
		{"v=spf1 ptr -all", 1, 0, "-all", []string{"SPF_PTR"}},
		{"v=spf1 ptr:ok.com include:ptr.com -all", 3, 0, "-all", []string{"SPF_PTR", "SPF_PTR"}},
		{"v=spf1 include:none.com -all", 1, 0, "-all", []string{"SPF_TARGET_WITHOUT_RECORD"}},
		{"v=spf1 include:absent.com -all", 1, 1, "-all", []string{"SPF_TARGET_WITHOUT_RECORD"}},
		{"v=spf1 redirect=none.com", 1, 0, "", []string{"SPF_REDIRECT_WITHOUT_RECORD"}},
		{"v=spf1 include:near.com -all", 1, 0, "-all", []string{"SPF_TARGET_WITHOUT_RECORD", "SPF_VERSION"}},
		{"v=spf1 include:two.com -all", 1, 0, "-all", []string{"SPF_SEVERAL_RECORDS"}},
		{"v=spf1 include:home.com -all", 1, 0, "-all", []string{"SPF_LOOP"}},
		{"v=spf1 redirect=HOME.com.", 1, 0, "", []string{"SPF_LOOP"}},
		{"v=spf1 include:back.com -all", 2, 0, "-all", []string{"SPF_LOOP"}},
		{"v=spf1 include:localhost.localdomain -all", 1, 0, "-all", []string{"SPF_TARGET_NOT_PUBLIC"}},
		{"v=spf1 a:mail.internal -all", 1, 0, "-all", []string{"SPF_NAME_NOT_PUBLIC"}},
		{"v=spf1 a:b..com -all", 1, 0, "-all", []string{"SPF_NAME_MATCHES_NONE"}},
		{"v=spf1 mx:" + strings.Repeat("b", 64) + ".com -all", 1, 0, "-all", []string{"SPF_NAME_MATCHES_NONE"}},
		{"v=spf1 mx:" + strings.Repeat("b", 63) + ".com -all", 1, 1, "-all", []string{"SPF_VOID_LOOKUP"}},
		{"v=spf1 include:b..com -all", 1, 0, "-all", []string{"SPF_NAME_INVALID"}},
		{"v=spf1 redirect=b..com", 1, 0, "", []string{"SPF_REDIRECT_NAME_INVALID"}},
		{"v=spf1 a:foo:bar/baz.com -all", 1, 1, "-all", []string{"SPF_VOID_LOOKUP"}},
		{"v=spf1 include:foo:bar/baz.com -all", 1, 1, "-all", []string{"SPF_TARGET_WITHOUT_RECORD"}},
		{"v=spf1 a -all;", 1, 0, "", []string{"SPF_SYNTAX"}},
		{"v=spf1 a:v6.%{d1} include:ok.%{o1} -all", 2, 0, "-all", nil},
		{"v=spf1 include:%{d} -all", 1, 0, "-all", []string{"SPF_LOOP"}},
		{"v=spf1 include:gone.%{d} -all", 1, 1, "-all", []string{"SPF_TARGET_WITHOUT_RECORD"}},
		{"v=spf1 exists:%{dr}.com -all", 1, 1, "-all", []string{"SPF_VOID_LOOKUP"}},
		{"v=spf1 redirect=%{d1r}.com", 1, 0, "", []string{"SPF_LOOP"}},
		{"v=spf1 mx:many.com -all", 1, 0, "-all", []string{"SPF_TOO_MANY_EXCHANGES"}},
		{"v=spf1 mx:ten.com -all", 1, 0, "-all", nil},
		{"v=spf1 a:v6.com -all", 1, 0, "-all", nil},
		{"v=spf1 exists:v6.com -all", 1, 1, "-all", []string{"SPF_VOID_LOOKUP"}},
		{"v=spf1 exists:host.com -all", 1, 0, "-all", nil},
		{"v=spf1 mx a:v1.com -all", 2, 2, "-all", []string{"SPF_VOID_LOOKUP", "SPF_VOID_LOOKUP"}},
		{"v=spf1 a:v1.com a:v2.com a:v3.com -all", 3, 3, "-all", []string{"SPF_TOO_MANY_VOID_LOOKUPS", "SPF_VOID_LOOKUP", "SPF_VOID_LOOKUP", "SPF_VOID_LOOKUP"}},
		{"v=spf1 include:void.com -all", 4, 3, "-all", []string{"SPF_TOO_MANY_VOID_LOOKUPS", "SPF_VOID_LOOKUP", "SPF_VOID_LOOKUP", "SPF_VOID_LOOKUP"}},
		{"v=spf1 exists:%{i}._spf.%{d2} -all", 1, 0, "-all", []string{"SPF_MACRO_NOT_FOLLOWED"}},
		{"v=spf1 include:%{ir}.%{v}._spf.%{d} redirect=ok.com", 2, 0, "-all", []string{"SPF_MACRO_NOT_FOLLOWED"}},
		{"v=spf1 include:fails.com -all", 1, 0, "-all", []string{"SPF_LOOKUP_FAILED"}},
		{"v=spf1 mx:mxfails.com a:afails.com -all", 2, 0, "-all", []string{"SPF_LOOKUP_FAILED", "SPF_LOOKUP_FAILED"}},
		{"v=spf1 include=ok.com ip4=1.2.3.4 -all", 0, 0, "-all", []string{"SPF_MODIFIER_UNKNOWN", "SPF_MODIFIER_UNKNOWN"}},
		{"v=spf1 ipv4:192.31.196.1 -all", 0, 0, "-all", []string{"SPF_SYNTAX"}},
		{"v=spf1 a\tmx -all", 0, 0, "-all", []string{"SPF_SYNTAX"}},
		{"v=spf1 include:münchen.com -all", 0, 0, "-all", []string{"SPF_NOT_ASCII", "SPF_SYNTAX"}},
		{"v=spf1 a a a a a a a a a a -all", 10, 0, "-all", nil},
		{"v=spf1 a a a a a a a a a a a -all", 11, 0, "-all", []string{"SPF_TOO_MANY_LOOKUPS"}},
		{"v=spf1 " + strings.Repeat("a ", 600) + "-all", 500, 0, "", []string{"SPF_RECORD_TOO_LONG", "SPF_TOO_MANY_LOOKUPS", "SPF_TOO_MANY_TERMS"}},
		{"v=spf1 x=" + strings.Repeat("y", 450-14) + " -all", 0, 0, "-all", nil},
		{"v=spf1 x=" + strings.Repeat("y", 451-14) + " -all", 0, 0, "-all", []string{"SPF_RECORD_LONG"}},
		{"v=spf1 x=" + strings.Repeat("y", 512-14) + " -all", 0, 0, "-all", []string{"SPF_RECORD_LONG"}},
		{"v=spf1 x=" + strings.Repeat("y", 513-14) + " -all", 0, 0, "-all", []string{"SPF_RECORD_TOO_LONG"}},
	} {
		report := Check(t.Context(), single(c.record), home)
		if c.want == nil {
			c.want = []string{}
		}
		if diff := cmp.Diff(c.want, mailtest.Codes(report.Issues)); diff != "" {
			t.Errorf("%.80q: issues (-want +got):\n%s", c.record, diff)
		}
		if report.Tree.Lookups != c.lookups || report.Tree.VoidLookups != c.void || report.All != c.all {
			t.Errorf("%.80q: %d lookups, %d void, all %q; want %d, %d, %q", c.record, report.Tree.Lookups,
				report.Tree.VoidLookups, report.All, c.lookups, c.void, c.all)
		}
		if !report.Found || report.Record == nil || *report.Record != c.record {
			t.Errorf("%.80q: found %t", c.record, report.Found)
		}
		if failed := strings.Contains(strings.Join(c.want, " "), "LOOKUP_FAILED"); report.Failed != failed {
			t.Errorf("%.80q: failed %t", c.record, report.Failed)
		}
	}
}

func TestCheckWithoutOneRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		txt           []string
		found, failed bool
		want          []string
	}{
		{nil, false, false, []string{}},
		{[]string{"google-site-verification=x", "v=spf2.0/pra -all"}, false, false, []string{"SPF_VERSION"}},
		{[]string{"v=spf10 -all"}, false, false, []string{"SPF_VERSION"}},
		{[]string{" v=spf1 -all"}, false, false, []string{"SPF_VERSION"}},
		{[]string{"v=spf1 -all", "v=spf1 ~all"}, true, false, []string{"SPF_SEVERAL_RECORDS"}},
		{[]string{"v=spf1 -all", "v=spf1\t~all"}, true, false, []string{}},
		{[]string{"!ESERVFAIL"}, false, true, []string{"SPF_LOOKUP_FAILED"}},
	} {
		z := &zone{txt: map[string][]string{home: c.txt}}
		report := Check(t.Context(), z, home)
		if report.Found != c.found || report.Failed != c.failed || report.Tree == nil {
			t.Errorf("%q: %+v", c.txt, report)
		}
		if diff := cmp.Diff(c.want, mailtest.Codes(report.Issues)); diff != "" {
			t.Errorf("%q: %s", c.txt, diff)
		}
	}
	if report := Check(t.Context(), &zone{}, home); report.Found || report.Failed {
		t.Errorf("a domain that does not exist: %+v", report)
	}
}

func TestSendsNothing(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]bool{
		"v=spf1 -all": true, "v=spf1  -all ": true, "v=spf1 ~all": false, "v=spf1 a -all": false, "v=spf1 redirect=ok.com": false, "v=spf1": false,
	} {
		if got := Check(t.Context(), single(record), home).SendsNothing; got != want {
			t.Errorf("%q: %t", record, got)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	z := &zone{
		txt: map[string][]string{
			home:      {"v=spf1 ip4:192.31.196.1 include:one.com a:gone.com redirect=two.com"},
			"one.com": {"v=spf1 mx -include:deep.com ?all"},
			"two.com": {"v=spf1 ~all include:never.com"}, "deep.com": {"v=spf1 exists:%{i}.deep.com -all"},
		},
		mx: map[string][]string{"one.com": {"mx.one.com"}},
	}
	report := Check(t.Context(), z, home)
	str := func(s string) *string { return &s }
	none := []*Node{}
	want := &Node{Term: "v=spf1", Domain: str(home), Lookups: 6, VoidLookups: 1, Record: str(z.txt[home][0]),
		Children: []*Node{
			{Term: "ip4:192.31.196.1", Children: none},
			{Term: "include:one.com", Domain: str("one.com"), Lookups: 4, Record: str(z.txt["one.com"][0]), Children: []*Node{
				{Term: "mx", Domain: str("one.com"), Lookups: 1, Children: none},
				{Term: "-include:deep.com", Domain: str("deep.com"), Lookups: 2, Record: str(z.txt["deep.com"][0]), Children: []*Node{
					{Term: "exists:%{i}.deep.com", Domain: str("%{i}.deep.com"), Lookups: 1, Children: none},
					{Term: "-all", Children: none},
				}},
				{Term: "?all", Children: none},
			}},
			{Term: "a:gone.com", Domain: str("gone.com"), Lookups: 1, VoidLookups: 1, Fault: &mail.Issue{Code: "SPF_VOID_LOOKUP"}, Void: true, Children: none},
			{Term: "redirect=two.com", Domain: str("two.com"), Lookups: 1, Record: str(z.txt["two.com"][0]), Children: []*Node{
				{Term: "~all", Children: none},
				{Term: "include:never.com", Domain: str("never.com"), Fault: &mail.Issue{Code: "SPF_TERM_IGNORED"}, Ignored: true, Children: none},
			}},
		}}
	if len(want.Children) != 4 {
		t.Fatal("the want is wrong")
	}
	want.Lookups = 1 + 3 + 1 + 1
	want.Children[1].Lookups = 1 + 1 + 2
	want.Lookups = 4 + 1 + 1
	if diff := cmp.Diff(want, report.Tree); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if slices.Contains(z.asked, "TXT never.com") {
		t.Error("a term behind all was looked up")
	}
}

// TestTheWalkIsBounded grows a tree without end: each record includes ten others.
func TestTheWalkIsBounded(t *testing.T) {
	t.Parallel()
	z := &endless{}
	report := Check(t.Context(), z, home)
	if z.asked > maxFollowed {
		t.Errorf("%d lookups were made", z.asked)
	}
	if report.Tree.Lookups <= MaxLookups || !report.Issues.HasCode("SPF_TOO_MANY_LOOKUPS") || report.Failed {
		t.Errorf("%d lookups, %v", report.Tree.Lookups, mailtest.Codes(report.Issues))
	}
}

// TestABoundOfTheCallerIsNoVerdict runs out of lookups before the record has failed.
func TestABoundOfTheCallerIsNoVerdict(t *testing.T) {
	t.Parallel()
	z := single("v=spf1 include:ok.com -all")
	z.txt["ok.com"] = []string{"!" + mail.CodeBound}
	report := Check(t.Context(), z, home)
	if diff := cmp.Diff([]string{"SPF_NOT_FINISHED"}, mailtest.Codes(report.Issues)); diff != "" || !report.Failed {
		t.Errorf("failed %t, %s", report.Failed, diff)
	}
}

// TestTheTreeIsBounded reads records of many terms that lead nowhere.
func TestTheTreeIsBounded(t *testing.T) {
	t.Parallel()
	z := single("v=spf1 include:a.com include:b.com include:c.com include:d.com include:e.com -all")
	for _, c := range "abcde" {
		z.txt[string(c)+".com"] = []string{"v=spf1" + strings.Repeat(" x=y", 499) + " -all"}
	}
	report := Check(t.Context(), z, home)
	nodes := 0
	count(t, report.Tree, &nodes)
	if nodes > maxNodes || !report.Failed || !report.Issues.HasCode("SPF_NOT_FINISHED") {
		t.Errorf("%d nodes, %v", nodes, mailtest.Codes(report.Issues))
	}
}

func TestRecordsTooLongToRead(t *testing.T) {
	t.Parallel()
	for octets, want := range map[int]string{maxOctets: "SPF_RECORD_TOO_LONG", maxOctets +
		1: "SPF_RECORD_UNREADABLE"} {
		record := "v=spf1 -all x=" + strings.Repeat("y", octets-14)
		report := Check(t.Context(), single(record), home)
		if diff := cmp.Diff([]string{want}, mailtest.Codes(report.Issues)); diff != "" || len(*report.Record) != maxOctets ||
			!report.Found {
			t.Errorf("%d octets: %s", octets, diff)
		}
	}
}

type endless struct {
	zone
	asked int
}

func (z *endless) TXT(_ context.Context, name string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	record := "v=spf1"
	for _, c := range "abcdefghij" {
		record += " include:" + string(c) + "." + name
	}
	return []string{record + " -all"}, nil
}
