package emaildnshealth

import (
	"context"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"

	"github.com/google/go-cmp/cmp"
)

// dmarcZone has DMARC records by domain.
type dmarcZone map[string][]string

func (z dmarcZone) TXT(_ context.Context, name string) ([]string, error) {
	records, known := z[strings.TrimPrefix(name, "_dmarc.")]
	if !known {
		return nil, mail.ErrNotFound
	}
	return records, nil
}

func TestAdviceOnDMARC(t *testing.T) {
	t.Parallel()
	const rua = "; rua=mailto:r@example.com"
	for _, c := range []struct {
		zone   []string // pairs of a domain and its record
		domain string
		code   string
		want   string
	}{
		{[]string{"example.com", "v=dmarc1; p=none"}, "example.com", "DMARC_VERSION", `_dmarc.example.com has a TXT record that is not recognized as DMARC: "v=dmarc1; p=none". The value of v must be DMARC1, in capitals.`},
		{[]string{"example.com", "V=DMARC1 p=none"}, "example.com", "DMARC_VERSION", `_dmarc.example.com has a TXT record that is not recognized as DMARC: "V=DMARC1 p=none". It must begin with v=DMARC1 and a semicolon.`},
		{[]string{"example.com", " v=DMARC1"}, "a.example.com", "DMARC_LEADING_BLANK", `_dmarc.example.com has a TXT record that is not recognized as DMARC: " v=DMARC1". Remove the space before v=DMARC1.`},

		{[]string{"example.com", "v=DMARC1; p=reject; sp=none" + rua}, "example.com", "DMARC_SUBDOMAIN_POLICY_WEAKER",
			"Names below example.com have the weaker policy none, so mail from them can be forged. Raise sp, or remove it, in the record at _dmarc.example.com."},
		{[]string{"example.com", "v=DMARC1; p=quarantine; sp=none" + rua, "a.example.com", "v=DMARC1; p=reject" + rua}, "a.example.com", "DMARC_SUBDOMAIN_POLICY_WEAKER",
			"Names below a.example.com have the weaker policy none, so mail from them can be forged. Raise sp in the record at _dmarc.example.com."},
		{[]string{"example.com", "v=DMARC1; p=none" + rua, "a.example.com", "v=DMARC1; p=reject" + rua}, "a.example.com", "DMARC_SUBDOMAIN_POLICY_WEAKER",
			"Names below a.example.com have the weaker policy none, so mail from them can be forged. Raise p, or add sp=reject, in the record at _dmarc.example.com."},
		{[]string{"example.com", "v=DMARC1; p=rejected" + rua, "a.example.com", "v=DMARC1; p=reject" + rua}, "a.example.com", "DMARC_SUBDOMAIN_POLICY_WEAKER",
			"Names below a.example.com have the weaker policy none, so mail from them can be forged: the record at _dmarc.example.com has a policy that is not valid. Correct it."},
		{[]string{"example.com", "v=DMARC1; p=reject; np=none" + rua}, "example.com", "DMARC_NONEXISTENT_POLICY_WEAKER",
			"Names below example.com that do not exist have the weaker policy none, so mail from them can be forged. Raise np, or remove it, in the record at _dmarc.example.com."},
		{[]string{"example.com", "v=DMARC1; p=reject" + rua, "a.example.com", "v=DMARC1; p=reject; sp=none" + rua}, "a.example.com", "DMARC_SP_IGNORED",
			"The tag sp has no effect in the record at _dmarc.a.example.com: names below a.example.com follow the record at _dmarc.example.com."},
		{[]string{"example.com", "v=DMARC1; p=reject" + rua, "a.example.com", "v=DMARC1; p=reject; sp=none; np=none" + rua}, "a.example.com", "DMARC_SP_IGNORED",
			"The tags sp and np have no effect in the record at _dmarc.a.example.com: names below a.example.com follow the record at _dmarc.example.com."},

		{[]string{"example.com", "v=DMARC1; p=none" + rua}, "example.com", "DMARC_POLICY_NONE",
			"The policy is none, so forged mail is delivered like any other. Once the reports look right, use p=quarantine and then p=reject."},
		{[]string{"example.com", "v=DMARC1; p=reject; sp=none" + rua}, "a.example.com", "DMARC_POLICY_NONE",
			"The policy is none, so forged mail is delivered like any other. Once the reports look right, raise sp to quarantine and then reject in the record at _dmarc.example.com, or publish a record at _dmarc.a.example.com."},
		{[]string{"example.com", "v=DMARC1; p=none" + rua}, "a.example.com", "DMARC_POLICY_NONE",
			"The policy is none, so forged mail is delivered like any other. Once the reports look right, raise p to quarantine and then reject in the record at _dmarc.example.com, or publish a record at _dmarc.a.example.com."},
		{[]string{"example.com", "v=DMARC1; p=reject"}, "a.example.com", "DMARC_NO_REPORTS",
			"No aggregate reports are requested. Add rua=mailto:… to the record at _dmarc.example.com to see who sends in your name."},

		{[]string{"example.com", "v=DMARC1; p=reject; t=y" + rua}, "example.com", "DMARC_TEST_MODE",
			"The record at _dmarc.example.com says t=y, so receivers apply its policy one step milder, quarantine instead of reject. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over."},
		{[]string{"example.com", "v=DMARC1; p=quarantine; t=y" + rua}, "a.example.com", "DMARC_TEST_MODE",
			"The record at _dmarc.example.com says t=y, so receivers apply its policy one step milder, none instead of quarantine. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over."},
		{[]string{"example.com", "v=DMARC1; p=reject; sp=quarantine; np=none; t=y" + rua}, "example.com", "DMARC_TEST_MODE",
			"The record at _dmarc.example.com says t=y, so receivers apply its policy one step milder, quarantine instead of reject, none instead of quarantine. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over."},
		{[]string{"example.com", "v=DMARC1; p=reject; t=y" + rua, "a.example.com", "v=DMARC1; p=reject" + rua}, "a.example.com", "DMARC_TEST_MODE",
			"The record at _dmarc.example.com says t=y, so receivers apply its policy to names below a.example.com one step milder, quarantine instead of reject. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over."},
		{[]string{"example.com", "v=DMARC1; p=none; t=y" + rua}, "example.com", "DMARC_TEST_MODE",
			"The record at _dmarc.example.com says t=y, which has no effect on the policy none. Remove it."},
	} {
		zone, got := dmarcZone{}, []string{}
		for i := 0; i < len(c.zone); i += 2 {
			zone[c.zone[i]] = append(zone[c.zone[i]], c.zone[i+1])
		}
		for _, fact := range dmarc.Check(t.Context(), zone, c.domain).Issues {
			if i := issueOf(fact); i.Code == c.code {
				got = append(got, i.Message)
			}
		}
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s of %v: %s", c.domain, c.zone, diff)
		}
	}
}
