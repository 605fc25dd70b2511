package metrics

import (
	"diagnostics/daemon/files"

	"github.com/prometheus/client_golang/prometheus"
)

// Reloads tells how often each file that is looked after has changed, and could or could not be used then.
func Reloads(r prometheus.Registerer, watcher *files.Watcher) {
	for _, f := range watcher.All() {
		for result, count := range map[string]func() uint64{"ok": f.Reloaded, "failed": f.Failed} {
			r.MustRegister(Counter("diagnostics_reloads_total",
				"Changes of the files of tokens, passwords and certificates, by whether they could be used.",
				prometheus.Labels{"file": f.Name(), "result": result}, count))
		}
	}
}
