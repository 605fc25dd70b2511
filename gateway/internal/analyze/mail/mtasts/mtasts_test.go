package mtasts

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"

	"github.com/google/go-cmp/cmp"
)

func TestReadRecord(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", 32)
	for _, c := range []struct {
		txt   []string
		found bool
		id    string
		want  []string
	}{
		{nil, false, "", nil},
		{[]string{"v=STSv1; id=20260101T000000;"}, true, "20260101T000000", nil},
		{[]string{"v=STSv1;id=1;ext=x", "other"}, true, "1", nil},
		{[]string{"v=STSv1; id=" + longest}, true, longest, nil},
		{[]string{"v=STSv1; id=" + longest + "a"}, true, "", []string{"MTASTS_ID"}},
		{[]string{"v=STSv1; id=a-b"}, true, "", []string{"MTASTS_ID"}},
		{[]string{"v=STSv1"}, true, "", []string{"MTASTS_ID_MISSING"}},
		{[]string{"v=STSv1; x; id=1"}, true, "1", []string{"MTASTS_RECORD_SYNTAX"}},
		{[]string{"v=STSv1; id=1", "v=STSv1; id=2"}, true, "", []string{"MTASTS_SEVERAL_RECORDS"}},
		{[]string{"v=stsv1; id=1"}, false, "", []string{"MTASTS_VERSION"}},
		{[]string{"v=STSv1 ; id=1"}, true, "1", nil},
		{[]string{" v=STSv1; id=1"}, false, "", []string{"MTASTS_VERSION"}},
		{[]string{"v = STSv1; id=1"}, false, "", []string{"MTASTS_VERSION"}},
		{[]string{"V=STSv1; id=1"}, false, "", []string{"MTASTS_VERSION"}},
		{[]string{"v=STSv2; id=1"}, false, "", nil},
	} {
		r := ReadRecord(c.txt)
		if diff := cmp.Diff(append([]string{}, c.want...), mailtest.Codes(r.Issues)); diff != "" ||
			r.Found != c.found || r.ID != c.id {
			t.Errorf("%q: %+v %s", c.txt, r, diff)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	const tail = "mode: enforce\nmx: a.com\nmax_age: 604800\n"
	for text, want := range map[string][]string{
		"version: STSv1\n" + tail:                                            nil,
		strings.ReplaceAll("version: STSv1\n"+tail, "\n", "\r\n"):            nil,
		"version:STSv1\nmode:\tenforce  \nmx:   A.com\nmax_age: 604800":      nil,
		"version: STSv1\n\n" + tail + "ext: a value\n":                       nil,
		"version: STSv1\nmode: none\nmax_age: 86400\n":                       nil,
		"version: STSv1\nmode: testing\nmx: *.a.com\nmax_age: 31557600\n":    nil,
		"version: STSv1\nmode: testing\nmx: *.a.com\nmax_age: 31557601\n":    {"MTASTS_MAX_AGE"},
		"version: STSv1\nmode: testing\nmx: *.a.com\nmax_age: 00000000001\n": {"MTASTS_MAX_AGE"},
		"version: STSv1\nmode: testing\nmx: *.a.com\nmax_age: -1\n":          {"MTASTS_MAX_AGE"},
		"version: STSv1\nmode: testing\nmx: *.a.com\nmax_age: 86399\n":       {"MTASTS_MAX_AGE_SHORT"},
		tail + "version: STSv1\n":                                            {"MTASTS_VERSION_NOT_FIRST"},

		tail: {"MTASTS_KEY_ABSENT", "MTASTS_VERSION_NOT_FIRST"},

		"version: STSv2\n" + tail:                                                              {"MTASTS_POLICY_VERSION"},
		"version: STSv1\nmode: Enforce\nmx: a.com\nmax_age: 604800\n":                          {"MTASTS_MODE"},
		"version: STSv1\nmode: enforce\nmax_age: 604800\n":                                     {"MTASTS_MX_LINE_ABSENT"},
		"version: STSv1\nmx: a.com\n":                                                          {"MTASTS_KEY_ABSENT", "MTASTS_KEY_ABSENT"},
		"version: STSv1\nmode: enforce\nmode: none\nmx: a.com\nmax_age: 604800":                {"MTASTS_KEY_TWICE"},
		"version: STSv1\nnonsense\n" + tail:                                                    {"MTASTS_POLICY_SYNTAX"},
		"version: STSv1\n: x\n" + tail:                                                         {"MTASTS_POLICY_SYNTAX"},
		"version: STSv1\nx: \x00\n" + tail:                                                     {"MTASTS_POLICY_SYNTAX"},
		"version: STSv1\nmx: *\n" + tail:                                                       {"MTASTS_PATTERN"},
		"version: STSv1\nmx: a.*.com\n" + tail:                                                 {"MTASTS_PATTERN"},
		"version: STSv1\nmx: a*.com\n" + tail:                                                  {"MTASTS_PATTERN"},
		"version: STSv1\nmx: .a.com\n" + tail:                                                  {"MTASTS_PATTERN"},
		"version: STSv1\nmx: a.com.\n" + tail:                                                  {"MTASTS_PATTERN"},
		"version: STSv1\n" + strings.Repeat("mx: a.com\n", 200) + "mode: none\nmax_age: 86400": nil,
		"version: STSv1\n" + strings.Repeat("mx: a.com\n", 201) + "mode: none\nmax_age: 86400": {"MTASTS_TOO_MANY_PATTERNS"},
	} {
		if diff := cmp.Diff(append([]string{}, want...), mailtest.Codes(ParsePolicy(text).Issues)); diff != "" {
			t.Errorf("%.90q: %s", text, diff)
		}
	}
	p := ParsePolicy("version: STSv1\nmode: enforce\nmode: none\nmx: A.com\nmx: *.b.com\nmax_age: 604800\n")
	if p.Mode != "enforce" || p.MaxAge != 604800 || fmt.Sprint(p.MX) != "[a.com *.b.com]" {
		t.Errorf("%+v", p)
	}
	if p := ParsePolicy(""); p.MaxAge != -1 || p.MX == nil {
		t.Errorf("%+v", p)
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	p := Policy{MX: []string{"mail.a.com", "*.b.com"}}
	for exchange, want := range map[string]bool{
		"mail.a.com": true, "x.b.com": true, "a.com": false, "x.mail.a.com": false, "b.com": false, "x.y.b.com": false, ".b.com": false, "xb.com": false, "": false,
	} {
		if got := p.Covers(exchange); got != want {
			t.Errorf("%q: %t", exchange, got)
		}
	}
}
