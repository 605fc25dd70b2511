package caa

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The list names each organization once, its names are such as records hold, and each has its source.
func TestIssuers(t *testing.T) {
	t.Parallel()
	if _, err := time.Parse(time.DateOnly, IssuersDate); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, i := range issuers {
		if len(i.organizations) == 0 || len(i.names) == 0 || !strings.HasPrefix(i.source, "https://") {
			t.Errorf("incomplete: %+v", i)
		}
		for _, o := range i.organizations {
			if seen[o] {
				t.Errorf("%s is listed twice", o)
			}
			seen[o] = true
			if !slices.Equal(Names(o), i.names) {
				t.Errorf("%s: %v", o, Names(o))
			}
		}
		for _, name := range i.names {
			if got, ok := Issuer(name); !ok || got != name {
				t.Errorf("%q is no issuer-domain-name", name)
			}
		}
	}
	if Names("") != nil || Names("Nobody") != nil {
		t.Error("names of nobody")
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	issue := func(v string) Record { return Record{Tag: "issue", Value: v} }
	wild := func(v string) Record { return Record{Tag: "issuewild", Value: v} }
	mine := []string{"ca.example", "old.example"}
	for _, c := range []struct {
		name    string
		records []Record
		names   []string
		want    [2]string // of a name, of a wildcard
	}{
		{"none", nil, mine, [2]string{"true", "true"}},
		{"none, not listed", nil, nil, [2]string{"true", "true"}},
		{"mine", []Record{issue("ca.example")}, mine, [2]string{"true", "true"}},
		{"in other letters", []Record{issue("CA.Example")}, mine, [2]string{"true", "true"}},
		{"an older name", []Record{issue("x.example"), issue("old.example; accounturi=https://a/1")}, mine,
			[2]string{"true", "true"}},
		{"another's", []Record{issue("x.example")}, mine, [2]string{"false", "false"}},
		{"not listed", []Record{issue("x.example")}, nil, [2]string{"null", "null"}},
		{"nobody", []Record{issue(";")}, nil, [2]string{"false", "false"}},
		{"malformed", []Record{issue("%%%%")}, mine, [2]string{"false", "false"}},
		{"no wildcards", []Record{issue("ca.example"), wild(";")}, mine, [2]string{"true", "false"}},
		{"wildcards alone", []Record{wild("ca.example")}, mine, [2]string{"true", "true"}},
		{"another's wildcards", []Record{wild("x.example")}, mine, [2]string{"true", "false"}},
		{"mail is another matter", []Record{{Tag: "issuemail", Value: ";"}}, mine, [2]string{"true", "true"}},
		{"reports alone", []Record{{Tag: "iodef", Value: "mailto:a@b.example"}}, mine, [2]string{"true", "true"}},
		{"critical", []Record{issue("ca.example"), {Flags: 128, Tag: "tbs", Value: "x"}}, mine, [2]string{"false", "false"}},
	} {
		p := Read(c.records)
		for i, isWild := range []bool{false, true} {
			got := "null"
			if permitted := p.Permits(isWild, c.names); permitted != nil {
				got = map[bool]string{true: "true", false: "false"}[*permitted]
			}
			if got != c.want[i] {
				t.Errorf("%s, wildcard %t: %s, want %s", c.name, isWild, got, c.want[i])
			}
		}
	}
}
