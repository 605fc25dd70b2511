package registration

import (
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/text"
)

func announced(prefix string, numbers ...uint32) (out []asn.Announcement) {
	for _, n := range numbers {
		out = append(out, asn.Announcement{Record: asn.Record{ASN: n, Prefix: netip.MustParsePrefix(prefix)}})
	}
	return out
}

func TestSeveralOrigins(t *testing.T) {
	t.Parallel()
	wide := announced("11.90.0.0/16", 9)
	for name, test := range map[string]struct {
		records []asn.Announcement
		want    string
	}{
		"none":              {nil, ""},
		"one":               {announced("11.90.0.0/24", 1), ""},
		"one in another's":  {append(announced("11.90.0.0/24", 1), wide...), ""},
		"two":               {announced("11.90.0.0/24", 1, 2), "AS1 and AS2"},
		"two in another's":  {append(announced("11.90.0.0/24", 1, 2), wide...), "AS1 and AS2"},
		"as many as named":  {announced("11.90.0.0/24", 1, 2, 3, 4), "AS1, AS2, AS3 and AS4"},
		"more than named":   {announced("11.90.0.0/24", 1, 2, 3, 4, 5), "AS1, AS2, AS3, AS4 and 1 more"},
		"many around a one": {append(announced("11.90.0.0/24", 1), announced("11.90.0.0/16", 2, 3)...), ""},
	} {
		got := ""
		if args := SeveralOrigins(test.records); args != nil {
			got = text.Listed(args["networks"].([]string))
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, problem := range Rows.Check() {
		t.Error(problem)
	}
}
