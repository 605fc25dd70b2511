package whois

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/text"

	"github.com/google/go-cmp/cmp"
)

// personal is all that the samples hold of people.
var personal = []string{"jane", "john", "doe", "hidden street", "far street", "5550001111", "@"}

func sample(t testing.TB, path string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return text.Decode(body)
}

func tldOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func ptr[T any](v T) *T { return &v }

// wants are the registrations of the samples. Their form was taken from what the registries answer; the names
// and people in them are made up.
var wants = map[string]struct {
	name string
	want Domain
}{
	"cn": {"example-shop.cn", Domain{
		Status:    []string{"clientDeleteProhibited", "serverTransferProhibited"},
		Registrar: &Registrar{Name: ptr("厦门示例科技股份有限公司")}, Signed: ptr(false),
		Registered: ptr("2003-03-17T04:20:05Z"), Expires: ptr("2031-03-16T18:48:36Z"),
		Nameservers: []string{"ns2.example-shop.cn", "ns1.example-shop.cn"},
	}},
	"de": {"example-shop.de", Domain{
		Status: []string{"connect"}, Updated: ptr("2018-03-12T20:44:25Z"), Signed: ptr(true),
		Nameservers: []string{"ns1.example-shop.de", "ns2.example.net"},
	}},
	"ru": {"example-shop.ru", Domain{
		Status:    []string{"REGISTERED", "DELEGATED", "VERIFIED"},
		Registrar: &Registrar{Name: ptr("SAMPLE-REGISTRAR-RU")}, Registered: ptr("2004-03-03T21:00:00Z"),
		Expires: ptr("2031-03-04T21:00:00Z"), Nameservers: []string{"ns1.example-shop.ru", "ns2.example.net"},
	}},
	"eu": {"example-shop.eu", Domain{
		Status:    []string{},
		Registrar: &Registrar{Name: ptr("Sample Registrar GmbH"), URL: ptr("https://www.sample-registrar.com/")},
		Signed:    ptr(true), Nameservers: []string{"ns1.example-shop.eu", "ns2.example.net"},
	}},
	"it": {"example-shop.it", Domain{
		Status:    []string{"clientTransferProhibited"},
		Registrar: &Registrar{Name: ptr("Sample Registrar S.r.l."), URL: ptr("https://www.sample-registrar.com/")},
		// In winter and in summer: the registry's clocks change.
		Registered: ptr("1999-12-10T00:00:00Z"), Updated: ptr("2026-05-06T23:04:50Z"), Expires: ptr("2031-04-21T00:00:00Z"),
		Signed: ptr(false), Nameservers: []string{"ns1.example-shop.it", "ns2.example.net"},
	}},
	"jp": {"example-shop.jp", Domain{
		Status: []string{"Active", "DomainTransferLocked"}, Registered: ptr("2005-05-30T00:00:00Z"),
		Expires: ptr("2031-05-31T00:00:00Z"), Updated: ptr("2026-05-31T16:05:04Z"), Signed: ptr(true),
		Nameservers: []string{"ns1.example-shop.jp", "ns2.example.net"},
	}},
	"jp-organization": {"example-shop.co.jp", Domain{
		Status: []string{"Connected", "AgentChangeLocked"}, Registered: ptr("2001-03-22T00:00:00Z"),
		Expires: ptr("2031-03-31T00:00:00Z"), Updated: ptr("2026-03-31T16:05:57Z"),
		Nameservers: []string{"ns1.example-shop.co.jp", "ns2.example.net"},
	}},
	"be": {"example-shop.be", Domain{
		Status:     []string{"NOT AVAILABLE", "clientTransferProhibited"},
		Registrar:  &Registrar{Name: ptr("Sample Registrar BV"), URL: ptr("http://www.sample-registrar.com/")},
		Registered: ptr("2000-12-12T00:00:00Z"), Signed: ptr(true),
		Nameservers: []string{"ns1.example-shop.be", "ns2.example.net"},
	}},
	"at": {"example-shop.at", Domain{
		Status: []string{}, Registrar: &Registrar{Name: ptr("Sample Registrar GmbH")},
		Updated: ptr("2023-07-03T07:38:55Z"), Nameservers: []string{"ns1.example-shop.at", "ns2.example.net"},
	}},
	"se": {"example-shop.se", Domain{
		Status:    []string{"active", "serverUpdateProhibited", "serverDeleteProhibited"},
		Registrar: &Registrar{Name: ptr("Sample Registrar AB")}, Registered: ptr("2003-08-27T00:00:00Z"),
		Updated: ptr("2026-09-01T00:00:00Z"), Expires: ptr("2031-10-20T00:00:00Z"), Transferred: ptr("2009-03-06T00:00:00Z"),
		Signed: ptr(true), Nameservers: []string{"ns1.example-shop.se", "ns2.example.net"},
	}},
	"dk": {"example-shop.dk", Domain{
		Status: []string{"Active"}, Registrar: &Registrar{Name: ptr("Sample Registrar A/S")},
		Registered: ptr("1999-01-10T00:00:00Z"), Expires: ptr("2031-03-31T00:00:00Z"), Signed: ptr(false),
		Nameservers: []string{"ns1.example-shop.dk", "ns2.example.net"},
	}},
	"mx": {"example-shop.mx", Domain{ // in ISO 8859-1
		Status:     []string{},
		Registrar:  &Registrar{Name: ptr("Muestra (Una división de Ejemplo)"), URL: ptr("http://www.sample-registrar.com/")},
		Registered: ptr("2009-05-12T00:00:00Z"), Expires: ptr("2031-05-11T00:00:00Z"), Updated: ptr("2026-04-10T00:00:00Z"),
		Nameservers: []string{"ns1.example-shop.mx", "ns2.example.net"},
	}},
	"ir": {"example-shop.ir", Domain{
		Status: []string{}, Updated: ptr("2026-02-17T00:00:00Z"), Expires: ptr("2031-12-22T00:00:00Z"),
		Nameservers: []string{"ns1.example-shop.ir", "ns2.example.net"},
	}},
	"tr": {"example-shop.com.tr", Domain{
		Status: []string{"Active"}, Registrar: &Registrar{Name: ptr("ÖRNEK BİLGİ TEKNOLOJİLERİ LTD. ŞTİ.")},
		Registered: ptr("2001-08-23T00:00:00Z"), Expires: ptr("2031-08-22T00:00:00Z"),
		Nameservers: []string{"ns1.example-shop.com.tr", "ns2.example.net"},
	}},
	"pt": {"example-shop.pt", Domain{
		Status: []string{"Registered"}, Registered: ptr("2003-01-09T00:00:00Z"), Expires: ptr("2031-07-28T22:59:29Z"),
		Nameservers: []string{"ns1.example-shop.pt", "ns2.example.net"},
	}},
	"ro": {"example-shop.ro", Domain{
		Status:     []string{"UpdateProhibited"},
		Registrar:  &Registrar{Name: ptr("Sample Registrar SRL"), URL: ptr("http://www.sample-registrar.com/")},
		Registered: ptr("2000-07-17T00:00:00Z"), Expires: ptr("2031-09-17T00:00:00Z"), Signed: ptr(false),
		Nameservers: []string{"ns1.example-shop.ro", "ns2.example.net"},
	}},
	"hu": {"example-shop.hu", Domain{
		Status: []string{}, Registered: ptr("2000-03-03T00:00:00Z"), Nameservers: []string{},
	}},
	"cl": {"example-shop.cl", Domain{
		Status:     []string{},
		Registrar:  &Registrar{Name: ptr("Sample Registrar SpA"), URL: ptr("https://sample-registrar.com/")},
		Registered: ptr("2002-10-22T20:48:23Z"), Expires: ptr("2031-11-20T17:48:02Z"),
		Nameservers: []string{"ns1.example-shop.cl", "ns2.example.net"},
	}},
	"sk": {"example-shop.sk", Domain{
		Status: []string{"ok"}, Registrar: &Registrar{Name: ptr("Sample Registrar, s.r.o.")},
		Registered: ptr("2004-05-21T00:00:00Z"), Expires: ptr("2031-04-24T00:00:00Z"), Updated: ptr("2026-03-21T00:00:00Z"),
		Nameservers: []string{"ns1.example-shop.sk", "ns2.example.net"},
	}},
	"hk": {"example-shop.hk", Domain{
		Status: []string{"Active"}, Registrar: &Registrar{Name: ptr("SAMPLE REGISTRAR LIMITED")},
		Registered: ptr("2017-07-11T00:00:00Z"), Expires: ptr("2031-08-11T00:00:00Z"), Signed: ptr(false),
		Nameservers: []string{"ns1.example-shop.hk", "ns2.example.net"},
	}},
	"il": {"example-shop.co.il", Domain{
		Status:    []string{"Transfer Locked"},
		Registrar: &Registrar{Name: ptr("Sample Registrar Ltd"), URL: ptr("https://www.sample-registrar.com/")},
		Expires:   ptr("2031-06-05T00:00:00Z"), Signed: ptr(false),
		Nameservers: []string{"ns1.example-shop.co.il", "ns2.example.net"},
	}},
	"rs": {"example-shop.rs", Domain{
		Status: []string{"Active"}, Registrar: &Registrar{Name: ptr("Sample Registrar d.o.o.")},
		Registered: ptr("2018-11-28T21:06:38Z"), Updated: ptr("2026-07-01T12:23:58Z"), Expires: ptr("2031-11-28T21:06:38Z"),
		Signed: ptr(false), Nameservers: []string{"ns1.example-shop.rs", "ns2.example.net"},
	}},
	"co": {"example-shop.co", Domain{
		Status: []string{"clientDeleteProhibited", "clientTransferProhibited"},
		Registrar: &Registrar{
			Name: ptr("Sample Registrar, Inc."), IANAID: ptr("9999"), URL: ptr("http://www.sample-registrar.com/"),
		},
		Registered: ptr("2010-02-25T01:04:59Z"), Updated: ptr("2026-01-28T10:33:03Z"), Expires: ptr("2031-02-24T23:59:59Z"),
		Signed: ptr(false), Nameservers: []string{"ns1.example-shop.co", "ns2.example.net"},
	}},
}

func TestReadRegistrations(t *testing.T) {
	t.Parallel()
	for file, c := range wants {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			said := sample(t, "registered/"+file+".txt")
			s := formatOf(tldOf(c.name)).read(said, c.name)
			outcome, got := s.outcome, s.domain
			if outcome != Found {
				t.Fatalf("%s", outcome)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Error(diff)
			}
			wantNothingPersonal(t, got)
			if s := formatOf(tldOf(c.name)).read(said, "other-"+c.name); s.outcome != Unread || s.domain != nil {
				t.Errorf("of another name: %s, %+v", outcome, got)
			}
			if _, asked := tooMany(said); asked {
				t.Error("taken for a refusal")
			}
		})
	}
}

func wantNothingPersonal(t *testing.T, d *Domain) {
	t.Helper()
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personal {
		if strings.Contains(strings.ToLower(string(out)), p) {
			t.Errorf("%q is shown: %s", p, out)
		}
	}
}

// Every format of the table has a sample of both kinds.
func TestReadAbsences(t *testing.T) {
	t.Parallel()
	seconds := map[string]string{"tr": "com.tr", "il": "co.il"}
	all := append(slices.Clone(formats), format{tlds: []string{"co"}})
	for _, f := range all {
		t.Run(f.tlds[0], func(t *testing.T) {
			t.Parallel()
			tld := f.tlds[0]
			if _, has := wants[tld]; !has {
				t.Error("no sample of a registration")
			}
			suffix := tld
			if second, has := seconds[tld]; has {
				suffix = second
			}
			said := sample(t, "absent/"+tld+".txt")
			if s := formatOf(tld).read(said, "nobody-there."+suffix); s.outcome != NotFound || s.domain != nil {
				t.Errorf("%+v", s)
			}
			if s := formatOf(tld).read("Hello.\n", "nobody-there."+suffix); s.outcome != Unread {
				t.Errorf("of no answer: %+v", s)
			}
		})
	}
}

func TestReadNeither(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ domain, said string }{
		"nothing":                          {"example-shop.it", ""},
		"a page":                           {"example-shop.it", "<!doctype html><title>Login</title>"},
		"the name alone":                   {"example-shop.de", "Domain: example-shop.de\n"},
		"two names":                        {"example-shop.co", "Domain Name: example-shop.co\nRegistrar: X\nDomain Name: other.co\n"},
		"another name that is free":        {"example-shop.de", "Domain: other.de\nStatus: free\n"},
		"the sentence of another name":     {"example-shop.se", `domain "other.se" not found.`},
		"the sentence of another registry": {"example-shop.cn", "Domain not found.\n"},
		"the sentence in a value":          {"example-shop.sk", "Name: Domain not found.\n"},
		"the format of another registry":   {"example-shop.it", "domain: example-shop.it\nnserver: ns1.example.net\n"},
		"dates that are none":              {"example-shop.hu", "domain: example-shop.hu\nrecord created: 0001-01-01\n"},
		"binary":                           {"example-shop.de", "\x00\x01\xff\xfeDomain: example-shop.de\x00\nStatus\x00: connect\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := formatOf(tldOf(c.domain)).read(c.said, c.domain); s.outcome != Unread || s.domain != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A name that the registry does not give out is reserved, and never free, by its own line or by a status.
func TestReadReserved(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]struct {
		outcome Outcome
		line    string
	}{
		"% Hello\r\n% This is a reserved name and can not be registered\r\n":  {Reserved, "This is a reserved name and can not be registered"},
		"The domain example-shop.NAME cannot be registered\n":                 {Reserved, "The domain example-shop.NAME cannot be registered"},
		"This name is reserved, ask jane@example.net\n":                       {Reserved, ""},
		"This name is\x1b reserved\u202e\n":                                   {Reserved, "This name is reserved"},
		"Domain: example-shop.NAME\nStatus: RESERVED\n":                       {Reserved, "Status: RESERVED"},
		"Domain: example-shop.NAME\nStatus: UNASSIGNABLE\n":                   {Reserved, "Status: UNASSIGNABLE"},
		"Domain: example-shop.NAME\nStatus: NOT ALLOWED\n":                    {Reserved, "Status: NOT ALLOWED"},
		"Domain: example-shop.NAME\nStatus: NOT AVAILABLE\n":                  {Unread, ""},
		"Domain: other.NAME\nStatus: RESERVED\n":                              {Unread, ""},
		"Domain: example-shop.NAME\nThis name is reserved\n":                  {Unread, ""},
		"Too many queries: this domain is blocked.\n":                         {Unread, ""},
		"Requests of this client are not permitted; this name is reserved.\n": {Unread, ""},
		strings.Repeat("terms\n", 2<<10/6+1) + "This name is reserved\n":      {Unread, ""},
	} {
		for _, tld := range []string{"it", "be"} {
			s := formatOf(tld).read(strings.ReplaceAll(said, "NAME", tld), "example-shop."+tld)
			if line := strings.ReplaceAll(want.line, "NAME", tld); s.outcome != want.outcome || s.line != line ||
				s.domain != nil {
				t.Errorf("%s %.70q: %+v", tld, said, s)
			}
		}
	}
	// A sentence that denies the name counts unless another says of this very name that it is reserved.
	for said, want := range map[string]Outcome{
		"Domain not found.\nThis name is reserved.\n":        Reserved,
		"Domain not found.\nReserved names: see our page.\n": NotFound,
	} {
		if s := common.read(said, "example-shop.co"); s.outcome != want {
			t.Errorf("%q: %+v", said, s)
		}
	}
}

// The registrar's date stands beside the registry's, and for it where there is none.
func TestBothExpirations(t *testing.T) {
	t.Parallel()
	const registrar, registry = "Registrar Registration Expiration Date: 2026-03-01\n",
		"Registry Expiry Date: 2027-03-01\n"
	for said, want := range map[string]string{
		registrar + registry: "2027-03-01T00:00:00Z 2026-03-01T00:00:00Z", registry: "2027-03-01T00:00:00Z ",
		registrar: "2026-03-01T00:00:00Z 2026-03-01T00:00:00Z",
	} {
		d := common.read("Domain Name: example-shop.co\n"+said, "example-shop.co").domain
		got := *d.Expires + " "
		if d.RegistrarExpires != nil {
			got += *d.RegistrarExpires
		}
		if got != want {
			t.Errorf("%q: %s", said, got)
		}
	}
}

// What strangers write is bounded and plain.
func TestReadHostileText(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	said.WriteString("Domain Name: example-shop.co\r\n")
	said.WriteString("Registrar: \x1b[31mRed\u202e Registrar\x00 " + strings.Repeat("x", 400) + "\r")
	said.WriteString("Registrar URL: javascript:alert(1)\nDomain Status: ask jane.doe@example-shop.co\n")
	said.WriteString("Creation Date: yesterday\n")
	for i := range 200 {
		said.WriteString("Name Server: ns" + strings.Repeat("a", i%60) + ".example.net\n")
		said.WriteString("Domain Status: s" + strings.Repeat("b", i) + "\n")
	}
	s := common.read(said.String(), "example-shop.co")
	outcome, d := s.outcome, s.domain
	if outcome != Found {
		t.Fatal(outcome)
	}
	if len(d.Nameservers) != 60 || len(d.Status) != maxElements || !d.Truncated || d.Registered != nil ||
		d.Registrar.URL != nil {
		t.Errorf("%+v", d)
	}
	if name := *d.Registrar.Name; !strings.HasPrefix(name, "[31mRed Registrar xxx") || len([]rune(name)) > maxValue+1 {
		t.Errorf("%q", name)
	}
	wantNothingPersonal(t, d)
}

// An answer of the longest length costs little, whatever is in it: 50 ms of processor time, and some ten times as much
// under the race detector. Other processes do not change what this one uses.
func TestReadingIsQuick(t *testing.T) { //nolint:paralleltest // it measures the process
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			t.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	fill := func(line string) string { return strings.Repeat(line, MaxText/len(line)) }
	for _, said := range []string{
		fill("Creation Date: x\n"), fill("Name Server: \u1f80.\u1f80\n"), fill("Domain Name: \u1f80.co\n"),
		fill("Domain Status: ,,,,,\n"),
		fill("\n"), fill(": "), fill("a.\t"), fill("Registrar URL: ://\n"), fill("\xff\r"),
	} {
		before := used()
		common.read(text.Decode(said), "example-shop.co")
		if cost := used() - before; cost > 2*time.Second {
			t.Errorf("%v for %.20q…", cost, said)
		}
	}
}

func TestSameName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		written, name string
		want          bool
	}{
		{"example.se", "example.se", true},
		{"EXAMPLE.SE.", "example.se", true},
		{"räksmörgås.se", "xn--rksmrgs-5wao1o.se", true},
		{"räksmörgås.se (xn--rksmrgs-5wao1o.se)", "xn--rksmrgs-5wao1o.se", true},
		{"example.se.evil.net", "example.se", false},
		{"", "example.se", false},
	} {
		if got := sameName(c.written, c.name); got != c.want {
			t.Errorf("%q, %q: %v", c.written, c.name, got)
		}
	}
}

// A time without an offset is in the zone that the registry documents. Some registries write dates in another form.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tld, written, want string }{
		{"cn", "2026-01-02 03:04:05", "2026-01-01T19:04:05Z"},
		{"it", "1999-12-10 00:00:00", "1999-12-10T00:00:00Z"},
		{"it", "1999-12-10 23:59:59", "1999-12-10T22:59:59Z"},
		{"pt", "02/01/2026 00:00:00", "2026-01-02T00:00:00Z"},
		{"se", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z"}, // no documented zone
		{"jp", "2026/01/02 03:04:05 (JST)", "2026-01-01T18:04:05Z"},
		{"cl", "2026-06-02 03:04:05", "2026-06-02T07:04:05Z"},
		{"cl", "2026-09-06", "2026-09-06T00:00:00Z"}, // whose midnight the summer time skips
		{"at", "20260702 00:30:00", "2026-07-01T22:30:00Z"},
		{"hk", "03-02-2026", "2026-02-03T00:00:00Z"},
	} {
		f := formatOf(c.tld)
		r := reading{format: f, zone: f.location()}
		if got := r.moment(c.written); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.tld, c.written, got, c.want)
		}
	}
}

// The zones of the table are in the binary.
func TestZones(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		if _, err := time.LoadLocation(f.zone); err != nil {
			t.Error(err)
		}
	}
}

// closedES is what the server of .es says to clients that it has not admitted.
const closedES = "Conditions of use for the whois service via port 43 for .es domains\n----\n" +
	"The IP address used to perform the query is not authorised or has exceeded the established limit for queries." +
	"To request access to the service, complete the form located at https://sede.example.es/sede/whois, where you may " +
	"also consult the service conditions.\n"

func TestTooMany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said string
		want time.Duration // 0 for none
	}{
		{"% .be Whois Server 6.1\n%\n% Excessive querying, grace period of 300 seconds.\n", time.Minute},
		{"% Maximum queries per hour reached\n", time.Minute},
		{"% Error: 55000000002 Connection refused; access control limit exceeded.\n", time.Minute},
		{"% Quota exceeded\n", time.Minute},
		{"% You have exceeded allowed connection rate.\n", time.Minute},
		{"Queried interval is too short.\n", time.Minute},
		{"Too many requests. Come back in 20 seconds.", 20 * time.Second},
		{"too many requests: wait 0 seconds", time.Second},
		{"too many requests: wait 9999 hours", time.Minute},
		{"Error: max. requests per second exceeded\r\n", time.Minute},
		{"Query too fast, slow down", time.Minute},
		{"Server busy, try again later", time.Minute},
		{"too many requests: wait 99999999999999999999 seconds", time.Minute},
		{"Requests of this client are not permitted.\n", 0},
		{closedES, 0},
		{"Access denied: too many queries\n", time.Minute},
		{"% " + strings.Repeat("terms ", 60) + "too many requests are forbidden\n", 0},
		{"", 0},
	} {
		if got, asked := tooMany(c.said); got != c.want || asked != (c.want != 0) {
			t.Errorf("%.60q: %v, %v; want %v", c.said, got, asked, c.want)
		}
	}
}

func TestComplaints(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"": "PROVIDER_ANSWER_EMPTY", " \r\n": "PROVIDER_ANSWER_EMPTY",
		"Requests of this client are not permitted. Please use https://www.nic.ch/whois/ for queries.": "PROVIDER_CLOSED",
		closedES:             "PROVIDER_CLOSED",
		"Permission denied.": "PROVIDER_CLOSED",
		"What?":              "PROVIDER_FORMAT_UNKNOWN",
	} {
		if got := complaint(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}
