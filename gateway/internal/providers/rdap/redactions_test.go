package rdap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formatRedactions writes what is held back and why as "name: reason", with - for what was not reported.
func formatRedactions(all []Redaction) []string {
	out := []string{}
	for _, r := range all {
		name, reason := "-", "-"
		if r.Name != nil {
			name = *r.Name
		}
		if r.Reason != nil {
			reason = *r.Reason
		}
		out = append(out, name+": "+reason)
	}
	return out
}

// Whose data is held back, and why, in the shapes that servers send (RFC 9537 section 4.2).
func TestReasonsOfRedactions(t *testing.T) {
	t.Parallel()
	const entity = `"entities":[{"roles":["registrant","technical"]},{"roles":["billing"]}]`
	for name, test := range map[string]struct {
		redacted        string
		registrant, own []string // of the first entity, and of none
	}{
		"a registered reason":      {`{"name":{"type":"Registrant Name"},"reason":{"type":"Server policy"}}`, []string{"Registrant Name: Server policy"}, nil},
		"the provider's own":       {`{"name":{"type":"Registrant Name"},"reason":{"description":"No consent"}}`, []string{"Registrant Name: No consent"}, nil},
		"own words go first":       {`{"name":{"type":"x","description":"Tech Name"},"reason":{"type":"y","description":"z"}}`, []string{"Tech Name: z"}, nil},
		"no reason":                {`{"name":{"type":"Registrant Name"}}`, []string{"Registrant Name: -"}, nil},
		"a reason alone":           {`{"reason":{"type":"Server policy"},"prePath":"$.entities[?(@.roles[0]=='registrant')]"}`, []string{"-: Server policy"}, nil},
		"of no contact":            {`{"name":{"type":"Registry Domain ID"},"reason":{"type":"Server policy"}}`, nil, []string{"Registry Domain ID: Server policy"}},
		"nothing":                  {`{},{"name":{},"reason":{}},{"name":7,"reason":"x"},null,3`, nil, nil},
		"a reason of a wrong type": {`{"name":{"type":"Tech Fax"},"reason":"Server policy"}`, []string{"Tech Fax: -"}, nil},
		"twice":                    {`{"name":{"type":"Tech Fax"}},{"name":{"type":"Tech Fax"}},{"name":{"type":"Tech Fax"},"reason":{"type":"x"}}`, []string{"Tech Fax: -", "Tech Fax: x"}, nil},
		"of two roles of one":      {`{"name":{"description":"Registrant and Tech Name"}}`, []string{"Registrant and Tech Name: -"}, nil},
		"a text to be cleaned":     {`{"name":{"type":"Registrant\u202e\nName"},"reason":{"type":"\u0000"}}`, []string{"Registrant Name: -"}, nil},
	} {
		record, err := readDomain([]byte(`{"objectClassName":"domain","ldhName":"a.com",`+entity+`,"redacted":[`+test.redacted+`]}`), "a.com")
		if err != nil {
			t.Fatal(err)
		}
		d := record.Domain
		if diff := cmp.Diff(append([]string{}, test.registrant...), formatRedactions(d.Contacts[0].Redactions)); diff != "" ||
			d.Contacts[0].Redacted != (test.registrant != nil) {
			t.Errorf("%s: redacted %t, (-want +got):\n%s", name, d.Contacts[0].Redacted, diff)
		}
		if diff := cmp.Diff(append([]string{}, test.own...), formatRedactions(d.Redactions)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c := d.Contacts[1]; c.Redacted || c.Redactions == nil || len(c.Redactions) != 0 {
			t.Errorf("%s: the other contact: %+v", name, c)
		}
	}
}

// A reason that came before RFC 9537 is that of a remark, where IANA has registered it.
func TestReasonsOfRemarks(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{
		"object redacted due to authorization":   {"-: object redacted due to authorization"},
		"Object Truncated Due To Authorization":  {"-: object truncated due to authorization"},
		"object truncated due to excessive load": {},
		"Jane Doe asked for it":                  {},
	} {
		var e entity
		if err := json.Unmarshal([]byte(`{"remarks":[{"title":"REDACTED FOR PRIVACY","type":"`+kind+`"}]}`), &e); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, formatRedactions(e.redactions())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// However much is held back, its list has a bound, is marked where it was cut, and would be kept.
func TestRedactionsAreBounded(t *testing.T) {
	t.Parallel()
	for count, cut := range map[int]bool{30: false, 250: true} {
		var redacted []string
		for i := range count {
			redacted = append(redacted, fmt.Sprintf(`{"name":{"type":"Registrant %d"},"reason":{"type":%q}}`, i, strings.Repeat("x", 90)),
				fmt.Sprintf(`{"name":{"type":"ID %d"},"reason":{"type":%q}}`, i, strings.Repeat("x", 90)))
		}
		body := `{"objectClassName":"domain","ldhName":"a.com","redacted":[` + strings.Join(redacted[:min(len(redacted), 256)], ",") + `]}`
		record, err := readDomain([]byte(body), "a.com")
		if err != nil {
			t.Fatal(err)
		}
		d := record.Domain
		c := d.Contacts[0]
		if d.Truncated != cut || c.Truncated != cut || len(d.Redactions) == 0 || len(c.Redactions) == 0 {
			t.Errorf("%d: cut %t, %t; %d and %d listed", count, d.Truncated, c.Truncated, len(d.Redactions), len(c.Redactions))
		}
		record.URL = "https://rdap.site.com/domain/a.com"
		if !domainFits("a.com")(record) {
			t.Errorf("%d: it would not be kept", count)
		}
	}
}
