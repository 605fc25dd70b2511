package metrics

import (
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	Register(registry, func() uint64 { return 7 })
	runtime.GC() // before the first one nothing is known of the live heap
	w := httptest.NewRecorder()
	Handler(registry).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type %q", got)
	}
	for _, line := range []string{
		`diagnostics_build_info\{commit="\w+",goversion="` + regexp.QuoteMeta(runtime.Version()) + `",version="\S+"\} 1`,
		`diagnostics_dropped_log_lines_total 7`,
		`diagnostics_foreign_log_lines_total \d+`,
		`go_gc_heap_live_bytes [1-9]\S*`,
		`go_goroutines [1-9]\d*`,
		`go_memstats_heap_alloc_bytes [1-9]\S*`,
		`process_cpu_seconds_total \S+`,
		`process_open_fds [1-9]\d*`,
		`process_resident_memory_bytes [1-9]\S*`,
		`process_start_time_seconds [1-9]\S*`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(w.Body.String()) {
			t.Errorf("no line %s in\n%s", line, w.Body)
		}
	}
}
