package config

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/daemontest/testca"
	"diagnostics/daemon/files"
	"diagnostics/shared/logtest"
)

// A file that cannot be read stops the start with the setting's name; one without effect is logged.
func TestReadWorkerCredentials(t *testing.T) {
	t.Parallel()
	dir, ca := t.TempDir(), testca.New(t, "worker")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "gateway")
	_, foreign := ca.Issue(t, time.Hour, "other")
	good, goodKey, roots := put("cert", cert), put("key", key), put("ca", ca.PEM())
	for _, tt := range []struct{ url, ca, cert, key, says, logs string }{
		{"https://worker", roots, good, goodKey, "", ""},
		{"https://worker", "", "", "", "", ""},
		{"http://worker", roots, "", "", "", "do nothing"},
		{"https://worker", good + "none", "", "", "DIAGNOSTICS_WORKER_CA_FILE takes a file of certificates in PEM: it cannot be read", ""},
		{"https://worker", goodKey, "", "", "DIAGNOSTICS_WORKER_CA_FILE takes a file of certificates in PEM: it holds no certificate in PEM", ""},
		{"https://worker", "", good, put("foreign", foreign),
			"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE with DIAGNOSTICS_WORKER_CLIENT_KEY_FILE takes a certificate and its private key in PEM: the key does not belong", ""},
	} {
		c, err := Parse([]string{"DIAGNOSTICS_WORKER_URL=" + tt.url, "DIAGNOSTICS_WORKER_CA_FILE=" + tt.ca,
			"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE=" + tt.cert, "DIAGNOSTICS_WORKER_CLIENT_KEY_FILE=" + tt.key})
		if err != nil {
			t.Fatal(err)
		}
		var log logtest.Journal
		_, err = c.ReadWorkerCredentials(nil, &files.Watcher{}, slog.New(slog.NewTextHandler(&log, nil)))
		if (err == nil) != (tt.says == "") || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt, err)
		}
		if logged := log.String(); (logged != "") != (tt.logs != "") || !strings.Contains(logged, tt.logs) {
			t.Errorf("%+v: %q", tt, logged)
		}
	}
}
