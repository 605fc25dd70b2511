package asn_test

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/providers/asn"

	"github.com/google/go-cmp/cmp"
)

func cachedOnes(all asn.Sources) (cached []bool) {
	for _, s := range all {
		cached = append(cached, s.Cached)
	}
	return cached
}

// An answer of which a part was kept for seven minutes is as old as that part, and cached.
func TestSourcesOfOneZoneAreOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	at := func(ago time.Duration, cached bool) asn.Source {
		return asn.Source{Name: "Team Cymru", Zone: "asn.cymru.com", FetchedAt: now.Add(-ago), Cached: cached}
	}
	for name, test := range map[string]struct{ from, want asn.Sources }{
		"one":                      {asn.Sources{at(0, false)}, asn.Sources{at(0, false)}},
		"both fetched":             {asn.Sources{at(0, false), at(time.Second, false)}, asn.Sources{at(time.Second, false)}},
		"both kept, older first":   {asn.Sources{at(9*time.Minute, true), at(time.Minute, true)}, asn.Sources{at(9*time.Minute, true)}},
		"both kept, younger first": {asn.Sources{at(time.Minute, true), at(9*time.Minute, true)}, asn.Sources{at(9*time.Minute, true)}},
		"kept, then fetched":       {asn.Sources{at(7*time.Minute, true), at(0, false)}, asn.Sources{at(7*time.Minute, true)}},
		"fetched, then kept":       {asn.Sources{at(0, false), at(7*time.Minute, true)}, asn.Sources{at(7*time.Minute, true)}},
		"some of each": {
			asn.Sources{at(0, false), at(7*time.Minute, true), at(time.Second, false), at(8*time.Minute, true)},
			asn.Sources{at(8*time.Minute, true)},
		},
	} {
		first := test.from[:1:1]
		if diff := cmp.Diff(test.want, first.With(test.from[1:]...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.from[:1], first); diff != "" {
			t.Errorf("%s: the receiver was changed:\n%s", name, diff)
		}
	}
}
