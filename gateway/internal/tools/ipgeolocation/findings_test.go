package ipgeolocation

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestReport(t *testing.T) {
	t.Parallel()
	address, err := target.ParseAddress("1.1.1.1")
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no answer")
	network := &rdap.Network{Allocation: rdap.Allocation{Handle: "NET-1"}}
	held := &rdap.Network{Allocation: network.Allocation, Organization: new("A Holder"), Country: new("AU"),
		AbuseContact: new("abuse@holder.example")}
	registered := func(n *rdap.Network) registeredIn { return registeredIn{NetworkAnswer: rdap.NetworkAnswer{Network: n}} }
	prefix := netip.MustParsePrefix("1.1.1.0/24")
	announced := func(origins ...uint32) announcedBy {
		var a announcedBy
		for _, number := range origins {
			a.Records = append(a.Records, asn.Announcement{Record: asn.Record{ASN: number, Prefix: prefix}})
		}
		return a
	}
	nameless := announced(1)
	nameless.NamesMissing = true
	for name, c := range map[string]struct {
		registered registeredIn
		announced  announcedBy
		named      namedAs
		code       string
		state      finding.State
		findings   string
	}{
		"a holder":         {registered(held), announced(1), namedAs{}, codeHolder, finding.OK, ""},
		"a network":        {registered(network), announced(1), namedAs{}, codeNetwork, finding.OK, ""},
		"not announced":    {registered(held), announced(), namedAs{}, codeUnused, finding.Warned, registration.CodeNotAnnounced},
		"several origins":  {registered(held), announced(1, 2), namedAs{}, codeHolder, finding.OK, registration.CodeSeveralOrigins},
		"a missing name":   {registered(held), nameless, namedAs{err: failed}, codeHolder, finding.OK, codeHostnameMissing + " " + registration.CodeNamesMissing},
		"no ASN service":   {registered(held), announcedBy{err: failed}, namedAs{}, codeHolder, finding.OK, codeASNMissing},
		"no registry":      {registeredIn{err: failed}, announced(1), namedAs{}, codeAnnounced, finding.Unknown, codeRegistryMissing},
		"no registration":  {registered(nil), announced(1), namedAs{}, codeAnnounced, finding.Unknown, codeRegistryMissing},
		"nothing is known": {registered(nil), announced(), namedAs{}, codeNothing, finding.Unknown, registration.CodeNotAnnounced + " " + codeRegistryMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := describeLocation(address, c.registered, c.announced, c.named).Report
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			if got.Conclusion.Code != c.code || got.Conclusion.State != c.state || strings.Join(codes, " ") != c.findings {
				t.Errorf("%+v", got)
			}
			if meaning := got.Conclusion.Meaning; name == "a holder" && !strings.Contains(*meaning, "abuse@holder.example") {
				t.Errorf("the meaning names no contact for abuse: %s", *meaning)
			}
		})
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
