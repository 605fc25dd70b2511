package tlsreference

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/lab/internal/tlsserver"
)

// Compare says where what a reference saw is not the truth, but for what Truth.Differs explains; and where that
// explains a difference that is not there. Of the protocols only those that the reference can speak are compared.
func Compare(reference string, t tlsserver.Truth, seen Seen, protocols []string) (differences []string) {
	explained := explanations(reference, t)
	used := map[string]bool{}
	differ := func(what string, got, want any) {
		if explained[what] {
			used[what] = true
			return
		}
		differences = append(differences, fmt.Sprintf("%s: %v, and the truth is %v", what, got, want))
	}
	for _, protocol := range protocols {
		got, taken := seen.Suites[protocol]
		if want := t.Takes(protocol); taken != want {
			differ(protocol, taken, want)
		}
		want, loose := expected(t, protocol), seen.Loose && t.Order == tlsserver.Clients
		if got = inOrder(t, got); loose {
			got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		}
		if taken && !slices.Contains(seen.Untold, "suites") && !slices.Equal(got, want) {
			differ(protocol+" suites", got, want)
		}
	}
	sorted := func(list []string) string { return fmt.Sprint(slices.Sorted(slices.Values(list))) }
	for _, fact := range []struct {
		what      string
		got, want any
	}{
		{"groups", sorted(seen.Groups), sorted(t.Groups)},
		{"DH", seen.DHBits, t.DHBits},
		{"sent", fmt.Sprint(seen.Sent), fmt.Sprint(t.Sent)},
		{"trust", seen.Error, t.Error},
		{"staple", seen.Staple, t.Staple},
		{"client", seen.Requests, t.Requests},
		{"nameless", seen.Nameless, t.Nameless},
	} {
		if fact.got != fact.want && !slices.Contains(seen.Untold, fact.what) {
			differ(fact.what, fact.got, fact.want)
		}
	}
	for what := range explained {
		if !used[what] {
			differences = append(differences, what+": an explained difference that is not there")
		}
	}
	return differences
}

// explanations are the things of which the table explains that the reference reports something else.
func explanations(reference string, t tlsserver.Truth) map[string]bool {
	explained := map[string]bool{}
	for key := range t.Differs {
		if things, ok := strings.CutPrefix(key, reference+": "); ok {
			for thing := range strings.SplitSeq(things, ", ") {
				explained[thing] = true
			}
		}
	}
	return explained
}

// expected are the suites in the order in which a server chooses of a client that has them the other way round.
func expected(t tlsserver.Truth, protocol string) []string {
	suites := slices.Clone(t.Suites[protocol])
	if t.Order == tlsserver.Clients {
		slices.Reverse(suites)
	}
	return inOrder(t, suites)
}

// inOrder sorts by name where the order has rules of its own.
func inOrder(t tlsserver.Truth, suites []string) []string {
	if t.Order == tlsserver.Rules {
		return slices.Sorted(slices.Values(suites))
	}
	return suites
}
