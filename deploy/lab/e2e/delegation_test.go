//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// validated is whether dns-delegation validates DNSSEC.
const validated = false

// delegationAnswer is what is compared with the lab's tables.
type delegationAnswer struct {
	Data struct {
		Delegation, DNSSEC string
		Findings           []struct{ Code string }
		Answers            []struct{ Name, Type, DNSSEC string }
		Queries            int
		Complete           bool
	}
}

// codes are those of the findings, each once, in order.
func (a delegationAnswer) codes() []string {
	var codes []string
	for _, f := range a.Data.Findings {
		codes = append(codes, f.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func checkDelegation(t *testing.T, input string) (delegationAnswer, time.Duration) {
	t.Helper()
	a := call(t, "dns-delegation", input, nil)
	if a.Status != http.StatusOK {
		t.Fatalf("status %d: %.500s", a.Status, a.Body)
	}
	var got delegationAnswer
	if err := json.Unmarshal(a.Body, &got); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s, %s, %s; %d queries in %d ms, complete %t", input, got.Data.Delegation, got.Data.DNSSEC,
		strings.Join(got.codes(), " "), got.Data.Queries, a.Took.Milliseconds(), got.Data.Complete)
	return got, a.Took
}

// dns-delegation finds in each of the lab's domains the fault of their table, and no other.
func TestDelegations(t *testing.T) {
	t.Parallel()
	for _, d := range lab.Delegations() {
		t.Run(d.Domain(), func(t *testing.T) {
			t.Parallel()
			got, _ := checkDelegation(t, d.Input())
			want := slices.Sorted(slices.Values(d.Codes))
			if got.Data.Delegation != d.Verdict || !slices.Equal(got.codes(), want) {
				t.Errorf("%s: %s with %q, want %s with %q", d.Note, got.Data.Delegation, got.codes(), d.Verdict, want)
			}
		})
	}
}
