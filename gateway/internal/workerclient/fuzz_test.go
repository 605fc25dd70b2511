package workerclient

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/workerapi"
)

// FuzzTracerouteAnswer holds that whatever bytes a worker sends, what is left of them is about the asked address, names
// no address that is not public, and can be written as JSON.
func FuzzTracerouteAnswer(f *testing.F) {
	f.Add([]byte(goodTrace))
	f.Add([]byte(strings.Replace(goodTrace, `"note":null`, `"note":"From 10.0.0.1: fe80::1 said no."`, 1)))
	f.Add([]byte(`{"data":{"target":"93.184.216.34","hops":[{}]}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		trace, err := decode[workerapi.Traced](answer, target4)
		if err != nil {
			return
		}
		(inside{}).hidePrivate(&trace.Traceroute)
		if trace.Target != target4.String() {
			t.Fatalf("the target is %s", trace.Target)
		}
		for _, h := range trace.Hops {
			if h.Hidden && (h.Address != nil || len(h.Addresses) > 0) || h.Hostname != nil || h.ASN != nil {
				t.Fatalf("hop is %+v", h)
			}
			if h.Address != nil && !remote.Inside(nil).Shows(*h.Address) {
				t.Fatalf("%s is told", *h.Address)
			}
			for _, a := range h.Addresses {
				if !remote.Inside(nil).Shows(a) {
					t.Fatalf("%s is told", a)
				}
			}
			if h.Note != nil {
				wantNothingPrivate(t, *h.Note)
			}
		}
		for _, line := range trace.Explanation {
			wantNothingPrivate(t, line)
		}
		if _, err := json.Marshal(trace); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHideInText holds that no address stays that a reader would recognise, whatever stands around it.
func FuzzHideInText(f *testing.F) {
	f.Add("from 10.0.0.1", 0, uint32(0))
	f.Add("::1 and [fe80::1]:80", 3, uint32(7))
	f.Fuzz(func(t *testing.T, text string, at int, last uint32) {
		inner := netip.AddrFrom4([4]byte{10, byte(last >> 16), byte(last >> 8), byte(last)})
		at = min(max(at, 0), len(text))
		got := remote.Inside(nil).HideInText(text[:at] + " " + inner.String() + " " + text[at:])
		if strings.Contains(got, " "+inner.String()+" ") {
			t.Fatalf("%q still holds %s", got, inner)
		}
		wantNothingPrivate(t, got)
	})
}

func wantNothingPrivate(t *testing.T, text string) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		if a, err := netip.ParseAddr(word); err == nil && a.Zone() == "" && !remote.Inside(nil).Shows(word) {
			t.Fatalf("%q holds %s", text, word)
		}
	}
}
