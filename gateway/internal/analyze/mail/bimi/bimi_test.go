package bimi

import (
	"net/url"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const logo, evidence = "https://example.com/logo.svg", "https://example.com/mark.pem"
	for name, c := range map[string]struct {
		txt            []string
		record, unused string // unused is a code
		logo, evidence string
		declined       bool
		want           []string
	}{
		"none":           {},
		"other texts":    {txt: []string{"v=spf1 -all", "hello"}},
		"complete":       {txt: []string{"v=BIMI1; l=" + logo + "; a=" + evidence}, logo: logo, evidence: evidence},
		"another beside": {txt: []string{"x", "v=BIMI1;l=" + logo + ";a=" + evidence + ";"}, record: "v=BIMI1;l=" + logo + ";a=" + evidence + ";", logo: logo, evidence: evidence},
		"newer tags":     {txt: []string{"v=BIMI1; l=" + logo + "; a=" + evidence + "; avp=brand; lps=a,b"}, logo: logo, evidence: evidence},
		"no evidence":    {txt: []string{"v=BIMI1; l=" + logo}, logo: logo, want: []string{"BIMI_NO_EVIDENCE"}},
		"empty evidence": {txt: []string{"v=BIMI1; l=" + logo + "; a="}, logo: logo, want: []string{"BIMI_NO_EVIDENCE"}},
		"compressed":     {txt: []string{"v=BIMI1; a=" + evidence + "; l=https://example.com/x/LOGO.SVGZ?v=1"}, logo: "https://example.com/x/LOGO.SVGZ?v=1", evidence: evidence},
		"another format": {txt: []string{"v=BIMI1; l=https://example.com/logo.png; a=" + evidence}, logo: "https://example.com/logo.png", evidence: evidence, want: []string{"BIMI_LOGO_FORMAT"}},
		"declined":       {txt: []string{"v=BIMI1; l=; a=;"}, declined: true, want: []string{"BIMI_DECLINED"}},
		"declined short": {txt: []string{"v=BIMI1; l="}, declined: true, want: []string{"BIMI_DECLINED"}},
		"no tags":        {txt: []string{"v=BIMI1"}, want: []string{"BIMI_NO_EVIDENCE", "BIMI_NO_LOGO"}},
		"evidence alone": {txt: []string{"v=BIMI1; l=; a=" + evidence}, evidence: evidence, want: []string{"BIMI_NO_LOGO"}},
		"http":           {txt: []string{"v=BIMI1; l=http://example.com/logo.svg; a=" + evidence}, evidence: evidence, want: []string{"BIMI_LOGO_INVALID"}},
		"script":         {txt: []string{"v=BIMI1; l=javascript:alert(1); a=" + evidence}, evidence: evidence, want: []string{"BIMI_LOGO_INVALID"}},
		"private host":   {txt: []string{"v=BIMI1; l=https://localhost/logo.svg; a=https://mark.internal/m.pem"}, want: []string{"BIMI_EVIDENCE_INVALID", "BIMI_LOGO_INVALID"}},
		"an address":     {txt: []string{"v=BIMI1; l=https://192.0.2.1/logo.svg; a=" + evidence}, evidence: evidence, want: []string{"BIMI_LOGO_INVALID"}},
		"two logos":      {txt: []string{"v=BIMI1; l=" + logo + "," + logo + "; a=" + evidence}, evidence: evidence, want: []string{"BIMI_LOGO_INVALID"}},
		"a tag twice":    {txt: []string{"v=BIMI1; l=" + logo + "; l=" + logo + "; a=" + evidence}, logo: logo, evidence: evidence, want: []string{"BIMI_TAG_TWICE"}},
		"nonsense":       {txt: []string{"v=BIMI1; nonsense; l=" + logo + "; a=" + evidence}, logo: logo, evidence: evidence, want: []string{"BIMI_SYNTAX"}},
		"several":        {txt: []string{"v=BIMI1; l=" + logo, "v=BIMI1; l="}, unused: "BIMI_SEVERAL_RECORDS"},
		"lower case":     {txt: []string{"v=bimi1; l=" + logo}, unused: "BIMI_VERSION"},
		"another number": {txt: []string{"v=BIMI2; l=" + logo}},
	} {
		r := Read(c.txt)
		if diff := cmp.Diff(append([]string{}, c.want...), mailtest.Codes(r.Issues)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if c.record == "" && r.Logo+r.Evidence != "" {
			c.record = c.txt[0]
		}
		unused := ""
		if r.Unused != nil {
			unused = r.Unused.Code
		}
		if r.Logo != c.logo || r.Evidence != c.evidence || r.Declined != c.declined ||
			c.record != "" && r.Record != c.record || unused != c.unused {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/mark.pem", "v=BIMI1; l=;",
		"v=bimi1; l=//x", "v=BIMI1; l=https://[::1]/; a=https://%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, record string) {
		r := Read([]string{record})
		for _, text := range []string{r.Logo, r.Evidence} {
			if parsed, err := url.Parse(text); text != "" && (err != nil || parsed.Scheme != "https" || parsed.Host == "") {
				t.Fatalf("%q is reported as a URL", text)
			}
		}
		if r.Record != "" && r.Logo == "" && !r.Declined && !r.Issues.HasCode("BIMI_NO_LOGO") &&
			!r.Issues.HasCode("BIMI_LOGO_INVALID") {
			t.Fatalf("%q has no logo and no fault", record)
		}
		mailtest.Showable(t, r.Issues)
	})
}
