package emaildnshealth

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestParseMailDomain(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, label[:61]}, ".")
	for typed, want := range map[string]string{
		"selector1": "selector1", "SELECTOR1": "selector1", "20230601": "20230601", "s1.Example": "s1.example", "_x": "_x", "x_": "x_", "a-b": "a-b", "a--b": "a--b", "": "", "_": "_",
		label: label, longest: longest,
	} {
		body, err := json.Marshal(map[string]string{"dkimSelector": typed})
		if err != nil {
			t.Fatal(err)
		}
		d, err := parse(tool.Input{Text: "Example.com", Options: toolstest.Options(t, string(body))})
		if err != nil || d.selector != want || d.domain.String() != "example.com" || d.LimitKey() != "example.com" {
			t.Errorf("%.40q: %+v, %v; want %.40q", typed, d, err, want)
		}
	}
	if len(longest) != 253 {
		t.Fatalf("the longest selector has %d characters", len(longest))
	}
	for _, typed := range []string{
		" ", "a b", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "a-.b", "a*b", "a;b", "sélector", "\u212A", "a\nb", label + "a", longest + "a", "a/b", "a@b", "$(id)",
	} {
		body, err := json.Marshal(map[string]string{"dkimSelector": typed})
		if err != nil {
			t.Fatal(err)
		}
		_, err = parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, string(body))})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != "dkimSelector" {
			t.Errorf("%.40q: %v, want Invalid, about the selector", typed, err)
		}
	}
	for _, body := range []string{`null`, `{}`, `{"dkimSelector":null}`} {
		if d, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, body)}); err != nil ||
			d.selector != "" {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
	for _, body := range []string{`{"dkimSelector":1}`, `{"dkimSelector":["a"]}`, `{"dkimSelector":{}}`} {
		if _, err := parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, body)}); !fault.Is(err,
			fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", body, err)
		}
	}
	if _, err := parse(tool.Input{Text: "julia_b.example.com"}); err != nil {
		t.Errorf("an underscore in a mail domain: %v", err)
	}
	if _, err := parse(tool.Input{Text: "_dmarc.com"}); !fault.Is(err, fault.Refused) {
		t.Errorf("an underscore that no registry allows: %v", err)
	}
}
