package tools

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
)

const (
	webV4 = "93.184.216.34"
	webV6 = "2606:2800:220:1::34"
)

// webAuthority is a certificate authority of one test, trusted by its client.
type webAuthority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newWebAuthority(t *testing.T) *webAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Web test root"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &webAuthority{t: t, key: key, cert: cert}
}

func (a *webAuthority) option() egress.Option {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return egress.WithChecker(certcheck.Checker{Roots: roots})
}

// issue gives a server's configuration with a certificate for the host that ends at the time.
func (a *webAuthority) issue(host string, notAfter time.Time) *tls.Config {
	return a.sign(host, notAfter, a.cert, a.key)
}

// selfSign gives one that nobody vouches for.
func (a *webAuthority) selfSign(host string) *tls.Config {
	return a.sign(host, time.Now().Add(time.Hour), nil, nil)
}

func (a *webAuthority) sign(host string, notAfter time.Time, parent *x509.Certificate, signer *ecdsa.PrivateKey) *tls.Config {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// serveRaw answers every request at the public address with these very bytes.
func serveRaw(n *egresstest.Network, public, answer string) {
	n.ServeConn(public, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, answer)
		}
	})
}

func statusHandler(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func redirectHandler(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
}

// wantDials fails where anything but the given ports of public addresses was dialled.
func wantDials(t *testing.T, n *egresstest.Network, want ...string) {
	t.Helper()
	allowed := make(map[string]bool)
	for _, w := range want {
		allowed[w] = true
	}
	for _, d := range n.Dials() {
		if !allowed[d.String()] {
			t.Errorf("%s was dialled", d)
		}
	}
}

// fieldsOf gives a result as the page sees it.
func fieldsOf(t *testing.T, result any) map[string]any {
	t.Helper()
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(out, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func webInput(url string) tool.Input { return tool.Input{Text: url} }
