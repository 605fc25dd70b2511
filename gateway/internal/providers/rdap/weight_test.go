package rdap

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/analyze/weight/weighttest"
)

// BenchmarkWeights reads answers that cost much for their length.
func BenchmarkWeights(b *testing.B) {
	const start = `{"objectClassName":"domain","ldhName":"a.com",`
	of := func(name, piece string) string {
		return start + `"` + name + `":[` + strings.TrimSuffix(strings.Repeat(piece+",", 200<<10/(len(piece)+1)), ",") + `]}`
	}
	contact := `{"roles":["abuse"],"vcardArray":["vcard",[["fn",{},"text","a"],["adr",{},"text",["","","","","","","a"]]]]}`
	deep := strings.Repeat(`{"entities":[`, 5) + contact + strings.Repeat(`]}`, 5)
	for name, text := range map[string]string{
		"entities": of("entities", contact), "deep entities": of("entities", deep), "empty entities": of("entities", "{}"),
		"status": of("status", `"a"`), "nested status": of("status", "[[[[[[1]]]]]]"), "events": of("events", "{}"),
		"notices": of("notices", `{"description":["a"]}`), "lines": start + `"notices":[{"description":[` +
			strings.TrimSuffix(strings.Repeat(`"",`, 60<<10), ",") + `]}]}`,
		"name servers": of("nameservers", `{"ldhName":"a.b"}`),
	} {
		weighttest.Benchmark(b, weighttest.Bytes(name, weight.RDAP, []byte(text), func(body []byte) {
			_, _ = readDomain(body, "a.com")
		}))
	}
}
