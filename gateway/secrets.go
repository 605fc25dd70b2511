package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"
)

// workerTLS is what the gateway verifies the worker by, and what it shows to it.
type workerTLS struct {
	roots       atomic.Pointer[x509.CertPool]
	certificate atomic.Pointer[tls.Certificate] // nil where none is shown
	// changed is called for new roots.
	changed func()
}

// newWorkerTLS reads the files that the settings name, and watches them.
func newWorkerTLS(c config.Config, watcher *files.Watcher, log *slog.Logger) (*workerTLS, error) {
	t := &workerTLS{changed: func() {}}
	t.roots.Store(egress.HostChecker().Roots)
	if c.WorkerCAFile == "" && c.WorkerClientCertFile == "" {
		return t, nil
	}
	if !strings.Contains(string(c.WorkerURL), "https:") {
		log.Warn("DIAGNOSTICS_WORKER_CA_FILE and DIAGNOSTICS_WORKER_CLIENT_CERT_FILE do nothing: DIAGNOSTICS_WORKER_URL "+
			"is not an https URL", slog.String("worker", c.WorkerURL.Addresses()))
	}
	if c.WorkerCAFile != "" {
		of := files.Source{Name: "worker_ca", Setting: "DIAGNOSTICS_WORKER_CA_FILE"}
		if err := watcher.Load(of, t.takeRoots, string(c.WorkerCAFile)); err != nil {
			return nil, fmt.Errorf("%s takes a file of certificates in PEM: %w", of.Setting, err)
		}
	}
	if c.WorkerClientCertFile != "" {
		of := files.Source{Name: "client_certificate",
			Setting: "DIAGNOSTICS_WORKER_CLIENT_CERT_FILE with DIAGNOSTICS_WORKER_CLIENT_KEY_FILE"}
		err := watcher.Load(of, t.takeCertificate, string(c.WorkerClientCertFile), string(c.WorkerClientKeyFile))
		if err != nil {
			return nil, fmt.Errorf("%s takes a certificate and its private key in PEM: %w", of.Setting, err)
		}
	}
	return t, nil
}

func (t *workerTLS) takeRoots(contents [][]byte) error {
	pool, err := files.Roots(contents[0])
	if err == nil {
		t.roots.Store(pool)
		t.changed()
	}
	return err
}

func (t *workerTLS) takeCertificate(contents [][]byte) error {
	pair, err := files.KeyPair(contents[0], contents[1])
	if err == nil {
		t.certificate.Store(pair)
	}
	return err
}

// config is for connections from now on. A worker of ours speaks TLS 1.3; a proxy in front of it may not. The
// certificate is shown whichever authorities the worker names, so that one that it does not trust is refused with a
// word about it.
func (t *workerTLS) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    t.roots.Load(),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if pair := t.certificate.Load(); pair != nil {
				return pair, nil
			}
			return &tls.Certificate{}, nil // none
		},
	}
}

// watchSecrets reloads the secrets that come from files when these change, and counts the results. A secret of the
// environment itself stays as it was at the start.
func (s *service) watchSecrets(env []string) {
	if path := settings.FileOf(env, "DIAGNOSTICS_WORKER_TOKEN"); path != "" && s.worker != nil {
		s.files.Watch(files.Source{Name: "worker_token", Setting: "DIAGNOSTICS_WORKER_TOKEN_FILE"}, s.takeToken, path)
	}
	if path := settings.FileOf(env, "RATE_LIMIT_REDIS_TOKEN"); path != "" && s.redisPassword.Load() != nil {
		s.files.Watch(files.Source{Name: "redis_password", Setting: "RATE_LIMIT_REDIS_TOKEN_FILE"}, s.takeRedisPassword, path)
	}
}

func (s *service) takeToken(contents [][]byte) error {
	value, err := settings.FileValue(contents[0])
	if err != nil {
		return err
	}
	var token config.WorkerToken
	if err := token.Decode(value); err != nil {
		return err
	}
	return s.worker.SetToken(token.Reveal())
}

// takeRedisPassword is for connections from now on; those that are open stay authenticated.
func (s *service) takeRedisPassword(contents [][]byte) error {
	value, err := settings.FileValue(contents[0])
	if err == nil {
		s.redisPassword.Store(&value)
	}
	return err
}
