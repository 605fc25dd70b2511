package whois

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/analyze/weight/weighttest"
)

// BenchmarkWeights reads answers that cost much for their length.
func BenchmarkWeights(b *testing.B) {
	for _, tld := range []string{"com", "jp"} {
		for _, piece := range []string{
			"a: b\n", "a:\n", "\n", "Name Server: a.b\n", "[a] b\n", "Domain Name: a." + tld + "\n",
		} {
			text := strings.Repeat(piece, MaxText/len(piece))
			name := tld + " " + strings.TrimSpace(piece)
			weighttest.Benchmark(b, weighttest.Bytes(name, weight.WHOIS, []byte(text), func(said []byte) {
				formatOf(tld).read(string(said), "a."+tld)
				tooMany(string(said))
				complaint(string(said))
			}))
		}
	}
}
