package sslchecker

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/tool/finding"
)

// The severities of issues.
const (
	severityFail = string(finding.Fail)
	severityWarn = string(finding.Warn)
	severityInfo = string(finding.Info)
)

func codesOf(found []finding.Finding) string {
	var codes []string
	for _, f := range found {
		codes = append(codes, fmt.Sprint(f.Severity, " ", f.Code))
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
		if got := codesOf(browserFindings(cert)); got != want.issues {
			t.Errorf("%s: %s", name, got)
		}
		// The issuer can be verified: that takes the issuer's key and not the server's own.
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
		"clients":    {[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, ""}, // refused, and reported as that
	} {
		leaf := certtest.Leaf(t, root, []string{sslName}, func(c2 *x509.Certificate) { c2.ExtKeyUsage = c.usage })
		if got := codesOf(browserFindings(leaf.Certificate)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTimestampFindings: browsers demand timestamps of authorities that are publicly trusted, and mail has no browsers.
func TestTimestampFindings(t *testing.T) {
	t.Parallel()
	public, private := certs.Verdict{Public: true}, certs.Verdict{}
	for _, port := range []uint16{443, 8443, 80, 636, 24, 26} {
		if got := codesOf(timestampFindings(public, port, timestamps{})); got != "warn NO_SCTS" {
			t.Errorf("port %d: %q", port, got)
		}
		if got := codesOf(timestampFindings(public, port, timestamps{Count: 1})); got != "" {
			t.Errorf("port %d, with a timestamp: %q", port, got)
		}
		if got := codesOf(timestampFindings(private, port, timestamps{})); got != "" {
			t.Errorf("port %d, of a private authority: %q", port, got)
		}
	}
	for _, port := range mailPorts {
		if got := codesOf(timestampFindings(public, port, timestamps{})); got != "" {
			t.Errorf("mail port %d: %q", port, got)
		}
	}
	for port := range starttlsByPort {
		if !slices.Contains(mailPorts, port) {
			t.Errorf("STARTTLS port %d is none of mail", port)
		}
	}
}

// What a server accepts is reported once each, by name.
func TestSuiteFindings(t *testing.T) {
	t.Parallel()
	const good = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
	for _, c := range []struct {
		name     string
		taken    []uint16
		chosen   uint16
		bits     int
		groups   []uint16
		complete bool
		want     []string
	}{
		{"good", []uint16{good}, good, 0, []uint16{0x11EC}, true, []string{"info POST_QUANTUM X25519MLKEM768"}},
		{"no probing", nil, good, 0, nil, false, nil},
		{"not yet", []uint16{good}, good, 2048, []uint16{29}, true, []string{"info NOT_POST_QUANTUM not yet"}},
		{"not known", []uint16{good}, good, 2048, []uint16{29}, false, nil},
		{"everything of once", []uint16{0x0001, 0x0034, 0x0003, 0x0006, 0x0009, 0x0005, 0x000A, 0x0018, 0x0017}, good, 0,
			[]uint16{0x11EC}, true, []string{
				"fail NULL_CIPHER : TLS_RSA_WITH_NULL_MD5.",
				"fail ANONYMOUS_CIPHER : TLS_DH_anon_WITH_AES_128_CBC_SHA, TLS_DH_anon_WITH_RC4_128_MD5 and " +
					"TLS_DH_anon_EXPORT_WITH_RC4_40_MD5.",
				"fail EXPORT_CIPHER : TLS_RSA_EXPORT_WITH_RC4_40_MD5 and TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5.",
				"fail DES_CIPHER : TLS_RSA_WITH_DES_CBC_SHA.", "fail RC4_CIPHER : TLS_RSA_WITH_RC4_128_SHA.",
				"fail 3DES_CIPHER : TLS_RSA_WITH_3DES_EDE_CBC_SHA.", "info POST_QUANTUM ready",
			}},
		{"more than are named", []uint16{0x0001, 0x0002, 0x003B, 0xC006, 0xC010}, good, 0, nil, false, []string{
			"fail NULL_CIPHER TLS_RSA_WITH_NULL_MD5, TLS_RSA_WITH_NULL_SHA, TLS_RSA_WITH_NULL_SHA256, " +
				"TLS_ECDHE_ECDSA_WITH_NULL_SHA and 1 more."}},
		{"chosen alone", nil, tls.TLS_RSA_WITH_RC4_128_SHA, 0, nil, false,
			[]string{"fail RC4_CIPHER RFC 7465", "warn NO_FORWARD_SECRECY key"}},
		{"old", nil, tls.TLS_RSA_WITH_AES_128_CBC_SHA, 0, nil, false,
			[]string{"warn NO_FORWARD_SECRECY key", "info CBC_CIPHER TLS_RSA_WITH_AES_128_CBC_SHA"}},
		{"DHE", nil, 0x009E, 2047, nil, false, []string{"warn WEAK_DH 2047 bits; 2048"}},
		{"short DHE", nil, 0x009E, 1024, nil, false, []string{"fail VERY_WEAK_DH 1024 bits"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := probed{DHBits: c.bits, Groups: c.groups, Complete: c.complete}
			for _, id := range c.taken {
				p.Suites = append(p.Suites, probedSuite{tlsscan.TLS12, id, tlsscan.Strong},
					probedSuite{tlsscan.TLS11, id, tlsscan.Strong})
			}
			var seen observation
			seen.state.CipherSuite = c.chosen
			got := p.findings(seen)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v", got)
			}
			for i, want := range c.want {
				severity, rest, _ := strings.Cut(want, " ")
				code, words, _ := strings.Cut(rest, " ")
				if string(got[i].Severity) != severity || got[i].Code != code || !strings.Contains(got[i].Message, words) {
					t.Errorf("got %+v, want %s", got[i], want)
				}
			}
		})
	}
}

// The smaller of the primes that were seen counts.
func TestSmallestPrime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ probed, seen, want int }{{0, 1024, 1024}, {1024, 4096, 1024}, {4096, 1536, 1536},
		{2048, 0, 0}, {0, 0, 0}} {
		issues := weakDHFindings(probed{DHBits: c.probed}, observation{dhBits: c.seen})
		if (len(issues) > 0) != (c.want > 0) {
			t.Errorf("%+v: %v", c, issues)
		}
	}
}

func TestProtocolFindings(t *testing.T) {
	t.Parallel()
	for takes, want := range map[string]string{
		"12 13":    "",
		"12":       "info NO_TLS13",
		"11 12 13": "warn DEPRECATED_PROTOCOL",
		"10 11":    "fail ONLY_OUTDATED_PROTOCOLS, info NO_TLS13",
		"S 10":     "fail SSL3, fail ONLY_OUTDATED_PROTOCOLS, info NO_TLS13",
		"S 13":     "fail SSL3",
		"S":        "fail ONLY_SSL3, info NO_TLS13",
	} {
		supported := map[string]*bool{}
		for word, version := range map[string]tlsscan.Version{"S": tlsscan.SSL30, "10": tlsscan.TLS10,
			"11": tlsscan.TLS11, "12": tlsscan.TLS12, "13": tlsscan.TLS13} {
			yes := strings.Contains(takes, word)
			supported[version.String()] = &yes
		}
		got := protocolFindings(supported)
		if codesOf(got) != want {
			t.Errorf("%s: %s", takes, codesOf(got))
		}
		for _, i := range issuesOf(got) {
			if !slices.Contains([]string{"SSL3", "DEPRECATED_PROTOCOL", "NO_TLS13"}, i.Code) {
				t.Errorf("%s: an issue %s", takes, i.Code)
			}
		}
	}
}
