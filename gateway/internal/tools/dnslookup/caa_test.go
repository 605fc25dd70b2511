package dnslookup

import (
	"strings"
	"testing"
)

// TestCAA: who may issue is what an authority makes of the records (RFC 8659), and not known where they are.
func TestCAA(t *testing.T) {
	t.Parallel()
	for records, want := range map[string]struct{ codes, says string }{
		`0 issue "ca.net"`:                                {codeCAAIssuers, "Only ca.net may issue certificates for example.com"},
		`0 issue " "`:                                     {codeCAANoIssuer, "No authority may issue certificates"},
		`128 tbs "Unknown"`:                               {codeCAACritical, `“128 tbs "Unknown"”`},
		`0 issue "%%%%%"`:                                 {codeCAAUnparsable + " " + codeCAANoIssuer, `“0 issue "%%%%%"”`},
		`0 tbs "Unknown"`:                                 {codeCAAAny, "Any authority may issue"},
		`0 iodef "mailto:a@b.net"`:                        {codeCAAAny + " " + codeCAAReports, "do not restrict that"},
		`0 issuewild "ca.net"`:                            {codeCAAAny + " " + codeCAAWildcards, ""},
		`0 issue "a.net";128 tbs "x"`:                     {codeCAACritical, "No authority may issue"},
		`0 issue "a.net";0 issuewild ""`:                  {codeCAAIssuers + " " + codeCAANoWildcards, ""},
		`0 issue "a.net";0 issuewild "b.net"`:             {codeCAAIssuers + " " + codeCAAWildcards, ""},
		`0 issue "a.net";0 issuewild "a.net"`:             {codeCAAIssuers, ""},
		`0 issue "a.net";0 issue "b.net";0 issue "a.net"`: {codeCAAIssuers, "Only a.net and b.net may"},
		"ESERVFAIL":                                       {codeCAANotKnown + " " + codeFails, ""},
		"ETIMEOUT":                                        {codeCAANotKnown + " " + codeNotLookedUp, ""},
		"ENODATA":                                         {codeNoRecord, ""},
	} {
		var codes []string
		var said string
		for _, f := range answersOf(t, map[string]string{"CAA": records}).report().Findings {
			codes, said = append(codes, f.Code), said+f.Message
		}
		if !sameWords(codes, strings.Fields(want.codes)) || !strings.Contains(said, want.says) {
			t.Errorf("%s: %v %q", records, codes, said)
		}
	}
}

// sameWords reports whether two lists have the same elements.
func sameWords(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// Records of which more came than are kept decide nothing.
func TestCAAOfACutAnswer(t *testing.T) {
	t.Parallel()
	o := answersOf(t, map[string]string{"CAA": `0 issue "ca.net"`})
	o.answers[0].Cut = true
	if got := o.report().Findings; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
