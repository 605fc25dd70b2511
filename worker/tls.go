package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync/atomic"

	"diagnostics/daemon/files"
)

// serverTLS is what the listener speaks TLS with. Each handshake takes what is there at its time.
type serverTLS struct {
	certificate atomic.Pointer[tls.Certificate]
	clients     atomic.Pointer[x509.CertPool] // nil where no client certificates are demanded
}

// newServerTLS reads the files, and watches them; it returns nil where there are none.
func newServerTLS(c Config, watcher *files.Watcher) (*serverTLS, error) {
	if !c.SpeaksTLS() {
		return nil, nil
	}
	s := &serverTLS{}
	err := watcher.Load("worker_certificate", s.takeCertificate, string(c.TLSCertFile), string(c.TLSKeyFile))
	if err != nil {
		return nil, fmt.Errorf("WORKER_TLS_CERT_FILE with WORKER_TLS_KEY_FILE takes a certificate and its private key "+
			"in PEM: %w", err)
	}
	if c.TLSClientCAFile == "" {
		return s, nil
	}
	if err := watcher.Load("worker_client_ca", s.takeClients, string(c.TLSClientCAFile)); err != nil {
		return nil, fmt.Errorf("WORKER_TLS_CLIENT_CA_FILE takes a file of certificates in PEM: %w", err)
	}
	return s, nil
}

func (s *serverTLS) takeCertificate(contents [][]byte) error {
	pair, err := files.KeyPair(contents[0], contents[1])
	if err == nil {
		s.certificate.Store(pair)
	}
	return err
}

func (s *serverTLS) takeClients(contents [][]byte) error {
	pool, err := files.Roots(contents[0])
	if err == nil {
		s.clients.Store(pool)
	}
	return err
}

func (s *serverTLS) listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.config(), nil },
	})
}

// config is for one handshake. The worker's only clients are gateways, which speak TLS 1.3. A ticket would accept a
// client that was verified before the authorities changed. HTTP/1.1 is all that gateways speak with a worker.
//
// A client without a certificate may still request /healthz, so the listener accepts it, and httpapi rejects everything
// else.
func (s *serverTLS) config() *tls.Config {
	c := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{*s.certificate.Load()},
		NextProtos:             []string{"http/1.1"},
		SessionTicketsDisabled: true,
	}
	if clients := s.clients.Load(); clients != nil {
		c.ClientAuth, c.ClientCAs = tls.VerifyClientCertIfGiven, clients
	}
	return c
}

// expiry is when the certificate that is in use expires, in seconds of Unix time.
func (s *serverTLS) expiry() int64 { return s.certificate.Load().Leaf.NotAfter.Unix() }
