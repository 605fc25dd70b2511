package files

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
)

// ServerTLS is what a listener between services speaks TLS with. Each handshake takes what is there at its time.
type ServerTLS struct {
	auth        tls.ClientAuthType
	certificate atomic.Pointer[tls.Certificate]
	clients     atomic.Pointer[x509.CertPool] // nil where no client certificates are demanded
}

// ServerFiles names the files of a ServerTLS. Name is the first part of what the watcher calls them, Setting that of
// the settings, as in WORKER_TLS.
type ServerFiles struct {
	Name, Setting       string
	Cert, Key, ClientCA string // paths; ClientCA may be empty
	// Auth holds where there is a ClientCA.
	Auth tls.ClientAuthType
}

// LoadServer reads the files, and watches them. An error names the settings.
func LoadServer(watcher *Watcher, f ServerFiles) (*ServerTLS, error) {
	s := &ServerTLS{auth: f.Auth}
	of := Source{f.Name + "_certificate", fmt.Sprintf("%s_CERT_FILE with %[1]s_KEY_FILE", f.Setting)}
	if err := watcher.Load(of, s.takeCertificate, f.Cert, f.Key); err != nil {
		return nil, fmt.Errorf("%s takes a certificate and its private key in PEM: %w", of.Setting, err)
	}
	if f.ClientCA == "" {
		return s, nil
	}
	of = Source{f.Name + "_client_ca", f.Setting + "_CLIENT_CA_FILE"}
	if err := watcher.Load(of, s.TakeClients, f.ClientCA); err != nil {
		return nil, fmt.Errorf("%s takes a file of certificates in PEM: %w", of.Setting, err)
	}
	return s, nil
}

func (s *ServerTLS) takeCertificate(contents [][]byte) error {
	pair, err := KeyPair(contents[0], contents[1])
	if err == nil {
		s.certificate.Store(pair)
	}
	return err
}

// TakeClients replaces the authorities of clients, as a Take does.
func (s *ServerTLS) TakeClients(contents [][]byte) error {
	pool, err := Roots(contents[0])
	if err == nil {
		s.clients.Store(pool)
	}
	return err
}

// Listen returns a listener that speaks TLS on the connections of another.
func (s *ServerTLS) Listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.config(), nil },
	})
}

// Guard answers 401 to clients that a handshake of now would refuse, and closes their connection: one that is kept may
// be older than a change of the authorities.
func (s *ServerTLS) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.trusts(r.TLS) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusUnauthorized)
	})
}

func (s *ServerTLS) trusts(c *tls.ConnectionState) bool {
	clients := s.clients.Load()
	if clients == nil {
		return true
	}
	if c == nil || len(c.PeerCertificates) == 0 {
		return false
	}
	between := x509.NewCertPool()
	for _, cert := range c.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: clients, Intermediates: between,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// config is for one handshake. The only clients are services of ours, which speak TLS 1.3 and HTTP/1.1. A ticket would
// accept a client that was verified before the authorities changed.
func (s *ServerTLS) config() *tls.Config {
	c := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{*s.certificate.Load()},
		NextProtos:             []string{"http/1.1"},
		SessionTicketsDisabled: true,
	}
	if clients := s.clients.Load(); clients != nil {
		c.ClientAuth, c.ClientCAs = s.auth, clients
	}
	return c
}

// Expiry is when the certificate that is in use expires, in seconds of Unix time.
func (s *ServerTLS) Expiry() int64 { return s.certificate.Load().Leaf.NotAfter.Unix() }
