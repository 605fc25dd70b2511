package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"diagnostics/shared/workerapi"
)

func askWith(s *Server, token, path string, state *tls.ConnectionState) int {
	method := http.MethodPost
	if !isAPI(path) {
		method = http.MethodGet
	}
	r := httptest.NewRequest(method, path, strings.NewReader(target))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.TLS = state
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code
}

func TestTokensAreReplaced(t *testing.T) {
	t.Parallel()
	s := New(Config{Tokens: []string{token}, Prober: &fakeProber{}, Slots: 4, Log: slog.New(slog.DiscardHandler)})
	for _, step := range []struct {
		tokens        []string
		first, second int
	}{
		{[]string{token}, 200, 401}, {[]string{second, token}, 200, 200}, {[]string{second}, 401, 200},
	} {
		s.SetTokens(step.tokens)
		for name, want := range map[string]int{token: step.first, second: step.second} {
			if got := askWith(s, name, workerapi.PathPing, nil); got != want {
				t.Errorf("%v let in: %d for %s, want %d", step.tokens, got, name, want)
			}
		}
	}
}

// Without a client certificate that was verified there is no answer but that the process lives.
func TestClientCertificatesAreDemanded(t *testing.T) {
	t.Parallel()
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
	for _, demanded := range []bool{true, false} {
		s := New(Config{Tokens: []string{token}, Prober: &fakeProber{}, Slots: 4, Log: slog.New(slog.DiscardHandler),
			ClientCertificates: demanded})
		for _, path := range []string{
			workerapi.PathPing, workerapi.PathReady, workerapi.PathHealth, "/api/none", "/healthz/",
		} {
			for _, state := range []*tls.ConnectionState{nil, {}, verified} {
				refused := demanded && state != verified && path != workerapi.PathHealth
				if got := askWith(s, token, path, state); (got == http.StatusForbidden) != refused {
					t.Errorf("%s, demanded %v, verified %v: %d", path, demanded, state == verified, got)
				}
			}
		}
	}
}
