package tools

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
)

// Each tool accepts what its options declare, and rejects anything else with a sentence that names what is allowed.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{"dns-lookup": "example.com", "dns-resolver-check": "example.com",
		"email-dns-health": "example.com", "traceroute": "example.com", "ping": "example.com", "packet-loss": "example.com",
		"http-headers": "https://example.com/", "uptime": "https://example.com/"}
	for _, tl := range All(Deps{}) {
		for _, o := range tl.Options() {
			input, ok := inputs[tl.Slug()]
			if !ok {
				t.Errorf("%s has options and no input here", tl.Slug())
			}
			if o.Doc == "" {
				t.Errorf("%s: the option %s is not described", tl.Slug(), o.Name)
			}
			parse := func(value string) error {
				options := tool.Options{o.Name: json.RawMessage(value)}
				if o.IsNumber() {
					options["protocol"] = json.RawMessage(`"tcp"`)
				}
				_, err := tl.Parse(tool.Input{Text: input, Options: options})
				return err
			}
			accepted := []string{"null"}
			for _, value := range o.Values {
				accepted = append(accepted, strconv.Quote(value))
			}
			rejected := []string{`"no such value"`, "{}"}
			if o.Bool {
				accepted, rejected = append(accepted, "true", "false"), append(rejected, "1", `"true"`)
			} else {
				rejected = append(rejected, "true")
			}
			if o.IsNumber() {
				accepted = append(accepted, strconv.Itoa(o.Min), strconv.Itoa(o.Max))
				rejected = append(rejected, strconv.Itoa(o.Min-1), strconv.Itoa(o.Max+1))
			}
			for _, value := range accepted {
				if err := parse(value); err != nil {
					t.Errorf("%s: %s=%s: %v", tl.Slug(), o.Name, value, err)
				}
			}
			for _, value := range rejected {
				var f *fault.Error
				if err := parse(value); !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != o.Name {
					t.Errorf("%s: %s=%s: %v, want Invalid for this option", tl.Slug(), o.Name, value, err)
				} else if !strings.Contains(f.Sentence(), strings.Join(o.Values, ", ")) {
					t.Errorf("%s: %s=%s: %q does not name what is allowed", tl.Slug(), o.Name, value, f.Sentence())
				}
			}
		}
	}
}
