//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab"
)

// reportedInput is an input of a public bug report, and what must be answered to it.
type reportedInput struct {
	id          string // of the report, and what is special about the input
	slug, input string
	options     map[string]any
	to          *lab.Server // the service's own where nil
	header      http.Header
	status      int // 200 where 0
	facts       facts
}

// Every input of the public bug reports is answered rightly by the shipped binaries. The log is a table of the answers,
// and of what other programs make of the same input. It is not parallel: some inputs change the network, or count its
// packets.
func TestReportedInputs(t *testing.T) {
	for _, group := range []struct {
		name   string
		inputs func(*testing.T) []reportedInput
	}{
		{"names", reportedNames},
		{"registries", reportedRegistries},
		{"translated addresses", reportedTranslations},
		{"clients", reportedClients},
		{"host names", reportedHostNames},
		{"TLS", reportedTLS},
		{"mail", reportedMail},
		{"heads", reportedHeads},
		{"redirects", reportedRedirects},
		{"crawled files", reportedFiles},
		{"paths", reportedPaths},
		{"budget", reportedBudget},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, r := range group.inputs(t) {
				t.Run(r.id, func(t *testing.T) {
					t.Parallel()
					r.hold(t)
				})
			}
		})
	}
}

func (r reportedInput) hold(t *testing.T) {
	t.Helper()
	if r.to == nil {
		r.to = service.Gateway
	}
	body := map[string]any{"input": r.input}
	if r.options != nil {
		body["options"] = r.options
	}
	a := post(t, r.to, r.slug, body, r.header)
	want := r.status
	if want == 0 {
		want = http.StatusOK
	}
	shown := []string{fmt.Sprint(a.Status)}
	for _, path := range slices.Sorted(maps.Keys(r.facts)) {
		shown = append(shown, path+"="+brief(a.at(path)))
	}
	if a.Error != "" {
		shown = append(shown, fmt.Sprintf("%q", a.Error))
	}
	if wait := a.Header.Get("Retry-After"); wait != "" {
		shown = append(shown, "Retry-After "+wait)
	}
	answers(t, r.id+", "+r.slug+" "+r.input, strings.Join(shown, "; "))
	if a.Status != want {
		t.Fatalf("status %d, want %d: %.1500s", a.Status, want, a.Body)
	}
	r.facts.hold(t, a)
}

// answers logs a row of the table.
func answers(t *testing.T, input, answer string) {
	t.Helper()
	t.Logf("| %q | %s |", input, strings.ReplaceAll(answer, "|", `\|`))
}

// beside logs what a command of the system makes of the same input, seen from the service's host. In the command $0 is
// the file of the lab's root.
func beside(t *testing.T, id, command string, args ...string) {
	t.Helper()
	out, _ := internet.Exec(t.Context(), lab.ServiceHost, "sh", append([]string{"-c", command, internet.RootsFile()},
		args...)...)
	answers(t, id+", "+strings.Fields(strings.TrimPrefix(command, "timeout 10 "))[0],
		strings.Join(strings.Fields(string(out)), " "))
}

// brief is a value for the table: of a list of objects, their codes.
func brief(v any) string {
	if list, ok := v.([]any); ok {
		codes := []string{}
		for _, item := range list {
			if object, ok := item.(map[string]any); ok && object["code"] != nil {
				codes = append(codes, fmt.Sprint(object["code"]))
			}
		}
		if len(codes) > 0 {
			return strings.Join(codes, " ")
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.300s", text)
}

// none is a predicate on lists of objects: no one has the value at the key.
func none(key string, value any) func(any) bool {
	one := has(key, value)
	return func(v any) bool { return !one(v) }
}
