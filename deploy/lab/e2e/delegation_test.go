//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/skiptest"
)

// delegationAnswer is what is compared with the lab's tables.
type delegationAnswer struct {
	Data struct {
		Delegation, DNSSEC string
		Findings           []struct{ Code string }
		Answers            []struct {
			Type   string
			Values []string
		}
		Queries  int
		Complete bool
	}
}

// codes are those of the findings but for DNSSEC, each once, in order.
func (a delegationAnswer) codes() []string {
	var codes []string
	for _, f := range a.Data.Findings {
		if !strings.HasPrefix(f.Code, "DNSSEC_") {
			codes = append(codes, f.Code)
		}
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
			if complete := !slices.Contains(d.Codes, "CHECK_CUT"); got.Data.Complete != complete {
				t.Errorf("complete is %t", got.Data.Complete)
			}
			if got.Data.Queries > 64 {
				t.Errorf("%d queries", got.Data.Queries)
			}
		})
	}
}

// With 20 ms to each server, one way, an answer takes as long as its servers let it, and its first zone hardly longer
// than one of them.
func TestDelegationTimes(t *testing.T) {
	for domain, most := range map[string]time.Duration{
		"lab-deleg-four.com": time.Second, "lab-sec-good.com": time.Second,
		"lab-deleg-onesilent.com": 4 * time.Second, "lab-deleg-silent.com": 8 * time.Second,
	} {
		t.Run(domain, func(t *testing.T) {
			lines := streamLines(t, "dns-delegation", domain)
			last := lines[len(lines)-1]
			zone := lines[slices.IndexFunc(lines, func(l streamLine) bool { return l.Step["kind"] == "zone" })]
			t.Logf("%s: first zone after %d ms, all after %d ms, %v queries", domain, zone.after.Milliseconds(),
				last.after.Milliseconds(), last.Data["queries"])
			if last.after > most || zone.after > 100*time.Millisecond {
				t.Errorf("the first zone took %v, all took %v, and may take %v", zone.after, last.after, most)
			}
		})
	}
}

// The sentence that names a fault comes within two seconds, also where a server is silent, and the answer has it too.
func TestDelegationConclusions(t *testing.T) {
	t.Parallel()
	for domain, code := range map[string]string{
		"lab-deleg-onesilent.com": "SERVER_SILENT", "lab-deleg-silent.com": "NO_SERVER_ANSWERS",
		"lab-deleg-lame.com": "ALL_SERVERS_LAME", "lab-deleg-gone.com": "NOT_DELEGATED",
		"lab-sec-nokey.com": "DNSSEC_DS_KEY_MISSING", "lab-sec-expired.com": "DNSSEC_SIGNATURE_EXPIRED",
		"lab-sec-halfsilent.com": "DNSSEC_DS_KEY_MISSING",
	} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			lines := streamLines(t, "dns-delegation", domain)
			last := lines[len(lines)-1]
			first := slices.IndexFunc(lines, func(l streamLine) bool { return l.Step["kind"] == "conclusion" })
			if first < 0 {
				t.Fatalf("no conclusion among %d lines", len(lines))
			}
			got, _ := lines[first].Step["conclusion"].(map[string]any)
			end, _ := last.Data["conclusion"].(map[string]any)
			t.Logf("%s: %s after %d ms of %d", domain, got["code"], lines[first].after.Milliseconds(),
				last.after.Milliseconds())
			if got["code"] != code || end["code"] != code || lines[first].after > 2*time.Second {
				t.Errorf("%s after %v, and %s at the end; want %s", got["code"], lines[first].after, end["code"], code)
			}
		})
	}
}

// The zones that Debian's name servers serve are in order.
func TestPackagedNameServers(t *testing.T) {
	t.Parallel()
	missing, err := internet.StartNameServers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lab.PackagedZones() {
		t.Run(p.Domain, func(t *testing.T) {
			if slices.Contains(missing, p.Program) {
				skiptest.Skip(t, p.Program+" is not installed here; .ci/run installs it")
			}
			t.Parallel()
			got, _ := checkDelegation(t, p.Domain)
			if got.Data.Delegation != "ok" || len(got.codes()) > 0 {
				t.Errorf("%s with %q", got.Data.Delegation, got.codes())
			}
			if got.Data.DNSSEC != p.Truth {
				t.Errorf("%s, want %s", got.Data.DNSSEC, p.Truth)
			}
		})
	}
}

// dig +trace comes from the lab's root to the same servers and addresses.
func TestDelegationLikeDig(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{"example.com", "fast.lab-site.com", "lab-sec-good.com", "lab-deleg-good.com"} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			root := lab.RootServer().String()
			// With the lab's resolver, which dig queries for the addresses of name servers.
			out, err := exec.CommandContext(t.Context(), "ip", "netns", "exec", internet.Namespace(lab.ServiceHost),
				"dig", "@"+root, "+trace", "+nodnssec", "+noall", "+answer", "+time=1", domain, "A").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var addresses []string
			for line := range strings.Lines(string(out)) {
				if f := strings.Fields(line); len(f) == 5 && f[3] == "A" {
					addresses = append(addresses, f[4])
				}
			}
			got, _ := checkDelegation(t, domain)
			for _, a := range got.Data.Answers {
				if a.Type == "A" && (len(addresses) == 0 || !slices.Equal(a.Values, addresses)) {
					t.Errorf("%q, and dig +trace has %q:\n%s", a.Values, addresses, out)
				}
			}
		})
	}
}

// dns-delegation comes to the truth about each of the lab's signed zones.
func TestSignedZones(t *testing.T) {
	t.Parallel()
	for _, s := range lab.SignedZones() {
		t.Run(s.Domain(), func(t *testing.T) {
			t.Parallel()
			if got, _ := checkDelegation(t, s.Input()); got.Data.DNSSEC != s.Truth {
				t.Errorf("%s: %s, want %s", s.Note, got.Data.DNSSEC, s.Truth)
			}
		})
	}
}

// A run costs at most half a second of processor time, whatever a domain makes a validator do.
func TestCostlyValidation(t *testing.T) {
	m := newMeter(t)
	for _, name := range []string{lab.CostlyZone, lab.CostlyName} {
		if got, _ := checkDelegation(t, name); got.Data.DNSSEC != "indeterminate" {
			t.Errorf("%s: %s, although its signatures are more than are verified", name, got.Data.DNSSEC)
		}
		m.alone([]question{{"dns-delegation", name, nil}})
	}
}
