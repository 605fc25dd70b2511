package sslchecker

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

const (
	sslName   = "www.example.com"
	sslServer = "93.184.216.34:443"
	// sslTimeout stands for the seven seconds where a test waits for silence; the others get sslLongTimeout.
	sslTimeout     = 200 * time.Millisecond
	sslLongTimeout = 10 * time.Second
)

// world is a network with a certificate authority that the checker trusts.
type world struct {
	*egresstest.Network
	root, inter *certtest.Cert
	timeout     time.Duration
	probing     bool // by package tlsscan
	options     []egress.Option
	public      func(*x509.Certificate) bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Network: egresstest.New(t), root: certtest.Root(t, "Test Root"), timeout: sslLongTimeout}
	w.inter = certtest.Intermediate(t, w.root, "Test Intermediate")
	w.Records(sslName + ". 300 IN A 93.184.216.34")
	return w
}

func (w *world) check(t *testing.T, input string) (Result, error) {
	t.Helper()
	return w.checker(t).run(t.Context(), toolstest.HostPort(t, input))
}

// checker is one way of checking in this network. It scans versions alone, with crypto/tls.
func (w *world) checker(t *testing.T) checker {
	t.Helper()
	now := func() time.Time { return certtest.Epoch }
	certs := certs.Checker{Roots: certtest.Pool(w.root), Public: w.public, Now: now}
	check := newChecker(w.Client(nil, w.options...), certs, toolstest.Store(t), now)
	check.timeout, check.grace, check.probing = w.timeout, w.timeout, w.timeout
	if !w.probing {
		check.scan = scanWithGo
	}
	return check
}

// goVersions are those that crypto/tls has, in the order of yesNo.
var goVersions = []tlsscan.Version{tlsscan.TLS10, tlsscan.TLS11, tlsscan.TLS12, tlsscan.TLS13}

// scanWithGo stands for the probing: it is quick, and limited to what crypto/tls has.
func scanWithGo(ctx context.Context, s tlsscan.Scan) tlsscan.Report {
	report := tlsscan.Report{Versions: map[tlsscan.Version]*bool{}, Complete: true}
	for _, version := range goVersions {
		conn, err := s.Dial(ctx)
		if err != nil {
			report.Complete = false
			continue
		}
		config := clientConfig(s.ServerName)
		config.MinVersion, config.MaxVersion = uint16(version), uint16(version)
		client := tls.Client(conn, config)
		err = client.HandshakeContext(ctx)
		taken := err == nil || client.ConnectionState().Version == uint16(version)
		report.Versions[version] = &taken
		_ = conn.Close()
	}
	return report
}

func (w *world) mustCheck(t *testing.T, input string) Result {
	t.Helper()
	got, err := w.check(t, input)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// serve completes handshakes at the public address and then waits for the client to go.
func (w *world) serve(public string, config *tls.Config) {
	w.ServeConn(public, func(c net.Conn) { handshakeAndWait(c, config) })
}

func handshakeAndWait(c net.Conn, config *tls.Config) {
	server := tls.Server(c, config)
	if server.Handshake() == nil {
		_, _ = io.Copy(io.Discard, server)
	}
}

func oneCertificate(cert tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
}

func issueCodes(r Result) []string {
	codes := []string{}
	for _, issue := range r.Issues {
		codes = append(codes, issue.Severity+" "+issue.Code)
	}
	return codes
}

func hasIssue(r Result, severity, code string) bool {
	return slices.Contains(issueCodes(r), severity+" "+code)
}

func yesNo(supported map[string]*bool) string {
	var out []string
	for _, version := range goVersions {
		word := "null"
		if taken := supported[version.String()]; taken != nil && *taken {
			word = "yes"
		} else if taken != nil {
			word = "no"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestSSLGoodServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leaf := certtest.Leaf(t, w.inter, []string{sslName, "*.example.org", "93.184.216.34"}, func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: sslName, Organization: []string{"Acme, Inc."}, Country: []string{"CH"}}
		c.Policies = []x509.OID{mustOID(t, 2, 23, 140, 1, 2, 2)}
		c.OCSPServer = []string{"http://ocsp.example.com"}
		c.CRLDistributionPoints = []string{"http://crl.example.com/1.crl"}
	})
	config := oneCertificate(leaf.TLS(w.inter))
	config.NextProtos = []string{"h2"}
	w.serve(sslServer, config)
	got := w.mustCheck(t, sslName)

	if !got.Authorized || got.AuthorizationError != nil || !got.HostnameMatches || !got.ChainComplete {
		t.Errorf("verdict: %+v", got)
	}
	if d := cmp.Diff([]string{"info REVOCATION_UNKNOWN", "info POST_QUANTUM"}, issueCodes(got)); d != "" {
		t.Errorf("issues (-want +got):\n%s", d)
	}
	if got.Protocol != "TLSv1.3" || got.Cipher.Name != got.Cipher.StandardName ||
		!strings.HasPrefix(got.Cipher.Name, "TLS_") || got.Cipher.Bits < 128 {
		t.Errorf("protocol %s, cipher %+v", got.Protocol, got.Cipher)
	}
	if got.KeyExchange != "X25519MLKEM768" || got.ALPN == nil || *got.ALPN != "h2" || got.STARTTLS != nil {
		t.Errorf("key exchange %s, alpn %v, starttls %v", got.KeyExchange, got.ALPN, got.STARTTLS)
	}
	if s := yesNo(got.SupportedProtocols); s != "no no yes yes" {
		t.Errorf("supported: %s", s)
	}
	if got.HandshakeMs <= 0 || got.Address != "93.184.216.34" || got.Port != 443 || got.Host != sslName {
		t.Errorf("where and when: %+v", got)
	}
	c := got.Certificate
	level := "OV"
	want := certificate{
		chainElement: chainElement{
			Subject: `CN=www.example.com,O=Acme\, Inc.,C=CH`, Issuer: "CN=Test Intermediate",
			SerialNumber: serialNumber(leaf.Certificate), Fingerprint256: c.Fingerprint256,
			ValidFrom: "2026-05-16T12:00:00Z", ValidTo: "2026-07-15T12:00:00Z", DaysRemaining: 30,
			KeyType: "ECDSA", KeyBits: 256, SignatureAlgorithm: "ecdsa-with-SHA256",
		},
		SubjectAltNames: altNames{DNS: []string{sslName, "*.example.org"}, IP: []string{"93.184.216.34"}},
		ValidationLevel: &level,
		OCSPURLs:        []string{"http://ocsp.example.com"},
		CRLURLs:         []string{"http://crl.example.com/1.crl"},
		EffectiveEnd:    new("2026-07-15T12:00:00Z"),
	}
	if d := cmp.Diff(want, c, cmp.AllowUnexported(certificate{})); d != "" {
		t.Errorf("certificate (-want +got):\n%s", d)
	}
	if len(c.Fingerprint256) != 32*3-1 || strings.ToUpper(c.Fingerprint256) != c.Fingerprint256 {
		t.Errorf("fingerprint: %s", c.Fingerprint256)
	}
	if len(got.Chain) != 1 || got.Chain[0].Subject != "CN=Test Intermediate" || !got.Chain[0].IsCA {
		t.Errorf("chain: %+v", got.Chain)
	}
}

func mustOID(t *testing.T, arcs ...uint64) x509.OID {
	t.Helper()
	oid, err := x509.OIDFromInts(arcs)
	if err != nil {
		t.Fatal(err)
	}
	return oid
}

// TestSSLVerdicts: every kind of bad certificate is shown, never an error.
func TestSSLVerdicts(t *testing.T) {
	t.Parallel()
	past := certtest.Valid(certtest.Epoch.AddDate(0, -4, 0), certtest.Epoch.AddDate(0, -1, 0))
	future := certtest.Valid(certtest.Epoch.AddDate(0, 1, 0), certtest.Epoch.AddDate(0, 2, 0))
	name := []string{sslName}
	for _, c := range []struct {
		name     string
		present  func(*testing.T, *world) tls.Certificate
		code     string
		matches  bool
		complete bool
		extra    string // one more issue that must hold
	}{
		{"expired", func(t *testing.T, w *world) tls.Certificate {
			return certtest.Leaf(t, w.inter, name, past).TLS(w.inter)
		}, "CERT_HAS_EXPIRED", true, true, ""},
		{"not yet valid", func(t *testing.T, w *world) tls.Certificate {
			return certtest.Leaf(t, w.inter, name, future).TLS(w.inter)
		}, "CERT_NOT_YET_VALID", true, true, ""},
		{"self-signed", func(t *testing.T, _ *world) tls.Certificate {
			return certtest.Leaf(t, nil, name).TLS()
		}, "DEPTH_ZERO_SELF_SIGNED_CERT", true, false, ""},
		{"wrong host", func(t *testing.T, w *world) tls.Certificate {
			return certtest.Leaf(t, w.inter, []string{"other.example.com"}).TLS(w.inter)
		}, "ERR_TLS_CERT_ALTNAME_INVALID", false, true, ""},
		{"common name alone", func(t *testing.T, w *world) tls.Certificate {
			return certtest.Leaf(t, w.inter, nil, func(c *x509.Certificate) { c.Subject.CommonName = sslName }).TLS(w.inter)
		}, "ERR_TLS_CERT_ALTNAME_INVALID", false, true, "fail NO_SUBJECT_ALT_NAMES"},
		{"missing intermediate", func(t *testing.T, w *world) tls.Certificate {
			return certtest.Leaf(t, w.inter, name).TLS()
		}, "UNABLE_TO_VERIFY_LEAF_SIGNATURE", true, false, "warn INCOMPLETE_CHAIN"},
		{"untrusted root in the chain", func(t *testing.T, _ *world) tls.Certificate {
			other := certtest.Root(t, "Other Root")
			return certtest.Leaf(t, other, name).TLS(other)
		}, "SELF_SIGNED_CERT_IN_CHAIN", true, false, ""},
		{"untrusted root not sent", func(t *testing.T, _ *world) tls.Certificate {
			other := certtest.Intermediate(t, certtest.Root(t, "Other Root"), "Other Intermediate")
			return certtest.Leaf(t, other, name).TLS(other)
		}, "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", true, false, ""},
		{"expired, untrusted and for another host", func(t *testing.T, _ *world) tls.Certificate {
			return certtest.Leaf(t, nil, []string{"other.example.com"}, past).TLS()
		}, "CERT_HAS_EXPIRED", false, false, "fail DEPTH_ZERO_SELF_SIGNED_CERT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.serve(sslServer, oneCertificate(c.present(t, w)))
			got := w.mustCheck(t, sslName)
			if got.Authorized || got.AuthorizationError == nil || *got.AuthorizationError != c.code {
				t.Errorf("authorized %v, error %v, want %s", got.Authorized, got.AuthorizationError, c.code)
			}
			if got.HostnameMatches != c.matches || got.ChainComplete != c.complete {
				t.Errorf("hostnameMatches %v, chainComplete %v", got.HostnameMatches, got.ChainComplete)
			}
			if !hasIssue(got, severityFail, c.code) || c.extra != "" && !slices.Contains(issueCodes(got), c.extra) {
				t.Errorf("issues: %v", issueCodes(got))
			}
			for _, issue := range got.Issues {
				if issue.Message == "" {
					t.Errorf("%s says nothing", issue.Code)
				}
			}
		})
	}
}

func TestSSLVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		low, high uint16
		protocol  string
		supported string
		issue     string
	}{
		{"1.0 only", tls.VersionTLS10, tls.VersionTLS10, "TLSv1.0", "yes no no no", "fail DEPRECATED_PROTOCOL"},
		{"1.1 only", tls.VersionTLS11, tls.VersionTLS11, "TLSv1.1", "no yes no no", "fail DEPRECATED_PROTOCOL"},
		{"1.2 only", tls.VersionTLS12, tls.VersionTLS12, "TLSv1.2", "no no yes no", "info NO_TLS13"},
		{"1.3 only", tls.VersionTLS13, tls.VersionTLS13, "TLSv1.3", "no no no yes", ""},
		{"1.0 to 1.2", tls.VersionTLS10, tls.VersionTLS12, "TLSv1.2", "yes yes yes no", "warn DEPRECATED_PROTOCOL"},
		{"all", tls.VersionTLS10, tls.VersionTLS13, "TLSv1.3", "yes yes yes yes", "warn DEPRECATED_PROTOCOL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
			config.MinVersion, config.MaxVersion = c.low, c.high
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			if got.Protocol != c.protocol || yesNo(got.SupportedProtocols) != c.supported {
				t.Errorf("protocol %s, supported %s; want %s, %s", got.Protocol, yesNo(got.SupportedProtocols), c.protocol,
					c.supported)
			}
			if c.issue != "" && !slices.Contains(issueCodes(got), c.issue) {
				t.Errorf("issues: %v", issueCodes(got))
			}
		})
	}
}

// TestSSLEverySuite: whatever suite of Go's a server insists on is met and named.
func TestSSLEverySuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecdsaLeaf := certtest.Leaf(t, w.inter, []string{sslName})
	rsaLeaf := certtest.Sign(t, &x509.Certificate{
		NotBefore: ecdsaLeaf.NotBefore, NotAfter: ecdsaLeaf.NotAfter, DNSNames: []string{sslName},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}, w.inter, rsaKey)
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if slices.Contains(suite.SupportedVersions, tls.VersionTLS13) {
			continue
		}
		t.Run(suite.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			config := &tls.Config{
				Certificates: []tls.Certificate{ecdsaLeaf.TLS(), rsaLeaf.TLS()},
				CipherSuites: []uint16{suite.ID}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12,
			}
			w.serve(sslServer, config)
			got := w.mustCheck(t, sslName)
			if got.Cipher.StandardName != suite.Name || got.Cipher.Name == suite.Name || got.Cipher.Bits < 112 {
				t.Errorf("cipher: %+v", got.Cipher)
			}
			if static := strings.HasPrefix(suite.Name, "TLS_RSA_"); static != (got.KeyExchange == "RSA") ||
				static != hasIssue(got, severityWarn, "NO_FORWARD_SECRECY") {
				t.Errorf("key exchange %s, issues %v", got.KeyExchange, issueCodes(got))
			}
			for _, kind := range []string{"RC4", "3DES"} {
				if strings.Contains(suite.Name, kind) != hasIssue(got, severityFail, kind+"_CIPHER") {
					t.Errorf("issues: %v", issueCodes(got))
				}
			}
		})
	}
}

func TestSSLKeyExchange(t *testing.T) {
	t.Parallel()
	for curve, want := range map[tls.CurveID]string{
		tls.X25519: "X25519", tls.CurveP256: "P-256", tls.CurveP384: "P-384", tls.CurveP521: "P-521",
		tls.X25519MLKEM768: "X25519MLKEM768", tls.SecP256r1MLKEM768: "SecP256r1MLKEM768",
	} {
		w := newWorld(t)
		config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
		config.CurvePreferences = []tls.CurveID{curve}
		w.serve(sslServer, config)
		if got := w.mustCheck(t, sslName); got.KeyExchange != want {
			t.Errorf("%v is reported as %s", curve, got.KeyExchange)
		}
	}
}

// TestSSLServersThatAreNone: what cannot be checked is an error of the right kind, and its sentence names no cause of
// Go's.
func TestSSLServersThatAreNone(t *testing.T) {
	t.Parallel()
	plain := func(answer string) func(*world) {
		return func(w *world) {
			w.ServeConn(sslServer, func(c net.Conn) { _, _ = io.WriteString(c, answer); _, _ = io.Copy(io.Discard, c) })
		}
	}
	for _, c := range []struct {
		name    string
		arrange func(*world)
		kind    fault.Kind
		says    string
	}{
		{"refused", func(*world) {}, fault.Upstream, "refused the connection"},
		{"unreachable", func(w *world) { w.Fail(sslServer, syscall.EHOSTUNREACH) }, fault.Upstream, "could not be reached"},
		{"filtered", func(w *world) { w.Drop(sslServer) }, fault.Timeout, "did not answer"},
		{"silent", func(w *world) { w.ServeConn(sslServer, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) }, fault.Timeout, "in time"},
		{"SSH", plain("SSH-2.0-OpenSSH_9.9\r\n"), fault.Upstream, "does not use TLS"},
		{"HTTP", plain("HTTP/1.1 400 Bad Request\r\n\r\n"), fault.Upstream, "does not use TLS"},
		{"closes", func(w *world) { w.ServeConn(sslServer, func(net.Conn) {}) }, fault.Upstream, "closed the connection"},
		{"alert", plain("\x15\x03\x01\x00\x02\x02\x28"), fault.Upstream, "handshake_failure"},
		{"unknown name", plain("\x15\x03\x03\x00\x02\x02\x70"), fault.Upstream, "unrecognized_name"},
		{"strange alert", plain("\x15\x03\x03\x00\x02\x02\xc8"), fault.Upstream, "alert 200"},
		{"one byte", plain("\x16"), fault.Timeout, "in time"},
		{"unreadable certificate", func(w *world) {
			w.serve(sslServer, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{{1, 2, 3}},
				PrivateKey: w.root.Key}}})
		}, fault.Upstream, "certificate cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.timeout = sslTimeout
			c.arrange(w)
			_, err := w.check(t, sslName)
			var failed *fault.Error
			if !errors.As(err, &failed) || failed.Kind != c.kind {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(failed.Sentence(), c.says) || !strings.Contains(failed.Sentence(), sslName) ||
				strings.Contains(failed.Sentence(), "tls:") || strings.Contains(failed.Sentence(), "127.0.0.1") {
				t.Errorf("sentence: %s", failed.Sentence())
			}
		})
	}
}

// TestSSLNextAddress: a failing address is reported beside the one that answers, and a silent one does not hold it up.
func TestSSLNextAddress(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*world, string){
		"unreachable": func(w *world, at string) { w.Fail(at, syscall.EHOSTUNREACH) },
		"refused":     func(*world, string) {},
		"silent":      func(w *world, at string) { w.Drop(at) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.timeout = time.Second
			w.Records("both.example.com. 300 IN AAAA 2606:2800:220:1::1", "both.example.com. 300 IN A 93.184.216.34")
			breakIt(w, "[2606:2800:220:1::1]:443")
			w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{"both.example.com"}).TLS(w.inter)))
			got := w.mustCheck(t, "both.example.com")
			if got.Address != "93.184.216.34" || !got.Authorized {
				t.Errorf("reached %s", got.Address)
			}
			if !slices.Contains(w.Dials(), netip.MustParseAddrPort("[2606:2800:220:1::1]:443")) ||
				!hasIssue(got, severityWarn, "ENDPOINT_UNREACHABLE") {
				t.Errorf("dialled %v, issues %v", w.Dials(), issueCodes(got))
			}
		})
	}
}

func TestSSLRefusedTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Records("mixed.example.com. 300 IN A 93.184.216.34", "mixed.example.com. 300 IN A 192.168.1.1",
		"six.example.com. 300 IN AAAA 2606:2800:220:1::1")
	w.options = []egress.Option{egress.WithFamilies(egress.Families{V4: true})}
	for input, kind := range map[string]fault.Kind{
		"mixed.example.com":       fault.Refused,
		"nowhere.example.com":     fault.NoAddress,
		"six.example.com":         fault.Upstream,
		"[2606:2800:220:1::1]:25": fault.Upstream,
	} {
		_, err := w.check(t, input)
		if !fault.Is(err, kind) {
			t.Errorf("%s: %v", input, err)
		}
		if kind == fault.Upstream && !strings.HasPrefix(err.Error(), "This service has no IPv6 connection") {
			t.Errorf("%s: %v", input, err)
		}
	}
	if len(w.Dials()) != 0 {
		t.Errorf("dialled %v", w.Dials())
	}
}

// TestSSLClientCertificate: a server that demands one still shows its own certificate.
func TestSSLClientCertificate(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		w := newWorld(t)
		config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
		config.ClientAuth, config.MaxVersion = tls.RequireAnyClientCert, version
		w.serve(sslServer, config)
		got := w.mustCheck(t, sslName)
		if !got.Authorized || !hasIssue(got, severityInfo, "CLIENT_CERTIFICATE_REQUESTED") {
			t.Errorf("%s: authorized %v, issues %v", protocolName(version), got.Authorized, issueCodes(got))
		}
		if taken := got.SupportedProtocols[protocolName(version)]; taken == nil || !*taken {
			t.Errorf("%s: supported %s", protocolName(version), yesNo(got.SupportedProtocols))
		}
	}
}

func TestSSLServerName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leaf := certtest.Leaf(t, w.inter, []string{"93.184.216.34", "2606:2800:220:1::1", sslName})
	names := make(chan string, 200)
	config := oneCertificate(leaf.TLS(w.inter))
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		names <- hello.ServerName
		return nil, nil
	}
	w.serve(sslServer, config)
	w.serve("[2606:2800:220:1::1]:8443", config)
	for input, want := range map[string]string{sslName: sslName, "93.184.216.34": "", "[2606:2800:220:1::1]:8443": ""} {
		got := w.mustCheck(t, input)
		if !got.Authorized {
			t.Errorf("%s: %v", input, *got.AuthorizationError)
		}
		if name := <-names; name != want {
			t.Errorf("%s: server name %q", input, name)
		}
		for len(names) > 0 { // once without a name
			if name := <-names; name != want && name != "" {
				t.Errorf("%s: server name %q", input, name)
			}
		}
	}
	if got := w.mustCheck(t, "[2606:2800:220:1::1]:8443"); got.Host != "2606:2800:220:1::1" || got.Address != got.Host ||
		got.Port != 8443 {
		t.Errorf("literal: %s %s %d", got.Host, got.Address, got.Port)
	}
}

// TestSSLOtherApplicationProtocol: a server that insists on its own protocol over TLS is tried again without any.
func TestSSLOtherApplicationProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	config.NextProtos = []string{"imap"}
	w.serve("93.184.216.34:993", config)
	got := w.mustCheck(t, sslName+":993")
	if !got.Authorized || got.ALPN != nil || yesNo(got.SupportedProtocols) != "no no yes yes" {
		t.Errorf("got %+v", got)
	}
}

// TestSSLIssuerBeyondTheBound: an intermediate may be among the certificates that are not judged.
func TestSSLIssuerBeyondTheBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var others []*certtest.Cert
	for range certs.MaxCertificates {
		others = append(others, w.root)
	}
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(append(others, w.inter)...)))
	got := w.mustCheck(t, sslName)
	if got.Authorized || got.Conclusion.Code != codeNotVerified || !hasIssue(got, severityWarn, "CHAIN_TOO_LONG") ||
		hasIssue(got, severityFail, certs.CodeUnverifiableLeaf) || hasIssue(got, severityWarn, "INCOMPLETE_CHAIN") {
		t.Errorf("%+v, %v", got.Conclusion, issueCodes(got))
	}
}

func TestSSLLongChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	others := []*certtest.Cert{w.inter}
	for range 200 {
		others = append(others, w.root)
	}
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(others...)))
	got := w.mustCheck(t, sslName)
	if !got.Authorized || len(got.Chain) != maxShownChain || !hasIssue(got, severityWarn, "CHAIN_TOO_LONG") ||
		!hasIssue(got, severityInfo, "CHAIN_REPEATED") || hasIssue(got, severityInfo, "CHAIN_NOT_IN_ORDER") {
		t.Errorf("%d shown, issues %v", len(got.Chain), issueCodes(got))
	}

	w = newWorld(t)
	for range 2000 {
		others = append(others, w.root)
	}
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(others...)))
	got = w.mustCheck(t, sslName)
	if got.Authorized || !got.Truncated || len(got.Chain) != maxShownChain ||
		!hasIssue(got, severityInfo, "CHAIN_NOT_READ") {
		t.Errorf("a handshake beyond all bounds: %v", issueCodes(got))
	}
}

func TestSSLWeakKeys(t *testing.T) {
	t.Parallel()
	for bits, weak := range map[int]bool{1024: true, 2047: true, 2048: false} {
		w := newWorld(t)
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		leaf := certtest.Sign(t, &x509.Certificate{
			NotBefore: certtest.Epoch.AddDate(0, 0, -1), NotAfter: certtest.Epoch.AddDate(0, 0, 60), DNSNames: []string{sslName},
		}, w.inter, key)
		w.serve(sslServer, oneCertificate(leaf.TLS(w.inter)))
		got := w.mustCheck(t, sslName)
		if got.Certificate.KeyType != "RSA" || got.Certificate.KeyBits != bits ||
			hasIssue(got, severityFail, "WEAK_KEY") != weak {
			t.Errorf("%d bits: %s %d, issues %v", bits, got.Certificate.KeyType, got.Certificate.KeyBits, issueCodes(got))
		}
	}
}

func TestSSLWhenTheRunEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ServeConn(sslServer, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	check := w.checker(t)
	check.timeout = time.Minute
	for name, at := range map[string]string{"dial": "93.184.216.34:444", "handshake": sslServer,
		"starttls": "93.184.216.34:25"} {
		w.Drop("93.184.216.34:444")
		if name == "starttls" {
			w.ServeConn(at, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		if _, err := check.run(ctx, toolstest.HostPort(t, at)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSSLCheckerShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leaf := certtest.Leaf(t, nil, nil, func(c *x509.Certificate) { c.Subject.CommonName = "x\x00\"" })
	w.serve(sslServer, oneCertificate(leaf.TLS()))
	now := func() time.Time { return certtest.Epoch }
	certs := certs.Checker{Roots: certtest.Pool(w.root), Now: now}
	result := toolstest.MustRun[Result](t, New(w.Client(nil), certs, toolstest.Store(t), now), tool.Input{Text: sslName})
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"host": `"www.example.com"`, "port": "443", "address": `"93.184.216.34"`, "authorized": "false",
		"authorizationError": `"DEPTH_ZERO_SELF_SIGNED_CERT"`, "protocol": `"TLSv1.3"`, "keyExchange": `"X25519MLKEM768"`,
		"alpn": "null", "starttls": "null", "chain": "[]", "hostnameMatches": "false", "chainComplete": "false",
		"supportedProtocols": `{"SSLv3":false,"TLSv1.0":false,"TLSv1.1":false,"TLSv1.2":true,"TLSv1.3":true}`,
		"ocspStapling":       `{"present":false,"status":null}`, "scts": `{"count":0,"sources":[]}`,
	} {
		if string(got[key]) != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
	var certificate map[string]any
	if err := json.Unmarshal(got["certificate"], &certificate); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key, value := range certificate {
		keys = append(keys, key)
		if value == nil && key != "validationLevel" && key != "effectiveEnd" {
			t.Errorf("certificate.%s is null", key)
		}
	}
	slices.Sort(keys)
	want := []string{"crlUrls", "daysRemaining", "effectiveEnd", "fingerprint256", "isCA", "issuer", "keyBits", "keyType",
		"mustStaple", "ocspUrls",
		"selfSigned", "serialNumber", "signatureAlgorithm", "subject", "subjectAltNames", "validFrom", "validTo", "validationLevel"}
	if d := cmp.Diff(want, keys); d != "" {
		t.Errorf("certificate (-want +got):\n%s", d)
	}
	for _, key := range []string{"cipher", "issues", "handshakeMs"} {
		if len(got[key]) == 0 {
			t.Errorf("%s is missing", key)
		}
	}
}

// TestTheFirstAddressThatWasNotTried: where no address takes the connection, the first limit or shortage is the
// failure.
func TestTheFirstAddressThatWasNotTried(t *testing.T) {
	t.Parallel()
	limited, busy := fault.LimitedFor(time.Second, "ADDRESS_BUSY"), fault.New(fault.Busy, "SHORTAGE_HERE", nil)
	for _, failures := range [][]error{{limited, busy}, {busy, limited}} {
		for _, all := range [][]error{failures, append([]error{syscall.ECONNREFUSED}, failures...)} {
			if err := connectFault("example.com", 443, all); !errors.Is(err, failures[0]) {
				t.Errorf("%v: %v", all, err)
			}
		}
	}
}

// TestNothingToTellIsAnEmptyList: a server of which there is nothing to say has no issues, which the contract has as an
// empty list and never as null.
func TestNothingToTellIsAnEmptyList(t *testing.T) {
	t.Parallel()
	v := &attempt{seen: observation{state: tls.ConnectionState{
		Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, CurveID: tls.X25519,
	}}}
	i := &inspection{results: []*Result{{Authorized: true}}}
	i.attempts = &endpoints.Checks[*attempt]{Results: []endpointCheck{{State: endpoints.Up, Value: v}}}
	got := i.conclude(0, probed{}, []otherCertificate{}, besideFacts{of: i.results[0]})
	if got.Issues == nil || len(got.Issues) > 0 {
		t.Errorf("issues %#v", got.Issues)
	}
}

// A chain that a run has no room left to verify is unknown, and no fault of the server.
func TestAChainThatARunHasNoRoomFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)))
	ctx := processor.WithMeter(t.Context(), func(err error) { t.Error(err) })
	for processor.Of(ctx).Take(weight.P256.Cost) {
	}
	r, err := w.checker(t).run(certs.WithMemory(ctx, processor.Of(ctx).Take), toolstest.HostPort(t, sslName))
	if err != nil {
		t.Fatal(err)
	}
	if r.Authorized || r.Conclusion.State != "unknown" {
		t.Errorf("%+v", r.Conclusion)
	}
}
