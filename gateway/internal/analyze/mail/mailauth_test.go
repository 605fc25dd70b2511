package mail

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"diagnostics/gateway/internal/tool/finding"

	"github.com/google/go-cmp/cmp"
)

func TestParseTags(t *testing.T) {
	t.Parallel()
	tags, broken := ParseTags(" v = X ;a=1;; b_2=x=y ; 3=no ; none; =x;a=2;e=")
	want := Tags{{"v", "X"}, {"a", "1"}, {"b_2", "x=y"}, {"a", "2"}, {"e", ""}}
	if diff := cmp.Diff(want, tags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3=no", "none", "=x"}, broken); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, tags.Doubles()); diff != "" {
		t.Error(diff)
	}
	if value, ok := tags.Get("a"); value != "1" || !ok {
		t.Errorf("%q, %t", value, ok)
	}
	if _, ok := tags.Get("z"); ok {
		t.Error("a tag that is not there")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for record, want := range map[string][3]bool{
		"v=DMARC1": {true, true, false}, "v=DMARC1;p=none": {true, true, false}, "v=DMARC1 \t;p=none": {true, true, false},
		" v = DMARC1 ; p=none": {true, false, true}, " v=DMARC1": {true, false, true}, "v= DMARC1": {true, false, true}, "v =DMARC1": {true, false, true},
		"v=DMARC1 p=none": {false, false, true}, "v=dmarc1;": {false, false, true}, "V=DMARC1": {false, false, true}, "DMARC1; p=none": {false, false, true},
		`"v=DMARC1; p=none"`: {false, false, true}, "v=DMARC12": {false, false, true}, "p=none; v=DMARC1": {}, "": {}, "v=spf1": {},
	} {
		got := [3]bool{HasVersion(record, "DMARC1"), startsWithVersion(record, "DMARC1"), NearVersion(record, "DMARC1")}
		if got != want {
			t.Errorf("%q: %v, want %v", record, got, want)
		}
	}
}

func TestParseReportURI(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		uri     ReportURI
		problem string
	}{
		"mailto:d@Example.com":             {ReportURI{"mailto:d@Example.com", "mailto", "example.com", ""}, ""},
		" mailto:d@example.com!10m ":       {ReportURI{"mailto:d@example.com", "mailto", "example.com", "10m"}, ""},
		"MAILTO:d@example.com.":            {ReportURI{"MAILTO:d@example.com.", "mailto", "example.com", ""}, ""},
		"mailto:a%2Bb@example.com?subject": {ReportURI{"mailto:a%2Bb@example.com?subject", "mailto", "example.com", ""}, ""},
		"https://Example.com:8443/r":       {ReportURI{"https://Example.com:8443/r", "https", "example.com", ""}, ""},
		"d@example.com":                    {ReportURI{Text: "d@example.com"}, "REPORT_URI_WITHOUT_MAILTO"},
		"mailto:":                          {ReportURI{Text: "mailto:", Scheme: "mailto"}, "REPORT_URI_WITHOUT_ADDRESS"},
		"mailto:example.com":               {ReportURI{Text: "mailto:example.com", Scheme: "mailto"}, "REPORT_URI_SEVERAL_ADDRESSES"},
		"mailto:@example.com":              {ReportURI{Text: "mailto:@example.com", Scheme: "mailto"}, "REPORT_URI_SEVERAL_ADDRESSES"},
		"mailto:a@b@example.com":           {ReportURI{Text: "mailto:a@b@example.com", Scheme: "mailto"}, "REPORT_URI_SEVERAL_ADDRESSES"},
		"mailto:d@":                        {ReportURI{Text: "mailto:d@", Scheme: "mailto"}, "REPORT_URI_WITHOUT_DOMAIN"},
		"mailto:d@a;b":                     {ReportURI{Text: "mailto:d@a;b", Scheme: "mailto", Host: "a;b"}, "REPORT_URI_WITHOUT_DOMAIN"},
		"mailto: d@example.com":            {ReportURI{Text: "mailto: d@example.com"}, "REPORT_URI_CHARACTERS"},
		"mailto:d@exämple.com":             {ReportURI{Text: "mailto:d@exämple.com"}, "REPORT_URI_CHARACTERS"},
		"https:///x":                       {ReportURI{Text: "https:///x", Scheme: "https"}, "REPORT_URI_WITHOUT_HOST"},
		"%zz":                              {ReportURI{Text: "%zz"}, "REPORT_URI_INVALID"},
		"":                                 {ReportURI{}, "REPORT_URI_WITHOUT_HOST"},
	} {
		uri, problem := ParseReportURI(in)
		if diff := cmp.Diff(want.uri, uri); diff != "" || problem != want.problem {
			t.Errorf("%q: %q, %s", in, problem, diff)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a b": "a b", "a\nb\x1b[0m\u202e": "a\uFFFDb\uFFFD[0m\uFFFD", "\xff": "\uFFFD",
		strings.Repeat("é", 80): strings.Repeat("é", 80), strings.Repeat("é", 81): strings.Repeat("é", 80) + "…",
	} {
		if got := Show(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	if Failure(nil) != nil || Failure(fmt.Errorf("x: %w", ErrNotFound)) != nil {
		t.Error("an answer is no failure")
	}
	if f := Failure(fmt.Errorf("x: %w", &LookupError{Code: "ETIMEOUT"})); f == nil || f.Code != "ETIMEOUT" {
		t.Errorf("%v", f)
	}
	if f := Failure(errors.New("x")); f == nil || f.Code != "EBADRESP" {
		t.Errorf("%v", f)
	}
	for _, code := range []string{"ETIMEOUT", "ESERVFAIL", "EREFUSED", CodeBound, CodeLong, CodeName, CodeBusy} {
		e := &LookupError{Code: code}
		if reason, _ := e.Reason(); reason == "" || !strings.Contains(e.Error(), code) {
			t.Errorf("%s: %q, %q", code, reason, e.Error())
		}
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	var list Issues
	for i := range 2 * maxIssues {
		list.Add("SAME", finding.Args{"name": "a"})
		list.Add("OTHER", finding.Args{"number": i})
	}
	if len(list) != maxIssues || !list.HasCode("SAME") || list.HasCode("NONE") {
		t.Errorf("%d issues", len(list))
	}
	list.Add("LAST", finding.Args{"number": 1})
	list.Add("LAST", finding.Args{"number": 2})
	if len(list) != maxIssues+1 || !list.HasCode("LAST") {
		t.Errorf("%d issues", len(list))
	}
	if !Under("a.b", "b") || !Under("b", "b") || Under("ab", "b") || Under("b", "a.b") {
		t.Error("Under")
	}
}

func FuzzParseReportURI(f *testing.F) {
	for _, seed := range []string{"mailto:d@example.com!10m", "https://example.com:8443/r", "mailto:%zz@x", "x@y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		uri, problem := ParseReportURI(s)
		if problem == "" && (uri.Host == "" || uri.Scheme == "" || strings.ContainsAny(uri.Host, " \t\n@")) {
			t.Fatalf("%q: %+v", s, uri)
		}
		if shown := Show(s); !utf8.ValidString(shown) || utf8.RuneCountInString(shown) > maxShown+1 ||
			strings.ContainsAny(shown, "\n\r\x1b") {
			t.Fatalf("%q is shown as %q", s, shown)
		}
		ParseTags(s)
	})
}
