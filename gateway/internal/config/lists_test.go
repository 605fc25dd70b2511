package config

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"diagnostics/daemon/files"
	"diagnostics/gateway/internal/limits/requests"
)

func TestLists(t *testing.T) {
	t.Parallel()
	text := []byte("\ufeff# comment\n\n 192.0.2.1 # one\r\n192.0.2.77/24\n2001:db8::/32\n#end")
	got, err := ParseNetworkList(text)
	want := []netip.Prefix{
		netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32"),
	}
	if err != nil || !slices.Equal(got, want) {
		t.Error(got, err)
	}
	denied, err := ParseTargetList(append(text, "\n.Example.NET"...))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{"a.example.net": true, "192.0.2.9": true, "192.0.3.1": false} {
		if denied.DeniesKey(key) != want {
			t.Errorf("%s: %t", key, !want)
		}
	}
}

func TestClientLimits(t *testing.T) {
	t.Parallel()
	office := requests.ClientLimit{Network: netip.MustParsePrefix("10.0.0.0/8"), Factor: 10, Label: "office-1_A"}
	for line, want := range map[string]*requests.ClientLimit{
		"10.0.0.0/8 10 office-1_A": &office, "10.1.2.3/8\t1e1  office-1_A#x": &office,
		"10.0.0.0/8 0.01 x":   {Network: office.Network, Factor: 0.01, Label: "x"},
		"10.0.0.0/8 1000 x":   {Network: office.Network, Factor: 1000, Label: "x"},
		"10.0.0.0/8 0.0099 x": nil, "10.0.0.0/8 1001 x": nil, "10.0.0.0/8 NaN x": nil, "10.0.0.0/8 -1 x": nil,
		"10.0.0.0/8 0 x": nil, "10.0.0.0/8 2": nil, "10.0.0.0/8 2 a b": nil, "10.0.0.0/8 2 é": nil, "office 2 x": nil,
		"10.0.0.0/8 2 " + strings.Repeat("x", 33): nil,
	} {
		got, err := ParseClientLimits([]byte(line))
		if want == nil {
			if reason, is := errors.AsType[files.Reason](err); !is || !strings.HasPrefix(string(reason), "line 1 ") {
				t.Errorf("%q: %v, %v", line, got, err)
			}
			continue
		}
		if err != nil || len(got) != 1 || got[0] != *want {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("192.0.2.0/24 10 office\n# x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		limits, _ := ParseClientLimits(text)
		for _, l := range limits {
			if l.Label != "" && l.Network.IsValid() && !(l.Factor > 0) {
				t.Errorf("%+v", l)
			}
		}
		_, _ = ParseNetworkList(text)
		_, _ = ParseTargetList(text)
	})
}
