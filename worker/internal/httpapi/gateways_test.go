package httpapi

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
)

// A gateway counts while it asks for readiness with a token, and for three seconds more.
func TestGatewaysAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newJobs(0, 1).server
		get := func(path, from, token string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr = from
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w
		}
		want := func(n string) {
			t.Helper()
			if got := get(workerapi.PathHealth, "192.0.2.9:1", token).Header().Get(workerapi.HeaderGateways); got != n {
				t.Errorf("%s gateways, want %s", got, n)
			}
		}
		want("0")
		get(workerapi.PathReady, "192.0.2.1:1", token)
		get(workerapi.PathReady, "192.0.2.1:2", token)
		get(workerapi.PathReady, "[2001:db8::1]:1", token)
		get(workerapi.PathReady, "192.0.2.3:1", "not "+token)
		want("2")
		time.Sleep(2 * time.Second) // of the bubble
		get(workerapi.PathReady, "192.0.2.1:3", token)
		time.Sleep(time.Second)
		want("2")
		time.Sleep(time.Nanosecond)
		want("1")
		time.Sleep(2 * time.Second)
		want("0")
		s.Drain()
		get(workerapi.PathReady, "192.0.2.1:4", token)
		want("0")
	})
}
