package probing

import (
	"errors"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// A failure names the option family where another choice would mend it, and not where the target only looks like it.
func TestFailuresNameTheFamily(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, options string
		option              string
	}{
		{"an unknown family", "example.com", `{"family":"ipv5"}`, "family"},
		{"an address of the other family", "8.8.8.8", `{"family":"ipv6"}`, "family"},
		{"a name that is not public", "family.local", `{"family":"ipv6"}`, ""},
	} {
		_, err := Parse(tool.Input{Text: c.text, Options: toolstest.Options(t, c.options)})
		var f *fault.Error
		if !errors.As(err, &f) || f.Option != c.option {
			t.Errorf("%s: %#v, want one about %q", c.name, err, c.option)
		}
	}
	host, err := Parse(tool.Input{Text: "example.com", Options: toolstest.Options(t, `{"family":"ipv6"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = chooseAddress(host, []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil, []int{4, 6})
	var f *fault.Error
	if !errors.As(err, &f) || f.Option != "family" {
		t.Errorf("a name without an address of the family: %#v", err)
	}
}
