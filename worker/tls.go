package main

import (
	"crypto/tls"

	"diagnostics/daemon/files"
)

// newServerTLS reads the files, and watches them; it returns nil where there are none. A client without a certificate
// may still request /healthz, so the listener accepts it, and httpapi rejects everything else.
func newServerTLS(c Config, watcher *files.Watcher) (*files.ServerTLS, error) {
	if !c.SpeaksTLS() {
		return nil, nil
	}
	return files.LoadServer(watcher, files.ServerFiles{
		Name: "worker", Setting: "WORKER_TLS", Auth: tls.VerifyClientCertIfGiven,
		Cert: string(c.TLSCertFile), Key: string(c.TLSKeyFile), ClientCA: string(c.TLSClientCAFile),
	})
}
