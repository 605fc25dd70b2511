package sslchecker

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/crypto/ocsp"
)

// pretender signs with a key of which it has the public half alone.
type pretender struct{ public crypto.PublicKey }

func (p pretender) Public() crypto.PublicKey { return p.public }

func (p pretender) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, 1024), nil
}

// TestSSLLongKeys: a key of more than 8,192 bits is told, in every version and in every place of the chain.
func TestSSLLongKeys(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(protocolName(version), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			key := certtest.RSAOfBits(t, 16384, 65537)
			leaf := certtest.Foreign(t, w.inter, []string{sslName}, key)
			cert := leaf.TLS(w.inter)
			cert.PrivateKey = pretender{key}
			config := oneCertificate(cert)
			config.MinVersion, config.MaxVersion = version, version
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			c := got.Certificate
			if c.KeyType != "RSA" || c.KeyBits != 16384 || c.SelfSigned || got.Protocol != protocolName(version) ||
				got.Cipher.Name == "" || len(got.Chain) != 1 || got.Truncated {
				t.Errorf("%+v", got)
			}
			if got.Authorized || *got.AuthorizationError != certs.CodeNoLocalIssuer || got.ChainComplete ||
				!got.HostnameMatches || !hasIssue(got, severityFail, certs.DefectLongKey) ||
				hasIssue(got, severityWarn, "INCOMPLETE_CHAIN") {
				t.Errorf("authorized %v, issues %v", got.Authorized, issueCodes(got))
			}
		})
		t.Run(protocolName(version)+", of an intermediate", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			long := certtest.Foreign(t, w.root, []string{"other.example.com"}, certtest.RSAOfBits(t, 8193, 65537))
			config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter, long))
			config.MinVersion, config.MaxVersion = version, version
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			if got.Authorized || len(got.Chain) != 2 || got.Chain[1].KeyBits != 8193 || got.Certificate.KeyType != "ECDSA" ||
				!hasIssue(got, severityFail, certs.DefectLongKey) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSSLStapleByALongKey: no response is verified by one, though it came with the response.
func TestSSLStapleByALongKey(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{sslName})
	usage := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning} }
	for bits, want := range map[int]string{
		0: stapleGood, certs.MaxKeyBits + 1: stapleInvalid, 200_000: stapleInvalid,
	} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			t.Parallel()
			responder := certtest.Leaf(t, root, []string{"ocsp.example.com"}, usage)
			der := staple(t, root, responder, leaf.Certificate, nil)
			if bits > 0 {
				long := certtest.Foreign(t, root, []string{"ocsp.example.com"}, certtest.RSAOfBits(t, bits, 65537), usage)
				der = staple(t, root, responder, leaf.Certificate, func(r *ocsp.Response) { r.Certificate = long.Certificate })
			}
			began := time.Now()
			got := readStaple(der, certtest.List(leaf, root), certtest.Epoch)
			if got.Status == nil || *got.Status != want {
				t.Errorf("status %v, want %s", got.Status, want)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestSSLCertificatesThatAreCutOff: a server that leaves in the middle of them has shown none.
func TestSSLCertificatesThatAreCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := slices.Repeat([]*certtest.Cert{w.inter}, 20)
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(many...))
	w.ServeConn(sslServer, func(c net.Conn) { handshakeAndWait(&leaving{Conn: c, left: 4000}, config) })
	if got, err := w.check(t, sslName); !fault.Is(err, fault.Upstream) {
		t.Errorf("%+v, %v", got, err)
	}
}

// leaving is a connection that ends after so many octets.
type leaving struct {
	net.Conn
	left int
}

func (l *leaving) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p[:min(len(p), l.left)])
	if l.left -= n; l.left == 0 {
		_ = l.Close()
		return n, io.ErrClosedPipe
	}
	return n, err
}

// forgetful has a key and cannot sign with it.
type forgetful struct{ public crypto.PublicKey }

func (f forgetful) Public() crypto.PublicKey { return f.public }

func (f forgetful) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("the key is elsewhere")
}

// TestSSLServersThatCannotSign: a handshake that fails after the certificates, for another reason, says nothing about
// them. TLS 1.0 to 1.2 show them to nobody before that.
func TestSSLServersThatCannotSign(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS12, tls.VersionTLS13} {
		for others, extra := range map[int]string{0: "", 20: "CHAIN_TOO_LONG"} {
			t.Run(fmt.Sprint(protocolName(version), " ", others), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				sent := append([]*certtest.Cert{w.inter}, slices.Repeat([]*certtest.Cert{w.root}, others)...)
				leaf := certtest.Leaf(t, w.inter, []string{sslName})
				cert := leaf.TLS(sent...)
				cert.PrivateKey = forgetful{leaf.Key.Public()}
				config := oneCertificate(cert)
				config.MinVersion, config.MaxVersion = version, version
				w.serve(sslServer, config)
				got := w.mustCheck(t, sslName)
				if !got.Authorized || got.AuthorizationError != nil || !got.ChainComplete ||
					!hasIssue(got, severityFail, "HANDSHAKE_NOT_COMPLETED") ||
					hasIssue(got, severityFail, certs.DefectUnfinished) ||
					extra != "" && !hasIssue(got, severityWarn, extra) || got.Truncated != (extra != "") {
					t.Errorf("authorized %v, truncated %v, issues %v", got.Authorized, got.Truncated, issueCodes(got))
				}
			})
		}
	}
}
