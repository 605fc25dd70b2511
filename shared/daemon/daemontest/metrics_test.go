package daemontest

import "testing"

func TestMetricsTable(t *testing.T) {
	t.Parallel()
	const text = `# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 12
# HELP diagnostics_up 1 or 0, as (x|y) says.
# TYPE diagnostics_up gauge
diagnostics_up 1
# HELP diagnostics_asked_total Questions.
# TYPE diagnostics_asked_total counter
diagnostics_asked_total{outcome="ok",slug="ping"} 0
diagnostics_asked_total{outcome="failed",slug="ping"} 2.5e+06
# HELP diagnostics_wait_seconds Waiting.
# TYPE diagnostics_wait_seconds histogram
diagnostics_wait_seconds_bucket{cache="a b",le="0.1"} 0
diagnostics_wait_seconds_bucket{cache="a b",le="+Inf"} 0
diagnostics_wait_seconds_sum{cache="a b"} 0
diagnostics_wait_seconds_count{cache="a b"} 0
`
	const want = "| metric | type | labels | meaning |\n|---|---|---|---|\n" +
		"| `diagnostics_asked_total` | counter | `outcome`: failed, ok; `slug` | Questions. |\n" +
		"| `diagnostics_up` | gauge |  | 1 or 0, as (x\\|y) says. |\n" +
		"| `diagnostics_wait_seconds` | histogram | `cache`: a b | Waiting. |\n"
	if got := MetricsTable(text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
