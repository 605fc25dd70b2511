package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/moved":
			http.Redirect(w, r, "http://gone.invalid/", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	trusting := &tls.Config{RootCAs: roots, ServerName: "example.com"}
	for _, path := range []string{"/", "/moved"} {
		var out strings.Builder
		want := fmt.Sprintf("%s{url=%q} %d\n", probedCertificate, s.URL+path, s.Certificate().NotAfter.Unix())
		if err := Probe(t.Context(), s.URL+path, trusting, &out); err != nil || out.String() != want {
			t.Errorf("%s: %q and %v, want %q", path, out.String(), err, want)
		}
	}
	for name, failing := range map[string]struct {
		url    string
		config *tls.Config
	}{
		"not ready":            {s.URL + "/readyz", trusting},
		"a strange authority":  {s.URL, nil},
		"another name":         {s.URL, &tls.Config{RootCAs: roots, ServerName: "example.net"}},
		"clear text":           {strings.Replace(s.URL, "https", "http", 1), trusting},
		"a password":           {strings.Replace(s.URL, "https://", "https://u:p@", 1), trusting},
		"no URL":               {"127.0.0.1", trusting},
		"nobody listens there": {"https://127.0.0.1:1", trusting},
	} {
		var out strings.Builder
		if err := Probe(t.Context(), failing.url, failing.config, &out); err == nil || out.Len() > 0 {
			t.Errorf("%s: %q and %v", name, out.String(), err)
		}
	}
}

func TestProbeOnTheCommandLine(t *testing.T) {
	t.Parallel()
	var address string
	with, without := Command{Name: "gateway", Probe: &address}, Command{Name: "worker"}
	if task, err := with.Parse([]string{"-probe", "https://a.example"}, io.Discard, io.Discard); err != nil ||
		task != TaskProbe || address != "https://a.example" {
		t.Errorf("task %v of %q, %v", task, address, err)
	}
	if _, err := without.Parse([]string{"-probe", "https://a.example"}, io.Discard, io.Discard); err == nil {
		t.Error("the worker has no public address")
	}
}
