package dmarc

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/mailtest"
	"diagnostics/shared/parallel"

	"github.com/google/go-cmp/cmp"
)

// zone is a DNS of the test's own; the value "!ESERVFAIL" is a lookup that fails.
type zone struct {
	txt map[string][]string

	mu    sync.Mutex
	asked []string
}

func (z *zone) TXT(_ context.Context, name string) ([]string, error) {
	z.mu.Lock()
	z.asked = append(z.asked, name)
	z.mu.Unlock()
	values, ok := z.txt[name]
	switch {
	case !ok:
		return nil, mail.ErrNotFound
	case len(values) == 1 && strings.HasPrefix(values[0], "!"):
		return nil, &mail.LookupError{Code: values[0][1:]}
	}
	return values, nil
}

// with is a zone of single records, by domain.
func with(pairs ...string) *zone {
	z := &zone{txt: map[string][]string{}}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i]
		if !strings.Contains(name, "_dmarc") {
			name = "_dmarc." + name
		}
		z.txt[name] = append(z.txt[name], pairs[i+1])
	}
	return z
}

// hostile panics on one name.
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
	z := with("example.com", "v=DMARC1; p=reject; rua=mailto:r@reports.org")
	for what, name := range map[string]string{
		"the walk up":      "_dmarc.com",
		"the destinations": "example.com._report._dmarc.reports.org",
	} {
		p := parallel.Catch(func() { Check(t.Context(), hostile{z, name}, "example.com") })
		if p == nil || p.Value != "boom" {
			t.Errorf("%s: caught %v", what, p)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]string{
		"com": "com", "example.com": "example.com com", "a.b.c.d.e.f.g": "a.b.c.d.e.f.g b.c.d.e.f.g c.d.e.f.g d.e.f.g e.f.g f.g g",
		"1.a.b.c.d.e.f.g":         "1.a.b.c.d.e.f.g a.b.c.d.e.f.g b.c.d.e.f.g c.d.e.f.g d.e.f.g e.f.g f.g g",
		"2.1.a.b.c.d.e.f.g":       "2.1.a.b.c.d.e.f.g a.b.c.d.e.f.g b.c.d.e.f.g c.d.e.f.g d.e.f.g e.f.g f.g g",
		"9.8.7.6.1.a.b.c.d.e.f.g": "9.8.7.6.1.a.b.c.d.e.f.g a.b.c.d.e.f.g b.c.d.e.f.g c.d.e.f.g d.e.f.g e.f.g f.g g",
	} {
		if diff := cmp.Diff(strings.Fields(want), Names(domain)); diff != "" {
			t.Errorf("%s: %s", domain, diff)
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	const reject, none = "v=DMARC1; p=reject; rua=mailto:r@example.com", "v=DMARC1; p=none; rua=mailto:r@example.com"
	for name, c := range map[string]struct {
		zone                     *zone
		domain, at, organization string
		policy, below, absent    Policy
		several, failed          bool
		want                     []string
	}{
		"nothing":             {zone: with(), domain: "example.com"},
		"at the domain":       {zone: with("example.com", reject), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"inherited":           {zone: with("example.com", reject), domain: "a.b.example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"inherited sp and np": {zone: with("example.com", reject+"; sp=quarantine; np=reject"), domain: "a.example.com", at: "example.com", organization: "example.com", policy: Quarantine, below: Quarantine, absent: Reject},
		"own sp": {zone: with("example.com", reject+"; sp=none"), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: None, absent: None,
			want: []string{"DMARC_SUBDOMAIN_POLICY_WEAKER"}},
		"own np": {zone: with("example.com", reject+"; np=none"), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: None,
			want: []string{"DMARC_NONEXISTENT_POLICY_WEAKER"}},
		"a subdomain with its own": {zone: with("example.com", reject, "a.example.com", none+"; sp=reject"), domain: "a.example.com", at: "a.example.com", organization: "example.com", policy: None, below: Reject, absent: Reject,
			want: []string{"DMARC_POLICY_NONE", "DMARC_SP_IGNORED"}},
		"the highest record is the organization's": {zone: with("b.example.com", none, "example.com", reject), domain: "a.b.example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"an organization below the suffix list's": {zone: with("b.example.com", "v=DMARC1; p=reject; rua=mailto:r@b.example.com"), domain: "a.b.example.com", at: "b.example.com", organization: "b.example.com", policy: Reject, below: Reject, absent: Reject,
			want: []string{"DMARC_RFC7489_DIFFERS"}},
		"psd=n ends the walk": {zone: with("b.example.com", "v=DMARC1; p=reject; psd=n; rua=mailto:r@b.example.com", "example.com", none), domain: "a.b.example.com", at: "b.example.com", organization: "b.example.com", policy: Reject, below: Reject, absent: Reject,
			want: []string{"DMARC_RFC7489_DIFFERS"}},
		"psd=n at the domain": {zone: with("b.example.com", "v=DMARC1; p=reject; psd=n; rua=mailto:r@b.example.com", "example.com", none), domain: "b.example.com", at: "b.example.com", organization: "b.example.com", policy: Reject, below: Reject, absent: Reject,
			want: []string{"DMARC_RFC7489_ALIGNMENT"}},
		"psd=y above": {zone: with("com", "v=DMARC1; p=quarantine; psd=y; rua=mailto:r@example.com"), domain: "a.example.com", at: "com", organization: "example.com", policy: Quarantine, below: Quarantine, absent: Quarantine,
			want: []string{"DMARC_RFC7489_DIFFERS"}},
		"psd=y above the organization's": {zone: with("com", none+"; psd=y", "example.com", reject), domain: "a.example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"psd=y at the domain":            {zone: with("gov.uk", "v=DMARC1; p=reject; psd=y; rua=mailto:r@gov.uk"), domain: "gov.uk", at: "gov.uk", organization: "gov.uk", policy: Reject, below: Reject, absent: Reject, want: []string{"DMARC_PSD"}},
		"several at the domain":          {zone: with("example.com", reject, "example.com", none), domain: "example.com", at: "example.com", several: true, want: []string{"DMARC_SEVERAL_RECORDS"}},
		"several and another text":       {zone: with("example.com", reject, "example.com", "v=spf1 -all"), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"another version":                {zone: with("example.com", "v=dmarc1; p=reject"), domain: "example.com", want: []string{"DMARC_VERSION"}},
		"a blank in front":               {zone: with("example.com", " v=DMARC1; p=reject"), domain: "example.com", want: []string{"DMARC_LEADING_BLANK"}},
		"a tab in front, at the parent":  {zone: with("example.com", "\tV = DMARC1; p=reject"), domain: "a.example.com", want: []string{"DMARC_LEADING_BLANK"}},
		"another version at the parent":  {zone: with("example.com", "v=Dmarc1; p=reject"), domain: "a.example.com", want: []string{"DMARC_VERSION"}},
		"a tag in capitals":              {zone: with("example.com", "V=DMARC1; p=reject; rua=mailto:r@example.com"), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"several, one in capitals":       {zone: with("example.com", "V=DMARC1; p=reject", "example.com", reject), domain: "example.com", at: "example.com", several: true, want: []string{"DMARC_SEVERAL_RECORDS"}},
		"blanks in the tag":              {zone: with("example.com", "v \t= DMARC1 ; p=reject; rua=mailto:r@example.com"), domain: "example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"failed":                         {zone: with("example.com", "!ESERVFAIL"), domain: "example.com", failed: true, want: []string{"DMARC_LOOKUP_FAILED"}},
		"failed above, nothing below":    {zone: with("com", "!ETIMEOUT"), domain: "example.com", failed: true, want: []string{"DMARC_LOOKUP_FAILED"}},
		"failed directly above a record": {zone: with("com", "!ETIMEOUT", "example.com", reject), domain: "a.example.com", at: "example.com", organization: "example.com", policy: Reject, below: Reject, absent: Reject},
		"failed on the way":              {zone: with("b.example.com", "!ETIMEOUT", "example.com", reject), domain: "a.b.example.com", failed: true, want: []string{"DMARC_LOOKUP_FAILED"}},
		"failed far above its own":       {zone: with("com", "!ETIMEOUT", "a.example.com", "v=DMARC1; p=reject; rua=mailto:r@a.example.com"), domain: "a.example.com", at: "a.example.com", policy: Reject, below: Reject, absent: Reject, want: []string{"DMARC_WALK_INCOMPLETE"}},
	} {
		r := Check(t.Context(), c.zone, c.domain)
		if c.want == nil {
			c.want = []string{}
		}
		if diff := cmp.Diff(c.want, mailtest.Codes(r.Issues)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r.FoundAt != c.at || r.Organizational != c.organization || r.Policy != c.policy || r.Subdomains != c.below ||
			r.Nonexistent != c.absent || r.Several != c.several || r.Failed != c.failed {
			t.Errorf("%s: %+v", name, r)
		}
		if (r.Record != nil) != (c.policy != "") {
			t.Errorf("%s: record %+v", name, r.Record)
		}
	}
}

func TestSeveralAtTheOrganization(t *testing.T) {
	t.Parallel()
	z := with("example.com", "v=DMARC1; p=reject", "example.com", "v=DMARC1; p=none", "a.example.com", "hello")
	r := Check(t.Context(), z, "a.example.com")
	if r.Record != nil || !r.Several || r.FoundAt != "example.com" {
		t.Errorf("%+v", r)
	}
	// A record of the domain's own is used whatever its parents publish.
	z.txt["_dmarc.a.example.com"] = []string{"v=DMARC1; p=reject; rua=mailto:r@a.example.com"}
	if r := Check(t.Context(), z, "a.example.com"); r.Several || r.Policy != Reject {
		t.Errorf("%+v", r)
	}
}

func TestAtMostEightQueries(t *testing.T) {
	t.Parallel()
	z := with()
	Check(t.Context(), z, "k.j.i.h.g.f.e.d.c.b.a.example.com")
	if len(z.asked) != maxQueries {
		t.Errorf("%d queries: %v", len(z.asked), z.asked)
	}
}

func TestRecordIssues(t *testing.T) {
	t.Parallel()
	const good = "; rua=mailto:r@home.com"
	for record, want := range map[string][]string{
		"v=DMARC1; p=reject" + good:                                                                 {},
		"v=DMARC1;P=Reject" + good:                                                                  {},
		"v=DMARC1; p=quarantine" + good + "; adkim=s; aspf=R":                                       {},
		"v=DMARC1; p=reject":                                                                        {"DMARC_NO_REPORTS"},
		"v=DMARC1; p=none" + good:                                                                   {"DMARC_POLICY_NONE"},
		"v=DMARC1" + good:                                                                           {"DMARC_POLICY_ABSENT", "DMARC_POLICY_NONE"},
		"v=DMARC1" + good + "; p=reject":                                                            {"DMARC_POLICY_NOT_SECOND"},
		"v=DMARC1; p=rejected" + good:                                                               {"DMARC_POLICY_INVALID"},
		"v=DMARC1; p=reject; sp=x" + good:                                                           {"DMARC_POLICY_INVALID"},
		"v=DMARC1; p=reject; np=" + good:                                                            {"DMARC_POLICY_INVALID"},
		"v=DMARC1; p=reject; t=y" + good:                                                            {"DMARC_TEST_MODE"},
		"v=DMARC1; p=none; t=y" + good:                                                              {"DMARC_POLICY_NONE", "DMARC_TEST_MODE_IDLE"},
		"v=DMARC1; p=x; t=y" + good:                                                                 {"DMARC_POLICY_INVALID"},
		"v=DMARC1; p=reject; t=n" + good:                                                            {},
		"v=DMARC1; p=reject; pct=100; rf=afrf; ri=86400" + good:                                     {"DMARC_TAG_RETIRED", "DMARC_TAG_RETIRED", "DMARC_TAG_RETIRED"},
		"v=DMARC1; p=reject; pct=50" + good:                                                         {"DMARC_PCT"},
		"v=DMARC1; p=reject; adkim=x; psd=maybe" + good:                                             {"DMARC_VALUE_INVALID", "DMARC_VALUE_INVALID"},
		"v=DMARC1; p=reject; fo=1" + good:                                                           {"DMARC_FO_WITHOUT_RUF"},
		"v=DMARC1; p=reject; fo=1:d:s; ruf=mailto:f@home.com" + good:                                {},
		"v=DMARC1; p=reject; fo=2; ruf=mailto:f@home.com" + good:                                    {"DMARC_VALUE_INVALID"},
		"v=DMARC1; p=reject; foo=1" + good:                                                          {"DMARC_TAG_UNKNOWN"},
		"v=DMARC1; p=reject; nonsense" + good:                                                       {"DMARC_SYNTAX"},
		"v=DMARC1; p=reject; p=none" + good:                                                         {"DMARC_TAG_TWICE"},
		`v=DMARC1; p=reject\;` + good:                                                               {"DMARC_BACKSLASH", "DMARC_POLICY_INVALID"},
		"v=DMARC1; p=reject; rua=r@home.com":                                                        {"DMARC_NO_REPORTS", "DMARC_REPORT_URI_INVALID"},
		"v=DMARC1; p=reject; rua=https://home.com/r":                                                {"DMARC_REPORT_URI_SCHEME"},
		"v=DMARC1; p=reject; rua=mailto:r@home.com!10m":                                             {"DMARC_REPORT_SIZE"},
		"v=DMARC1; p=reject; rua=mailto:r@sub.home.com":                                             {},
		"v=DMARC1; p=reject; rua=mailto:r@yes.com":                                                  {},
		"v=DMARC1; p=reject; rua=mailto:r@yes.com,mailto:r@no.com":                                  {"DMARC_REPORTS_NOT_AUTHORIZED"},
		"v=DMARC1; p=reject; rua=mailto:r@other.com":                                                {"DMARC_REPORTS_NOT_AUTHORIZED"},
		"v=DMARC1; p=reject; rua=mailto:r@same.com":                                                 {},
		"v=DMARC1; p=reject; rua=mailto:r@on.com":                                                   {"DMARC_REPORTS_REDIRECTED"},
		"v=DMARC1; p=reject; ruf=mailto:r@on.com" + good:                                            {},
		"v=DMARC1; p=reject; rua=mailto:r@nothome.com":                                              {"DMARC_REPORTS_NOT_AUTHORIZED"},
		"v=DMARC1; p=reject; rua=mailto:r@mail.internal":                                            {"DMARC_REPORTS_NEVER_AUTHORIZED"},
		"v=DMARC1; p=reject; ruf=mailto:r@fails.com" + good:                                         {"DMARC_DESTINATION_LOOKUP_FAILED"},
		"v=DMARC1; p=reject; rua=" + strings.Repeat("mailto:r@home.com,", 20) + "mailto:r@home.com": {"DMARC_TOO_MANY_ADDRESSES"},
		"v=DMARC1; p=reject; rua=mailto:r@a.yes.com,mailto:r@b.yes.com,mailto:r@c.yes.com,mailto:r@d.yes.com,mailto:r@e.yes.com,mailto:r@f.yes.com,mailto:r@g.yes.com": {
			"DMARC_REPORTS_NOT_AUTHORIZED", "DMARC_REPORTS_NOT_AUTHORIZED", "DMARC_REPORTS_NOT_AUTHORIZED", "DMARC_REPORTS_NOT_AUTHORIZED", "DMARC_REPORTS_NOT_AUTHORIZED",
			"DMARC_REPORTS_NOT_AUTHORIZED", "DMARC_TOO_MANY_DESTINATIONS"},
	} {
		z := with("home.com", record, "home.com._report._dmarc.yes.com", "v=DMARC1;", "home.com._report._dmarc.other.com",
			"v=spf1", "home.com._report._dmarc.fails.com", "!ESERVFAIL", "home.com._report._dmarc.same.com", "V=DMARC1; rua=mailto:x@same.com",
			"home.com._report._dmarc.on.com", "v=DMARC1; rua=mailto:x@further.com")
		r := Check(t.Context(), z, "home.com")
		if diff := cmp.Diff(want, mailtest.Codes(r.Issues)); diff != "" {
			t.Errorf("%q: %s", record, diff)
		}
		if r.Failed != r.Issues.HasCode("DMARC_DESTINATION_LOOKUP_FAILED") {
			t.Errorf("%q: failed %t", record, r.Failed)
		}
		if strings.Contains(record, "internal") && slices.ContainsFunc(z.asked, func(n string) bool {
			return strings.HasSuffix(n, "internal")
		}) {
			t.Error("a name of private networks was looked up")
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	r, _ := Parse("v=DMARC1; p=reject; adkim=s; aspf=s; t=y; psd=y; rua=mailto:a@b.com, mailto:c@d.com; " +
		"ruf=https://e.com/f")
	if !r.StrictDKIM || !r.StrictSPF || !r.Test || r.PSD != "y" || len(r.Aggregate) != 2 || len(r.Failure) != 1 {
		t.Errorf("%+v", r)
	}
	if r, _ = Parse("v=DMARC1; p=reject"); r.StrictDKIM || r.StrictSPF || r.Test || r.PSD != "u" {
		t.Errorf("%+v", r)
	}
}

// TestAdvice: what is said names the record that it is about, and what receivers really apply.
func TestApplied(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]Policy{
		"p=reject": Reject, "p=reject; t=y": Quarantine, "p=quarantine; t=Y": None, "p=none; t=y": None, "p=quarantine": Quarantine, "p=reject; t=n": Reject,
	} {
		if got := Check(t.Context(), with("example.com", "v=DMARC1; "+record), "example.com").Applied(); got != want {
			t.Errorf("%s: %s", record, got)
		}
	}
	if got := (Report{}).Applied(); got != "" {
		t.Error(got)
	}
}

// TestDestinationsWithoutAnOrganization: where the walk did not get to the end, the suffix list decides the
// organization.
func TestDestinationsWithoutAnOrganization(t *testing.T) {
	t.Parallel()
	z := with("com", "!ETIMEOUT", "a.example.com", "v=DMARC1; p=reject; rua=mailto:r@example.com,mailto:r@example.org")
	r := Check(t.Context(), z, "a.example.com")
	if r.Organizational != "" || len(r.Destinations) != 1 || r.Destinations[0].Host != "example.org" ||
		r.Destinations[0].Name != "a.example.com._report._dmarc.example.org" {
		t.Errorf("%+v", r)
	}
}
