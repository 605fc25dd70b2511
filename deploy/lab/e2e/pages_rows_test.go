//go:build e2e

package e2e

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// Wherever a page shows rows, they can be had as a file: tables as they are, and what is drawn otherwise in its
// numbers.
func TestRowsAsFiles(t *testing.T) {
	for _, c := range []struct {
		name, path, part string
		head             []string
		// holds is a part of a row of the file.
		holds []string
	}{
		{"hops", toolPath("traceroute", "dirty.lab-transit.net"), ".part:has(> .trace)",
			[]string{"Hop", "Addresses", "Name", "AS number", "Network", "Best (ms)"}, []string{"11.91.0.1"}},
		{"records", toolPath("dns-lookup", "types.lab-dns.com"), ".part:has(> .lookup-records)",
			[]string{"Type", "Record", "Time left (s)"},
			[]string{"TLSA", "3 1 1 0c72ac70b745ac19998811b131d662c9ac69dbdbe7cb23e5b514b56664c5d3d6"}},
		{"a table", toolPath("dns-lookup", "types.lab-dns.com"), ".tabled",
			[]string{"Type", "Answer", "Code"}, []string{"CAA", "NOERROR"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(c.path)
			untilAnswered(tab)
			tab.Run(`document.querySelectorAll("details.fold").forEach((fold) => { fold.open = true; })`)
			name, file := tab.Download(func() { tab.Click("#result " + c.part + " > .csv") })
			if !strings.HasSuffix(name, ".csv") {
				t.Errorf("the file is called %s", name)
			}
			rows, err := csv.NewReader(strings.NewReader(string(file))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) < 6 || !slices.Equal(rows[0][:len(c.head)], c.head) {
				t.Fatalf("the file begins with %v", rows[:min(2, len(rows))])
			}
			if !slices.ContainsFunc(rows, func(row []string) bool {
				return !slices.ContainsFunc(c.holds, func(text string) bool { return !slices.Contains(row, text) })
			}) {
				t.Errorf("no row has %q:\n%s", c.holds, file)
			}
			holdQuiet(t, tab) // opening folds by script counts as a shift
		})
	}
}
