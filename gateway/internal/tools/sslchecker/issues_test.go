package sslchecker

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
)

func codesOf(issues []issue) string {
	var codes []string
	for _, i := range issues {
		codes = append(codes, i.Severity+" "+i.Code)
	}
	return strings.Join(codes, ", ")
}

// TestKeysOfNoBrowser reads certificates that openssl made, since crypto/x509 can make none of these.
func TestKeysOfNoBrowser(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		kind   string
		bits   int
		issues string
	}{
		"ed25519": {"Ed25519", 256, "warn UNSUPPORTED_KEY"},
		"ed448":   {"Ed448", 456, "warn UNSUPPORTED_KEY"},
		"dsa":     {"DSA", 0, "warn UNSUPPORTED_KEY"},
		"rsa-pss": {"RSASSA-PSS", 2048, ""},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", "keys", name+".pem"))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(raw)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if kind, bits := describeKey(cert); kind != want.kind || bits != want.bits {
			t.Errorf("%s: %s %d", name, kind, bits)
		}
		if got := codesOf(browserIssues(cert)); got != want.issues {
			t.Errorf("%s: %s", name, got)
		}
		// Whoever issued it can be verified: that takes the issuer's key and not the server's own.
		described := describeCertificate(cert, time.Now())
		if described.KeyType != want.kind || described.SignatureAlgorithm == "" {
			t.Errorf("%s: %+v", name, described.chainElement)
		}
	}
	for _, junk := range [][]byte{nil, {0x30}, {0x30, 0}, []byte("junk")} {
		if kind, bits := describeOtherKey(junk); kind != "unknown" || bits != 0 {
			t.Errorf("%x: %s %d", junk, kind, bits)
		}
	}
}

func TestAnyPurposeOnly(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	const server, every = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageAny
	for name, c := range map[string]struct {
		usage []x509.ExtKeyUsage
		want  string
	}{
		"none":       {nil, ""},
		"server":     {[]x509.ExtKeyUsage{server}, ""},
		"any":        {[]x509.ExtKeyUsage{every}, "warn ANY_PURPOSE_ONLY"},
		"any others": {[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, every}, "warn ANY_PURPOSE_ONLY"},
		"any server": {[]x509.ExtKeyUsage{every, server}, ""},
		"clients":    {[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, ""}, // refused, and told by that
	} {
		leaf := certtest.Leaf(t, root, []string{sslName}, func(c2 *x509.Certificate) { c2.ExtKeyUsage = c.usage })
		if got := codesOf(browserIssues(leaf.Certificate)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTimestampIssues: browsers demand timestamps of authorities that are publicly trusted, and mail has no browsers.
func TestTimestampIssues(t *testing.T) {
	t.Parallel()
	public, private := certs.Verdict{Public: true}, certs.Verdict{}
	for _, port := range []uint16{443, 8443, 80, 636, 24, 26} {
		if got := codesOf(timestampIssues(public, port, timestamps{})); got != "warn NO_SCTS" {
			t.Errorf("port %d: %q", port, got)
		}
		if got := codesOf(timestampIssues(public, port, timestamps{Count: 1})); got != "" {
			t.Errorf("port %d, with a timestamp: %q", port, got)
		}
		if got := codesOf(timestampIssues(private, port, timestamps{})); got != "" {
			t.Errorf("port %d, of a private authority: %q", port, got)
		}
	}
	for _, port := range mailPorts {
		if got := codesOf(timestampIssues(public, port, timestamps{})); got != "" {
			t.Errorf("mail port %d: %q", port, got)
		}
	}
	for port := range starttlsByPort {
		if !slices.Contains(mailPorts, port) {
			t.Errorf("STARTTLS port %d is none of mail", port)
		}
	}
}
