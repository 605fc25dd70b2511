package rdap

import (
	"net/netip"
	"testing"
)

func TestUnpadded(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"192.000.002.000": "192.0.2.0", "192.000.002.255": "192.0.2.255", "010.020.030.040": "10.20.30.40",
		"192.0.2.1": "192.0.2.1", "192.000.002.000/024": "192.0.2.0/24", "192.0.2.0/00": "192.0.2.0/0",
		"000.000.000.000/8": "0.0.0.0/8",
		// Not ours to read otherwise.
		"2001:0db8::": "2001:0db8::", "::ffff:192.000.002.001": "::ffff:192.000.002.001", "0192.0.2.1": "0192.0.2.1",
		"192.000.002": "192.000.002", "192.000.002.000.000": "192.000.002.000.000", "": "", "0": "0", "...": "...",
		"NET-192-000": "NET-192-000",
	} {
		if got := unpadded(written); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

// The ends of a range and the prefixes of cidr0 in columns of one width, and what must not be read as such.
func TestNetworksInColumnsOfOneWidth(t *testing.T) {
	t.Parallel()
	addr := netip.MustParseAddr("192.0.2.77")
	for name, test := range map[string]struct {
		object string
		want   string // start, end and the first prefix
	}{
		"both ends":          {`"startAddress":"192.000.002.000","endAddress":"192.000.002.255"`, "192.0.2.0 192.0.2.255 192.0.2.0/24"},
		"one end":            {`"startAddress":"192.0.2.0","endAddress":"192.000.002.127"`, "192.0.2.0 192.0.2.127 192.0.2.0/25"},
		"a prefix at an end": {`"startAddress":"192.000.002.000/024","endAddress":"192.000.002.000/024"`, "192.0.2.0 192.0.2.255 192.0.2.0/24"},
		"the prefixes alone": {`"cidr0_cidrs":[{"v4prefix":"192.000.002.064","length":"026"}]`, "192.0.2.64 192.0.2.127 192.0.2.64/26"},
		"not octal":          {`"startAddress":"192.000.002.010","endAddress":"192.000.002.077"`, "192.0.2.10 192.0.2.77 192.0.2.10/31"},
		"an octet too great": {`"startAddress":"192.000.002.000","endAddress":"192.000.002.256"`, ""},
		"an octet too many":  {`"startAddress":"192.000.002.000","endAddress":"192.000.002.000.255"`, ""},
		"an octet too long":  {`"startAddress":"0192.000.002.000","endAddress":"192.000.002.255"`, ""},
	} {
		record, err := readNetwork([]byte(`{"objectClassName":"ip network",`+test.object+`}`), addr)
		got := ""
		if err == nil {
			n := record.Network
			got = n.StartAddress + " " + n.EndAddress + " " + n.CIDRs[0]
			if !networkFits(addr)(networkRecord{URL: "https://rdap.site.com/ip/192.0.2.77", Network: n}) {
				t.Errorf("%s: it would not be kept", name)
			}
		}
		if got != test.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, test.want)
		}
	}
}
