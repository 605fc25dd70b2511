package rdap

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"diagnostics/gateway/internal/providers/registry"

	"github.com/google/go-cmp/cmp"
)

// The first registration counts, and the last of all other actions, in whatever order they come.
func TestMoments(t *testing.T) {
	t.Parallel()
	const first, second, third = "2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z", "2003-01-01T00:00:00Z"
	actions := []string{"Registration", "expiration", "registrar expiration", "last changed", "transfer", "locked"}
	var events []event
	for _, date := range []string{second, third, "never", first} {
		for _, action := range actions {
			events = append(events, event{Action: text(action), Date: text(date)})
		}
	}
	want := Events{Registered: optional(first), Expires: optional(third), Updated: optional(third),
		Transferred: optional(third), RegistrarExpires: optional(third)}
	if diff := cmp.Diff(want, moments(events)); diff != "" {
		t.Error(diff)
	}
}

func TestCIDRs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"one", `{"startAddress":"8.8.8.0","endAddress":"8.8.8.255"}`, []string{"8.8.8.0/24"}},
		{"several", `{"startAddress":"8.8.8.0","endAddress":"8.8.10.127"}`, []string{"8.8.8.0/23", "8.8.10.0/25"}},
		{"odd ends", `{"startAddress":"8.8.8.7","endAddress":"8.8.8.9"}`, []string{"8.8.8.7/32", "8.8.8.8/31"}},
		{"one address", `{"startAddress":"8.8.8.8","endAddress":"8.8.8.8"}`, []string{"8.8.8.8/32"}},
		{"all", `{"startAddress":"0.0.0.0","endAddress":"255.255.255.255"}`, []string{"0.0.0.0/0"}},
		{"listed in another order", `{"startAddress":"8.8.8.0","endAddress":"8.8.10.255","cidr0_cidrs":[{"v4prefix":"8.8.10.0","length":24},{"v4prefix":"8.8.8.0","length":23}]}`,
			[]string{"8.8.8.0/23", "8.8.10.0/24"}},
		{"listed finer", `{"startAddress":"8.8.8.0","endAddress":"8.8.9.255","cidr0_cidrs":[{"v4prefix":"8.8.8.0","length":24},{"v4prefix":"8.8.9.0","length":24}]}`,
			[]string{"8.8.8.0/24", "8.8.9.0/24"}},
		{"listed too little", `{"startAddress":"8.8.8.0","endAddress":"8.8.9.255","cidr0_cidrs":[{"v4prefix":"8.8.8.0","length":24}]}`, []string{"8.8.8.0/23"}},
		{"listed too much", `{"startAddress":"8.8.8.0","endAddress":"8.8.8.255","cidr0_cidrs":[{"v4prefix":"8.8.8.0","length":24},{"v4prefix":"8.8.9.0","length":24}]}`, []string{"8.8.8.0/24"}},
		{"listed alone", `{"cidr0_cidrs":[{"v4prefix":"8.8.9.0","length":24},{"v4prefix":"8.8.8.0","length":24}]}`, []string{"8.8.8.0/24", "8.8.9.0/24"}},
		{"listed within each other", `{"cidr0_cidrs":[{"v4prefix":"8.8.8.0","length":23},{"v4prefix":"8.8.8.0","length":24}]}`, []string{"8.8.8.0/23"}},
		{"listed wrongly", `{"startAddress":"8.8.8.0","endAddress":"8.8.8.255","cidr0_cidrs":[{"v4prefix":"8.8.8.1","length":24}]}`, []string{"8.8.8.0/24"}},
		{"listed oddly", `{"startAddress":"8.8.8.0","endAddress":"8.8.8.255","cidr0_cidrs":[{"v4prefix":"x","length":24},7]}`, []string{"8.8.8.0/24"}},
		{"a prefix as start", `{"startAddress":"8.8.8.0/24","endAddress":"8.8.8.0/24"}`, []string{"8.8.8.0/24"}},
	} {
		r, err := readNetwork([]byte(c.body), netip.MustParseAddr("8.8.8.8"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, r.Network.CIDRs); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRangesThatAreNone(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no range": `{"handle":"x"}`, "backwards": `{"startAddress":"8.8.8.255","endAddress":"8.8.8.0"}`, "two families": `{"startAddress":"8.8.8.0","endAddress":"2001::"}`,
		"not an address": `{"startAddress":"eight","endAddress":"8.8.8.255"}`, "a mapped one": `{"startAddress":"::ffff:8.8.8.0","endAddress":"::ffff:8.8.8.255"}`,
		"just below": `{"startAddress":"8.8.8.0","endAddress":"8.8.8.7"}`, "just above": `{"startAddress":"8.8.8.9","endAddress":"8.8.8.255"}`,
		"the other family": `{"startAddress":"::","endAddress":"ffff::"}`, "prefixes of two families": `{"cidr0_cidrs":[{"v4prefix":"8.8.8.0","length":24},{"v6prefix":"2001::","length":16}]}`,
		"a prefix too long": `{"cidr0_cidrs":[{"v4prefix":"8.8.8.8","length":33}]}`, "a domain": `{"objectClassName":"domain","startAddress":"8.8.8.0","endAddress":"8.8.8.255"}`,
	} {
		if r, err := readNetwork([]byte(body), netip.MustParseAddr("8.8.8.8")); err == nil {
			t.Errorf("%s: %+v", name, r.Network)
		}
	}
}

func TestJCardAsItComes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, card string
		want       card
	}{
		{"as written", `["vcard",[["version",{},"text","4.0"],["fn",{},"text","A"],["kind",{},"text","ORG"]]]`, card{fn: "A", kind: "org"}},
		{"no parameters", `["vcard",[["fn","text","A"]]]`, card{fn: "A"}},
		{"parameters, no type", `["vcard",[["fn",{},"A"]]]`, card{fn: "A"}},
		{"name and value", `["vcard",[["fn","A"]]]`, card{fn: "A"}},
		{"null parameters", `["vcard",[["fn",null,"text","A"]]]`, card{fn: "A"}},
		{"no outer list", `[["fn",{},"text","A"]]`, card{fn: "A"}},
		{"the first counts", `["vcard",[["fn",{},"text","A"],["fn",{},"text","B"]]]`, card{fn: "A"}},
		{"the first that says something", `["vcard",[["fn",{},"text",""],["FN",{},"text","B"]]]`, card{fn: "B"}},
		{"org with units", `["vcard",[["org",{},"text",["A","Unit"]]]]`, card{org: "A"}},
		{"org in lists of lists", `["vcard",[["org",{},"text",[["A"],["B"]]]]]`, card{org: "A"}},
		{"org first part empty", `["vcard",[["org",{},"text",["","A"]]]]`, card{org: "A"}},
		{"a code in adr", `["vcard",[["adr",{},"text",["","","","","","","de"]]]]`, card{country: "DE"}},
		{"a name in adr", `["vcard",[["adr",{},"text",["","","","","","","Germany"]]]]`, card{country: "DE"}},
		{"another language", `["vcard",[["adr",{},"text",["","","","","","","Deutschland"]]]]`, card{country: "Deutschland"}},
		{"cc before the value", `["vcard",[["adr",{"CC":["FR"]},"text",["","","","","","","Germany"]]]]`, card{country: "FR"}},
		{"a cc that is none", `["vcard",[["adr",{"cc":"X1"},"text",["","","","","","","Germany"]]]]`, card{country: "DE"}},
		{"a label", `["vcard",[["adr",{"label":"1 Street\nTown\nFRANCE"},"text",["","","","","","",""]]]]`, card{country: "FR"}},
		{"a label without a country", `["vcard",[["adr",{"label":"1 Street\n12345 Town"},"text",["","","","","","",""]]]]`, card{}},
		{"a label that ends like one", `["vcard",[["adr",{"label":"1 Street\nPerson of France"},"text",[]]]]`, card{}},
		{"adr as a string", `["vcard",[["adr",{},"text","1 Street\nTown\nJapan"]]]`, card{country: "JP"}},
		{"a street in the country's place", `["vcard",[["adr",{},"text",["","","","","","","12 Main Street"]]]]`, card{}},
		{"redacted country", `["vcard",[["adr",{},"text",["","","","","","","REDACTED FOR PRIVACY"]]]]`, card{}},
		{"user-assigned code", `["vcard",[["adr",{},"text",["","","","","","","ZZ"]]]]`, card{}},
		{"uk", `["vcard",[["adr",{"cc":"UK"},"text",[]]]]`, card{country: "GB"}},
		{"telephones", `["vcard",[["tel",{"type":"FAX"},"uri","tel:+1.1"],["tel",{"type":["work","voice"]},"uri","TEL:+1.2;ext=3"]]]`, card{tel: "+1.2 ext. 3"}},
		{"a telephone as text", `["vcard",[["tel",{},"text","+1-2"]]]`, card{tel: "+1-2"}},
		{"no telephone", `["vcard",[["tel",{},"text","ask"]]]`, card{}},
		{"mail", `["vcard",[["email",{},"text","mailto:a@b.com"]]]`, card{email: "a@b.com"}},
		{"no mail", `["vcard",[["email",{},"text","A <a@b.com>"],["email",{},"text","none"],["email",{},"text",null]]]`, card{}},
		{"links", `["vcard",[["url",{},"uri","data:x"],["url",{},"uri","HTTP://a.com"]]]`, card{link: "HTTP://a.com"}},
		{"nothing", `[]`, card{}}, {"a string", `"vcard"`, card{}}, {"null", `null`, card{}}, {"an object", `{"fn":"A"}`, card{}}, {"numbers", `[1,[2,[3,{},4,5]]]`, card{}},
	} {
		var got card
		if err := json.Unmarshal([]byte(c.card), &got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOrganizationIsNeverAPerson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		card card
		want string
	}{
		{"an organization's fn", card{kind: "org", fn: "A Ltd"}, "A Ltd"},
		{"its org goes first", card{kind: "org", fn: "Desk", org: "A Ltd"}, "A Ltd"},
		{"its org is held back", card{kind: "org", fn: "A Ltd", org: "REDACTED FOR PRIVACY"}, "A Ltd"},
		{"a person", card{kind: "individual", fn: "Jane Doe"}, ""},
		{"a person of unknown kind", card{fn: "Jane Doe"}, ""},
		{"a group", card{kind: "group", fn: "Hostmaster Jane"}, ""},
		{"a person of a company", card{kind: "individual", fn: "Jane Doe", org: "A Ltd"}, "A Ltd"},
		{"a name in both", card{fn: "Jane Doe", org: "JANE DOE"}, ""},
		{"held back", card{fn: "", org: "Redacted for GDPR"}, ""},
		{"a privacy service", card{org: "Domains By Proxy, LLC"}, "Domains By Proxy, LLC"},
	} {
		got := ""
		if o := (entity{Card: c.card}).organization(); o != nil {
			got = *o
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRedactionRoles(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`[{"name":{"type":"Registrant Name"}}]`:          {"registrant"},
		`[{"name":{"description":"Admin/Tech e-mail"}}]`: {"administrative", "technical"},
		`[{"name":{"type":"Billing Fax"}}]`:              {"billing"},
		`[{"name":{"type":"Registrar Abuse"}}]`:          nil,
		`[{"prePath":"$.entities[?(@.roles[0]==\"technical\")]"},{"postPath":"$.entities[?(@.roles contains 'administrative')]"}]`: {"technical", "administrative"},
		`[{"name":"Registrant"},{"name":null},7]`: nil,
		`[{"name":{"type":"x"},"replacementPath":"$.entities[?(@.roles[0]=='registrant')].vcardArray"},{"prePath":"$.entities[?(@.roles=='registrant')]"}]`: {"registrant"},
	} {
		var l list[redaction]
		if err := json.Unmarshal([]byte(body), &l); err != nil {
			t.Fatal(err)
		}
		roles, _, _ := redactionsByRole(l)
		if diff := cmp.Diff(want, roles); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestEntitiesThatSayTheyAreRedacted(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"status":["Private"]}`: true, `{"status":["removed"]}`: true, `{"status":["obscured"]}`: true, `{"status":["proxy"]}`: false,
		`{"remarks":[{"type":"object truncated due to authorization"}]}`: true, `{"remarks":[{"description":["Data REDACTED"]}]}`: true,
		`{"remarks":[{"title":"Hello"}]}`: false, `{"vcardArray":["vcard",[["fn",{},"text","Redacted for Privacy"]]]}`: true, `{}`: false,
	} {
		var e entity
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatal(err)
		}
		if e.redacts() != want {
			t.Errorf("%s: %t", body, !want)
		}
	}
}

func TestReadRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"5": 5 * time.Second, " 5 ": 5 * time.Second, "0": time.Second, "": defaultPause, "soon": defaultPause, "-1": defaultPause, "999999": registry.MaxPause,
		"2147483648": registry.MaxPause, "99999999999999999999": registry.MaxPause, "-99999999999999999999": defaultPause, "Mon, 01 Jun 2026 12:00:30 GMT": 30 * time.Second, "Mon, 01 Jun 2026 11:00:00 GMT": time.Second,
		"Tue, 02 Jun 2026 12:00:00 GMT": registry.MaxPause,
	} {
		if got := readRetryAfter(in, now); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	registry, err := readDomain(fixture(t, "verisign.json"), "example-shop.com")
	if err != nil {
		t.Fatal(err)
	}
	registrar, err := readDomain(fixture(t, "registrar.json"), "example-shop.com")
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, "merged.json", merged(registry.Domain, registrar.Domain))
	// What the registry leaves out is filled.
	empty := &Domain{Name: "example-shop.com"}
	got := merged(empty, registrar.Domain)
	want := *registrar.Domain
	want.UnicodeName, want.DNSSEC, want.Events.RegistrarExpires = "", DNSSEC{}, want.Events.Expires
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(registry.Domain, merged(registry.Domain, empty)); diff != "" {
		t.Error(diff)
	}
}
