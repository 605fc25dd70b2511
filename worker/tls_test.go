package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/daemontest/testca"
	"diagnostics/daemon/files"
)

func TestTLSSettings(t *testing.T) {
	t.Parallel()
	const cert, key, clients = "WORKER_TLS_CERT_FILE=/c", "WORKER_TLS_KEY_FILE=/k", "WORKER_TLS_CLIENT_CA_FILE=/a"
	for _, tt := range []struct {
		env  []string
		mode string // in the log; empty where it does not start
		says string
	}{
		{nil, "off", ""},
		{[]string{cert, key}, "on", ""},
		{[]string{cert, key, clients}, "client certificates", ""},
		{[]string{cert}, "", "WORKER_TLS_CERT_FILE is set without WORKER_TLS_KEY_FILE"},
		{[]string{key}, "", "WORKER_TLS_KEY_FILE is set without WORKER_TLS_CERT_FILE"},
		{[]string{clients}, "", "WORKER_TLS_CLIENT_CA_FILE is set without"},
		{[]string{clients, key}, "", "WORKER_TLS_KEY_FILE is set without WORKER_TLS_CERT_FILE"},
	} {
		c, err := parse(tt.env...)
		if tt.mode == "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v", tt.env, err)
			}
		} else if err != nil || c.tlsMode() != tt.mode {
			t.Errorf("%v: %q, %v", tt.env, c.tlsMode(), err)
		}
	}
}

// What is broken stops the start with the settings' names, and nothing of the files.
func TestBrokenTLSFiles(t *testing.T) {
	t.Parallel()
	dir, ca := t.TempDir(), testca.New(t, "gateways")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "worker")
	_, foreign := ca.Issue(t, time.Hour, "other")
	good, goodKey := put("cert", cert), put("key", key)
	for _, tt := range []struct{ cert, key, clients, want string }{
		{dir + "/none", goodKey, "", "WORKER_TLS_CERT_FILE with WORKER_TLS_KEY_FILE takes a certificate and its private key in PEM: it cannot be read"},
		{good, put("foreign", foreign), "", "the key does not belong to the certificate"},
		{good, goodKey, put("text", []byte("x")), "WORKER_TLS_CLIENT_CA_FILE takes a file of certificates in PEM: it holds no certificate in PEM"},
	} {
		c, err := parse("WORKER_TLS_CERT_FILE="+tt.cert, "WORKER_TLS_KEY_FILE="+tt.key,
			"WORKER_TLS_CLIENT_CA_FILE="+tt.clients)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = newServerTLS(c, &files.Watcher{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// Who shows a certificate of another authority, or an expired one, is not let in; who shows none is known to have
// none.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	dir, ca, stranger := t.TempDir(), testca.New(t, "gateways"), testca.New(t, "strangers")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "127.0.0.1")
	c, err := parse("WORKER_TLS_CERT_FILE="+put("cert", cert), "WORKER_TLS_KEY_FILE="+put("key", key),
		"WORKER_TLS_CLIENT_CA_FILE="+put("ca", ca.PEM()))
	if err != nil {
		t.Fatal(err)
	}
	secured, err := newServerTLS(c, &files.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	url := serveTLS(t, secured)
	ask := func(newest uint16, shown ...tls.Certificate) string {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(ca.PEM())
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
			RootCAs: roots, MaxVersion: newest,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &append(shown, tls.Certificate{})[0], nil
			},
		}}}
		resp, err := client.Get(url)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	pair := func(by *testca.Authority, until time.Duration) tls.Certificate {
		p, err := files.KeyPair(by.Issue(t, until, "gateway"))
		if err != nil {
			t.Fatal(err)
		}
		return *p
	}
	for name, tt := range map[string]struct{ got, want string }{
		"good":    {ask(0, pair(ca, time.Hour)), "verified HTTP/1.1"},
		"none":    {ask(0), "unverified HTTP/1.1"},
		"foreign": {ask(0, pair(stranger, time.Hour)), "tls: unknown certificate authority"},
		"expired": {ask(0, pair(ca, -time.Minute)), "tls: expired certificate"},
		"TLS 1.2": {ask(tls.VersionTLS12, pair(ca, time.Hour)), "protocol version"},
	} {
		if tt.got != tt.want && !strings.HasSuffix(tt.got, tt.want) && !strings.Contains(tt.got, "tls: "+tt.want) {
			t.Errorf("%s: %s", name, tt.got)
		}
	}
	// Other authorities hold from the next connection on.
	if err := secured.TakeClients([][]byte{stranger.PEM()}); err != nil {
		t.Fatal(err)
	}
	if got := ask(0, pair(stranger, time.Hour)); got != "verified HTTP/1.1" {
		t.Errorf("after the change: %s", got)
	}
	if got := ask(0, pair(ca, time.Hour)); !strings.Contains(got, "unknown certificate authority") {
		t.Errorf("the former authority: %s", got)
	}
}

// serveTLS answers with whether a client certificate was verified, until the test ends.
func serveTLS(t *testing.T, secured *files.ServerTLS) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := "unverified "
		if len(r.TLS.VerifiedChains) > 0 {
			said = "verified "
		}
		_, _ = io.WriteString(w, said+r.Proto)
	}))
	server.ErrorLog = log.New(io.Discard, "", 0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(secured.Listen(l))
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return "https://" + l.Addr().String()
}

func TestMetricsOfFiles(t *testing.T) {
	t.Parallel()
	dir, ca := t.TempDir(), testca.New(t, "gateways")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "worker")
	c, err := parse("WORKER_TLS_CERT_FILE="+put("cert", cert), "WORKER_TLS_KEY_FILE="+put("key", key))
	if err != nil {
		t.Fatal(err)
	}
	var watcher files.Watcher
	secured, err := newServerTLS(c, &watcher)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	m := newMetrics(func() uint64 { return 0 })
	m.watchFiles(&watcher)
	m.watchCertificate(secured.Expiry)
	m.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`diagnostics_reloads_total{file="worker_certificate",result="ok"} 0`,
		`diagnostics_reloads_total{file="worker_certificate",result="failed"} 0`,
		"# TYPE diagnostics_worker_certificate_expiry_timestamp_seconds gauge",
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("no %s in %s", line, w.Body)
		}
	}
	if left := time.Until(time.Unix(secured.Expiry(), 0)); left > time.Hour || left < 58*time.Minute {
		t.Errorf("it expires in %v", left)
	}
}
