package places

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"PEER_TOKEN_FILE=" + dir + "/token", "PEER_TLS_KEY_FILE=" + dir + "/key",
		"PEER_TLS_CERT_FILE=" + dir + "/cert", "PEER_TLS_NAMES=fra.example.net, 192.0.2.7,2001:db8::7"}
	var first, second bytes.Buffer
	if err := Init(env, &first); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for _, name := range []string{"token", "key", "cert"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		content, _ := os.ReadFile(filepath.Join(dir, name))
		before[name] = string(content)
	}
	if err := Init(env, &second); err != nil || first.String() != second.String() {
		t.Errorf("again: %v, %s", err, second.String())
	}
	for name, content := range before {
		if after, _ := os.ReadFile(filepath.Join(dir, name)); string(after) != content {
			t.Errorf("%s was overwritten", name)
		}
	}
	block, _ := pem.Decode([]byte(before["cert"]))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if text := first.String(); !strings.Contains(text, fmt.Sprintf("%X", sha256.Sum256(block.Bytes))) ||
		!strings.Contains(text, dir+"/token") || strings.Contains(text, strings.TrimSpace(before["token"])) {
		t.Error(text)
	}
	for _, name := range []string{"fra.example.net", "192.0.2.7", "2001:db8::7"} {
		if err := cert.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	for _, apart := range []time.Duration{-time.Hour, 0, time.Hour} {
		verify := x509.VerifyOptions{Roots: roots, CurrentTime: time.Now().Add(apart), DNSName: "fra.example.net"}
		if _, err := cert.Verify(verify); err != nil {
			t.Errorf("for a clock %v apart: %v", apart, err)
		}
	}
	if tokens, err := ParseToken(strings.TrimSpace(before["token"])); err != nil || len(tokens) != 1 {
		t.Errorf("the token: %v", err)
	}
	if err := os.Remove(dir + "/key"); err != nil {
		t.Fatal(err)
	}
	if err := Init(env, io.Discard); err == nil {
		t.Error("a key was made for a certificate that is there")
	}
}
