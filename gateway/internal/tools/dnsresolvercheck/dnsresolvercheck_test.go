package dnsresolvercheck

import (
	"errors"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestParseResolverCheck(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`null`: "A", `{}`: "A", `{"recordType":null}`: "A", `{"recordType":"A"}`: "A", `{"recordType":"AAAA"}`: "AAAA", `{"recordType":"CNAME"}`: "CNAME", `{"recordType":"MX"}`: "MX",
		`{"recordType":"NS"}`: "NS", `{"recordType":"TXT"}`: "TXT", `{"recordType":"CAA"}`: "CAA", `{"other":1}`: "A",
	} {
		c, err := parse(tool.Input{Text: "_dmarc.Example.com.", Options: toolstest.Options(t, body)})
		if err != nil || c.recordType != want || c.domain.String() != "_dmarc.example.com" ||
			c.LimitKey() != "_dmarc.example.com" {
			t.Errorf("%s: %+v, %v; want %s", body, c, err, want)
		}
	}
	for _, body := range []string{`{"recordType":"a"}`, `{"recordType":""}`, `{"recordType":"SOA"}`,
		`{"recordType":"ANY"}`, `{"recordType":1}`, `{"recordType":["A"]}`} {
		_, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, body)})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", body, err)
		}
	}
	_, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, `{"recordType":"PTR"}`)})
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Sentence(), "A, AAAA, CNAME, MX, NS, TXT, CAA") {
		t.Errorf("%v does not name what is allowed", err)
	}
}
