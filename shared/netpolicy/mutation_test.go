package netpolicy

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// The policy tested by mutation: with any one row of its tables gone, or any one edge of them an address off, some case
// must fail. A row that none would miss could be lost unnoticed.

// mutant is a policy with one thing wrong, as the cases see it.
type mutant struct {
	what  string
	fails func() []string
}

// survivors are the mutants that no case distinguishes from the policy.
func survivors(mutants []mutant) (alive []string) {
	for _, m := range mutants {
		if len(m.fails()) == 0 {
			alive = append(alive, m.what)
		}
	}
	return alive
}

// without is a list that lacks one element.
func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// families are the rows of each family, with the table that has others in their place.
var families = []struct {
	rows []Row
	with func([]Row) addressTable
}{
	{ipv4Rows, func(rows []Row) addressTable { return addressTable{rows, ipv6Rows} }},
	{ipv6Rows, func(rows []Row) addressTable { return addressTable{ipv4Rows, rows} }},
}

// addressMutants lack a row, say of one that it is public or is not, or have a prefix one bit longer or shorter.
func addressMutants(cases []caseAddress) (mutants []mutant) {
	add := func(table addressTable, format string, args ...any) {
		mutants = append(mutants, mutant{fmt.Sprintf(format, args...), func() []string {
			return slices.Concat(edgeFailures(table.judge), addressFailures(table.judge), caseFailures(cases, table.judge))
		}})
	}
	for _, family := range families {
		for i, r := range family.rows {
			add(family.with(without(family.rows, i)), "without %s (%s)", r.Prefix, r.Name)
			turned := slices.Clone(family.rows)
			turned[i].Reachable, turned[i].Narrowed = ReachableTrue, ""
			if r.Public() {
				turned[i].Reachable = ReachableFalse
			}
			add(family.with(turned), "%s public: %t", r.Prefix, !r.Public())
			for _, bits := range []int{r.Prefix.Bits() - 1, r.Prefix.Bits() + 1} {
				other := netip.PrefixFrom(r.Prefix.Addr(), bits).Masked()
				if !other.IsValid() {
					continue
				}
				moved := slices.Clone(family.rows)
				moved[i].Prefix = other
				slices.SortStableFunc(moved, func(a, b Row) int { return b.Prefix.Bits() - a.Prefix.Bits() })
				add(family.with(moved), "%s in place of %s", other, r.Prefix)
			}
		}
	}
	return mutants
}

// zoneMutants lack a zone, or know only what lies below it or all that lies around it.
func zoneMutants() (mutants []mutant) {
	add := func(name string, other string) {
		table := maps.Clone(zones)
		zone := table[name]
		delete(table, name)
		if other != "" {
			zone.Name = other
			table[other] = zone
		}
		mutants = append(mutants, mutant{fmt.Sprintf("%q in place of %s", other, name), func() []string {
			if failures := zoneFailures(table.find); failures != nil {
				return failures
			}
			return nameFailures(table.parseName) // which takes its time
		}})
	}
	for name := range zones {
		add(name, "")
		add(name, "x."+name)
		if _, parent, ok := strings.Cut(name, "."); ok {
			add(name, parent)
		}
	}
	return mutants
}

// asnMutants lack a row, or have an edge one number off.
func asnMutants() (mutants []mutant) {
	add := func(rows []asnRow, format string, args ...any) {
		mutants = append(mutants, mutant{fmt.Sprintf(format, args...), func() []string {
			return asnFailures(func(n uint32) ASNVerdict { return judgeASN(rows, n) })
		}})
	}
	for i, r := range asnRows {
		rest := without(asnRows, i)
		add(rest, "without AS%d to AS%d", r.first, r.last)
		for _, by := range []int64{-1, 1} {
			first, last := int64(r.first)+by, int64(r.last)+by
			// In front, so that it decides about numbers that its neighbour has as well.
			if first >= 0 {
				moved := r
				moved.first = uint32(first)
				add(append([]asnRow{moved}, rest...), "AS%d in place of AS%d", first, r.first)
			}
			if last <= 1<<32-1 {
				moved := r
				moved.last = uint32(last)
				add(append([]asnRow{moved}, rest...), "AS%d in place of AS%d", last, r.last)
			}
		}
	}
	return mutants
}

func TestEveryRowIsMissed(t *testing.T) {
	t.Parallel()
	cases := caseAddresses(t)
	own := slices.Concat(addressFailures(Judge), caseFailures(cases, Judge), edgeFailures(Judge))
	if own = append(own, zoneFailures(zones.find)...); len(own) > 0 {
		t.Fatalf("the policy itself fails %d cases: its mutants say nothing", len(own))
	}
	for what, mutants := range map[string][]mutant{
		"addresses": addressMutants(cases), "zones": zoneMutants(), "AS numbers": asnMutants(),
	} {
		for _, m := range survivors(mutants) {
			t.Errorf("%s: no case misses anything: %s", what, m)
		}
		t.Logf("%s: %d mutants", what, len(mutants))
		if len(mutants) < 30 {
			t.Errorf("%s: only %d mutants", what, len(mutants))
		}
	}
}

// The cases of testdata alone must miss every row whose loss makes an address public or not.
func TestTheCasesMissEveryRowThatDecides(t *testing.T) {
	t.Parallel()
	cases := caseAddresses(t)
	blocks := documentedBlocks()
	deciding := 0
	for _, family := range families {
		for i, r := range family.rows {
			table := family.with(without(family.rows, i))
			decides := slices.ContainsFunc(blocks, func(b block) bool {
				return b.prefix == r.Prefix && (table.judge(b.first).Public != Judge(b.first).Public ||
					table.judge(b.last).Public != Judge(b.last).Public)
			})
			if !decides {
				continue
			}
			deciding++
			if caseFailures(cases, table.judge) == nil {
				t.Errorf("no case of testdata misses %s (%s)", r.Prefix, r.Name)
			}
		}
	}
	if deciding < 20 {
		t.Errorf("only %d rows decide", deciding)
	}
}

// A mutant that is the policy itself, and one that differs where no case looks, survive.
func TestSurvivorsAreFound(t *testing.T) {
	t.Parallel()
	cases := caseAddresses(t)
	unseen := netip.MustParsePrefix("11.22.33.44/32")
	rows := append([]Row{{Prefix: unseen, Name: "x", Source: "x", Kind: "x"}}, ipv4Rows...)
	odd := addressTable{rows, ipv6Rows}
	if odd.judge(unseen.Addr()).Public {
		t.Fatal("the odd policy is the right one")
	}
	alive := survivors([]mutant{
		{"itself", func() []string { return caseFailures(cases, Judge) }},
		{"odd", func() []string { return append(caseFailures(cases, odd.judge), edgeFailures(odd.judge)...) }},
		{"wrong", func() []string { return []string{"a case that fails"} }},
	})
	if !slices.Equal(alive, []string{"itself", "odd"}) {
		t.Errorf("alive: %v", alive)
	}
}
