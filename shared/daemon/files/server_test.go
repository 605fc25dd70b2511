package files

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/daemontest/testca"
)

// A kept connection ends with the authority of its client's certificate.
func TestAuthorityOfAKeptConnection(t *testing.T) {
	t.Parallel()
	own, before, after := testca.New(t, "own"), testca.New(t, "before"), testca.New(t, "after")
	cert, key := own.Issue(t, time.Hour, "127.0.0.1")
	dir := t.TempDir()
	secured, err := LoadServer(&Watcher{}, ServerFiles{Name: "peer", Setting: "PEER_TLS",
		Auth:     tls.RequireAndVerifyClientCert,
		Cert:     daemontest.File(t, dir, "cert", cert),
		Key:      daemontest.File(t, dir, "key", key),
		ClientCA: daemontest.File(t, dir, "ca", before.PEM()),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(secured.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	s.Listener = secured.Listen(s.Listener)
	s.Start()
	t.Cleanup(s.Close)
	roots, err := Roots(own.PEM())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := KeyPair(before.Issue(t, time.Hour, "client"))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{*pair}},
	}}
	t.Cleanup(client.CloseIdleConnections)
	for _, step := range []struct {
		authorities []byte
		status      int // 0 where no connection comes about
	}{
		{before.PEM(), http.StatusOK},
		{slices.Concat(before.PEM(), after.PEM()), http.StatusOK},
		{after.PEM(), http.StatusUnauthorized},
		{after.PEM(), 0},
	} {
		if err := secured.TakeClients([][]byte{step.authorities}); err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get("https" + s.URL[len("http"):])
		status := 0
		if err == nil {
			status = resp.StatusCode
			resp.Body.Close()
		}
		if status != step.status {
			t.Errorf("status %d, want %d", status, step.status)
		}
	}
}
