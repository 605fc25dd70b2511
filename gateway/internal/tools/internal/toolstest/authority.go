package toolstest

import (
	"crypto/tls"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
)

// Authority is a certificate authority of one test, trusted by its client.
type Authority struct {
	t    *testing.T
	root *certtest.Cert
}

// NewAuthority makes an authority.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	return &Authority{t: t, root: certtest.Root(t, "Web test root")}
}

// Option makes a client trust the authority.
func (a *Authority) Option() egress.Option {
	return egress.WithChecker(certs.Checker{Roots: certtest.Pool(a.root)})
}

// Issue returns a server's configuration with a certificate for the host that ends at the time.
func (a *Authority) Issue(host string, notAfter time.Time) *tls.Config {
	return a.configOf(a.root, host, notAfter)
}

// SelfSign returns one whose certificate is signed by its own key.
func (a *Authority) SelfSign(host string) *tls.Config {
	return a.configOf(nil, host, time.Now().Add(time.Hour))
}

func (a *Authority) configOf(parent *certtest.Cert, host string, notAfter time.Time) *tls.Config {
	a.t.Helper()
	leaf := certtest.Leaf(a.t, parent, []string{host}, certtest.Valid(time.Now().Add(-2*time.Hour), notAfter))
	return &tls.Config{Certificates: []tls.Certificate{leaf.TLS()}}
}
