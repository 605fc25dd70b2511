package sslchecker

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/tool/finding"
)

// TestChainFindings: each disorder has a code and a sentence of its own, and an order that is right has none.
func TestChainFindings(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "The Root")
	first := certtest.Intermediate(t, root, "First")
	second := certtest.Intermediate(t, first, "Second")
	leaf := certtest.Leaf(t, second, []string{sslName})
	other := certtest.Root(t, "Other Root")
	third := certtest.Root(t, "Third Root")
	for _, c := range []struct {
		name  string
		sent  []*certtest.Cert
		codes string
		says  string // in the last of them
	}{
		{"right", []*certtest.Cert{leaf, second, first}, "", ""},
		{"out of order", []*certtest.Cert{leaf, first, second}, "info CHAIN_NOT_IN_ORDER", "not in order"},
		{"repeated", []*certtest.Cert{leaf, second, second, first}, "info CHAIN_REPEATED", "more than once"},
		{"foreign", []*certtest.Cert{leaf, second, first, other}, "info CHAIN_FOREIGN", "a certificate that is not part of the chain: Other Root."},
		{"two foreign", []*certtest.Cert{leaf, second, first, other, third}, "info CHAIN_FOREIGN", "2 certificates that are not part of the chain: Other Root and Third Root."},
		{"root", []*certtest.Cert{leaf, second, first, root}, "info CHAIN_HAS_ROOT", "the root, The Root."},
		{"all of it", []*certtest.Cert{leaf, first, second, second, other, root},
			"info CHAIN_NOT_IN_ORDER, info CHAIN_REPEATED, info CHAIN_FOREIGN, info CHAIN_HAS_ROOT", "the root"},
		{"missing intermediate", []*certtest.Cert{leaf}, "warn INCOMPLETE_CHAIN", "does not send the intermediate"},
		{"wrong intermediate", []*certtest.Cert{leaf, first}, "", ""}, // the verdict says it
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := chainFindings(len(c.sent), judgeAs(root, certs.Signing, c.sent...))
			if got := codesOf(found); got != c.codes {
				t.Errorf("%s, want %s", got, c.codes)
			}
			if len(found) > 0 && !strings.Contains(found[len(found)-1].Message, c.says) {
				t.Errorf("%s", found[len(found)-1].Message)
			}
		})
	}
	direct := certtest.Leaf(t, root, []string{sslName})
	if found := chainFindings(1, judgeAs(root, certs.Signing, direct)); len(found) > 0 {
		t.Errorf("issued by the root: %v", found)
	}
	if slices.ContainsFunc(chainFindings(2, judgeAs(root, certs.Signing, leaf, other)), func(f finding.Finding) bool {
		return f.Code == "CHAIN_FOREIGN"
	}) {
		t.Error("beside a gap nothing is known to be foreign")
	}
}

// judgeAs judges for the host by one root at the epoch.
func judgeAs(root *certtest.Cert, exchange certs.KeyExchange, sent ...*certtest.Cert) certs.Verdict {
	checker := certs.Checker{
		Roots: certtest.Pool(root), Public: root.Equal, Now: func() time.Time { return certtest.Epoch },
	}
	return checker.Check(certtest.List(sent...), sslName, exchange)
}

func messageOf(found []finding.Finding, code string) string {
	for _, f := range found {
		if f.Code == code {
			return f.Message
		}
	}
	return ""
}

func TestVerdictWords(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "R11")
	other := certtest.Intermediate(t, certtest.Root(t, "Other Root"), "R3")
	another := certtest.Intermediate(t, root, "E5")
	forClients := certtest.Intermediate(t, root, "Clients", func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	keyUsage := func(u x509.KeyUsage) certtest.Option { return func(c *x509.Certificate) { c.KeyUsage = u } }
	clientAuth := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	name := []string{sslName}
	for _, c := range []struct {
		name     string
		exchange certs.KeyExchange
		sent     []*certtest.Cert
		code     string
		want     string
	}{
		{"no signing", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, name, keyUsage(x509.KeyUsageKeyEncipherment))},
			"INVALID_PURPOSE", "The certificate does not allow its key to be used as this server uses it: its keyUsage lacks digitalSignature, which TLS 1.3 and all key exchange by (EC)DHE need."},
		{"no encryption", certs.Transport, []*certtest.Cert{certtest.Leaf(t, root, name)},
			"INVALID_PURPOSE", "The certificate does not allow its key to be used as this server uses it: its keyUsage lacks keyEncipherment, which key exchange by RSA needs."},
		{"no agreement", certs.Agreement, []*certtest.Cert{certtest.Leaf(t, root, name)},
			"INVALID_PURPOSE", "The certificate does not allow its key to be used as this server uses it: its keyUsage lacks keyAgreement, which key exchange by fixed Diffie-Hellman keys needs."},
		{"for clients", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, name, clientAuth)},
			"INVALID_PURPOSE", "The certificate is not for servers: its extendedKeyUsage lacks serverAuth."},
		{"both", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, name, clientAuth, keyUsage(x509.KeyUsageKeyAgreement))},
			"INVALID_PURPOSE", "The certificate does not allow its key to be used as this server uses it: its keyUsage lacks digitalSignature, which TLS 1.3 and all key exchange by (EC)DHE need. The certificate is not for servers: its extendedKeyUsage lacks serverAuth."},
		{"authority for clients", certs.Signing, []*certtest.Cert{certtest.Leaf(t, forClients, name), forClients},
			"INVALID_PURPOSE", "An authority in the chain may not vouch for servers: its extendedKeyUsage lacks serverAuth."},
		{"missing intermediate", certs.Signing, []*certtest.Cert{certtest.Leaf(t, inter, name)},
			"UNABLE_TO_VERIFY_LEAF_SIGNATURE", "The server does not send the certificate of its issuer, which clients do not know."},
		{"missing intermediate, root sent", certs.Signing, []*certtest.Cert{certtest.Leaf(t, inter, name), root},
			"UNABLE_TO_VERIFY_LEAF_SIGNATURE", "The server does not send the certificate of its issuer, which clients do not know."},
		{"wrong intermediate", certs.Signing, []*certtest.Cert{certtest.Leaf(t, inter, name), other},
			"UNABLE_TO_VERIFY_LEAF_SIGNATURE", "The certificate was issued by R11, but the server sends R3 instead: the wrong intermediate certificate is installed. Some browsers hide that."},
		{"two wrong ones", certs.Signing, []*certtest.Cert{certtest.Leaf(t, inter, name), other, another},
			"UNABLE_TO_VERIFY_LEAF_SIGNATURE", "The certificate was issued by R11, but the server sends R3 and E5 instead: the wrong intermediate certificate is installed. Some browsers hide that."},
		{"another name", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, []string{"a.example.org"})},
			"ERR_TLS_CERT_ALTNAME_INVALID", "The certificate is for a.example.org, not for this host."},
		{"public suffix", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, []string{"*.com"})},
			"ERR_TLS_CERT_ALTNAME_INVALID", "The certificate is for *.com, not for this host."},
		{"no name", certs.Signing, []*certtest.Cert{certtest.Leaf(t, root, nil)},
			"ERR_TLS_CERT_ALTNAME_INVALID", "The certificate is not for this host: it names no host at all."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := messageOf(verdictFindings(judgeAs(root, c.exchange, c.sent...), certtest.Epoch), c.code); got != c.want {
				t.Errorf("%s: %q\nwant %q", c.code, got, c.want)
			}
		})
	}
}

func TestPublicSuffixWords(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{"*.net", "example.org"})
	checker := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	verdict := checker.Check(certtest.List(leaf), "example.net", certs.Signing)
	want := "The certificate is for this host only by *.net, a wildcard for a whole public suffix, which clients do not " +
		"accept."
	if got := messageOf(verdictFindings(verdict, certtest.Epoch), certs.CodeNameMismatch); got != want ||
		verdict.Authorized {
		t.Errorf("%q", got)
	}
}

// Each is of a bounded length and without what may harm.
func TestNamesInSentencesAreBounded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("é", 65): strings.Repeat("é", 64) + "…",
		"a\x00b\x7f\nc": "a\uFFFDb\uFFFD\uFFFDc", "a\xffb": "a\uFFFDb",
	} {
		if got := fitName(name); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q", name, got)
		}
	}
	for want, name := range map[string]pkix.Name{
		"R11": {CommonName: "R11", Organization: []string{"Let's Encrypt"}}, "O=Acme": {Organization: []string{"Acme"}},
		"a certificate without a name": {},
	} {
		if got := shortName(name); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	root := certtest.Root(t, "Root")
	leaf := certtest.Leaf(t, root, []string{"a.example.org", "93.184.216.34", "2606:4700:4700::1111", "93.184.216.35",
		"93.184.216.36"})
	want := "The certificate is for a.example.org, 93.184.216.34, 2606:4700:4700::1111 and 2 more, not for this host."
	found := verdictFindings(judgeAs(root, certs.Signing, leaf), certtest.Epoch)
	if got := messageOf(found, certs.CodeNameMismatch); got != want {
		t.Errorf("%s", got)
	}
}
