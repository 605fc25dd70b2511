package daemon

import (
	"net/http"
	"net/http/pprof" //nolint:gosec // registers on the default mux too, which nothing serves
	"time"
)

// profileTime is how long a profile may take: go tool pprof asks for 30 seconds of one.
const profileTime = 2 * time.Minute

func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
