package sslchecker

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/skiptest"
)

// serveOpenSSL serves a certificate for sslName at a public address with OpenSSL's command.
func (w *world) serveOpenSSL(t *testing.T, public string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		skiptest.Skip(t, err)
	}
	leaf := w.leafFile(t)
	server := exec.CommandContext(t.Context(), "openssl", append([]string{"s_server", "-accept", "127.0.0.1:0",
		"-cert", leaf, "-cert_chain", leaf}, args...)...)
	in, err := server.StdinPipe() // which it reads to its end
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "ACCEPT "); found {
			w.ServeConn(public, func(c net.Conn) { relay(t, c, address) })
			break
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		_, _ = server.Process.Kill(), in.Close()
		<-drained
		_ = server.Wait()
	})
}

// relay connects a client to a server on loopback.
func relay(t *testing.T, client net.Conn, address string) {
	var d net.Dialer
	server, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	_, _ = io.Copy(server, client)
	_ = server.Close()
	<-back
}

// leafFile is a PEM file with a certificate for sslName, its issuer and its key.
func (w *world) leafFile(t *testing.T) string {
	t.Helper()
	leaf := certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for _, der := range leaf.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	file := filepath.Join(t.TempDir(), "leaf.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSSLOneGroup: servers of TLS 1.3 with one group that crypto/tls lacks are read, or it is reported that they were
// not; neither is a refusal.
func TestSSLOneGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.probing = true
	w.serveOpenSSL(t, sslServer, "-tls1_3", "-groups", "ffdhe3072")
	got := w.mustCheck(t, sslName)
	if !got.Authorized || got.Protocol != "TLSv1.3" || got.KeyExchange != "ffdhe3072" ||
		!slices.Equal(got.Groups, []string{"ffdhe3072"}) || yesNo(got.SupportedProtocols) != "no no no yes" {
		t.Errorf("%v, %s, %s, %v, %s", got.AuthorizationError, got.Protocol, got.KeyExchange, got.Groups,
			yesNo(got.SupportedProtocols))
	}

	w = newWorld(t)
	w.serveOpenSSL(t, sslServer, "-tls1_3", "-groups", "X448")
	_, err := w.check(t, sslName)
	failed, _ := errors.AsType[*fault.Error](err)
	if failed == nil || !errors.Is(err, tlsscan.ErrNotComputed) || !strings.Contains(failed.Sentence(), "x448") ||
		strings.Contains(failed.Sentence(), "refused") {
		t.Errorf("%v", err)
	}
}
