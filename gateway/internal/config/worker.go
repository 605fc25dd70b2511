package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"diagnostics/daemon/files"
)

// WorkerCredentials are the authorities that verify workers over https, and the certificate that they are shown. They
// follow their files.
type WorkerCredentials struct {
	roots       atomic.Pointer[x509.CertPool]
	certificate atomic.Pointer[tls.Certificate] // nil if none is shown
	changed     func()                          // called for new roots
}

// ReadWorkerCredentials reads the files of the settings and lets the watcher reread them. Without
// DIAGNOSTICS_WORKER_CA_FILE, roots verify the workers. An error names the setting.
func (c *Config) ReadWorkerCredentials(
	roots *x509.CertPool, watcher *files.Watcher, log *slog.Logger,
) (*WorkerCredentials, error) {
	w := &WorkerCredentials{changed: func() {}}
	w.roots.Store(roots)
	if (c.WorkerCAFile != "" || c.WorkerClientCertFile != "") && !strings.Contains(string(c.WorkerURL), "https:") {
		log.Warn("DIAGNOSTICS_WORKER_CA_FILE and DIAGNOSTICS_WORKER_CLIENT_CERT_FILE do nothing: DIAGNOSTICS_WORKER_URL "+
			"is not an https URL", slog.String("worker", c.WorkerURL.Addresses()))
	}
	if c.WorkerCAFile != "" {
		of := files.Source{Name: "worker_ca", Setting: "DIAGNOSTICS_WORKER_CA_FILE"}
		if err := watcher.Load(of, w.setRoots, string(c.WorkerCAFile)); err != nil {
			return nil, fmt.Errorf("%s takes a file of certificates in PEM: %w", of.Setting, err)
		}
	}
	if c.WorkerClientCertFile != "" {
		of := files.Source{Name: "client_certificate",
			Setting: "DIAGNOSTICS_WORKER_CLIENT_CERT_FILE with DIAGNOSTICS_WORKER_CLIENT_KEY_FILE"}
		err := watcher.Load(of, w.setCertificate, string(c.WorkerClientCertFile), string(c.WorkerClientKeyFile))
		if err != nil {
			return nil, fmt.Errorf("%s takes a certificate and its private key in PEM: %w", of.Setting, err)
		}
	}
	return w, nil
}

func (w *WorkerCredentials) setRoots(contents [][]byte) error {
	pool, err := files.Roots(contents[0])
	if err == nil {
		w.roots.Store(pool)
		w.changed()
	}
	return err
}

func (w *WorkerCredentials) setCertificate(contents [][]byte) error {
	pair, err := files.KeyPair(contents[0], contents[1])
	if err == nil {
		w.certificate.Store(pair)
	}
	return err
}

// OnChange calls changed whenever the authorities change. It must be set before the watcher runs.
func (w *WorkerCredentials) OnChange(changed func()) { w.changed = changed }

// Config returns the configuration of connections from now on. A worker of ours speaks TLS 1.3; a proxy in front of it
// may not. The certificate is shown whatever authorities the worker names, so that its refusal has a reason.
func (w *WorkerCredentials) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    w.roots.Load(),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if pair := w.certificate.Load(); pair != nil {
				return pair, nil
			}
			return &tls.Certificate{}, nil // none
		},
	}
}
