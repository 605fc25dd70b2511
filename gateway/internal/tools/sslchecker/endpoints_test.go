package sslchecker

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/google/go-cmp/cmp"
)

const (
	farm = "farm.example.com"
	six  = "2606:2800:220:1::1"
	four = "93.184.216.34"
)

// farmOf makes a world in which a name has these addresses.
func farmOf(t *testing.T, addresses ...string) *world {
	t.Helper()
	w := newWorld(t)
	for _, a := range addresses {
		kind := "A"
		if strings.Contains(a, ":") {
			kind = "AAAA"
		}
		w.Records(fmt.Sprintf("%s. 300 IN %s %s", farm, kind, a))
	}
	return w
}

// serving has an address serve a certificate of the world's intermediate.
func (w *world) serving(t *testing.T, address string, opts ...certtest.Option) {
	t.Helper()
	w.serve(at(address), oneCertificate(certtest.Leaf(t, w.inter, []string{farm}, opts...).TLS(w.inter)))
}

func at(address string) string { return net.JoinHostPort(address, "443") }

// messages are the sentences of one code.
func messages(issues []issue, code string) []string {
	var list []string
	for _, i := range issues {
		if i.Code == code {
			list = append(list, i.Severity+" "+i.Message)
		}
	}
	return list
}

var expired = certtest.Valid(certtest.Epoch.AddDate(0, -4, 0), time.Date(2026, 5, 3, 9, 0, 0, 0, time.UTC))

// The worst of two addresses is on top, and says what it does worse.
func TestTheWorstEndpointIsOnTop(t *testing.T) {
	t.Parallel()
	w := farmOf(t, six, four)
	w.serving(t, six)
	w.serving(t, four, expired)
	got := w.mustCheck(t, farm)
	if got.Address != four || got.Authorized || got.AuthorizationError == nil ||
		*got.AuthorizationError != "CERT_HAS_EXPIRED" || got.Certificate.ValidTo != "2026-05-03T09:00:00Z" {
		t.Errorf("on top: %s, %v", got.Address, got.AuthorizationError)
	}
	want := []string{"fail " + four + " still serves the certificate that expired on 3 May 2026; " + six +
		" serves a valid certificate."}
	if d := cmp.Diff(want, messages(got.Issues, "ENDPOINTS_DIFFER")); d != "" {
		t.Error(d)
	}
	var reported []string
	for _, e := range got.Endpoints {
		if e.Fingerprint256 == nil || e.Protocol == nil || *e.Protocol != "TLSv1.3" {
			t.Errorf("%+v", e)
		}
		reported = append(reported, fmt.Sprint(e.Address, " ", e.Family, " ", e.Authorized, " ", len(e.Issues)))
	}
	if d := cmp.Diff([]string{six + " 6 true 0", four + " 4 false 2"}, reported); d != "" {
		t.Error(d)
	}
}

// An address is reported as soon as it has shown its certificates, once, while others are waited for.
func TestEndpointsAreToldAsTheyCome(t *testing.T) {
	t.Parallel()
	w := farmOf(t, six, four)
	reported := make(chan struct{})
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{farm}).TLS(w.inter))
	w.ServeConn(at(six), func(c net.Conn) {
		<-reported
		handshakeAndWait(c, config)
	})
	w.serving(t, four)
	check, feed := w.checker(t), new(progress.Feed)
	running := parallel.Start(func() Result {
		got, err := check.run(progress.With(t.Context(), feed), toolstest.HostPort(t, farm))
		if err != nil {
			t.Error(err)
		}
		return got
	})
	value, position := toolstest.AwaitStep(t, feed, "endpoint", four)
	close(reported)
	for _, e := range running.Wait().Endpoints {
		if text, _ := json.Marshal(e); e.Address == four && string(text) != value {
			t.Errorf("reported %s, and is %s", value, text)
		}
	}
	if _, again := toolstest.AwaitStep(t, feed, "endpoint", four); again != position {
		t.Error("it was reported again")
	}
	toolstest.AwaitStep(t, feed, "endpoint", six)
}

// How addresses differ is said once for all that differ alike, and not where they do not.
func TestDifferences(t *testing.T) {
	t.Parallel()
	other, third := "93.184.216.35", "2606:2800:220:1::2"
	all := []string{six, four, third, other}
	same := func(t *testing.T, w *world) *tls.Config {
		t.Helper()
		return oneCertificate(certtest.Leaf(t, w.inter, []string{farm}).TLS(w.inter))
	}
	for _, c := range []struct {
		name  string
		serve func(t *testing.T, w *world)
		want  []string
	}{
		{"none", func(t *testing.T, w *world) {
			config := same(t, w)
			for _, a := range all {
				w.serve(at(a), config)
			}
		}, nil},
		{"certificates", func(t *testing.T, w *world) {
			config := same(t, w)
			for _, a := range all[:3] {
				w.serve(at(a), config)
			}
			w.serving(t, other)
		}, []string{"info " + other + " serves a different certificate than " + six + "."}},
		{"versions", func(t *testing.T, w *world) {
			config := same(t, w)
			old := config.Clone()
			old.MaxVersion = tls.VersionTLS12
			for i, a := range all {
				w.serve(at(a), []*tls.Config{config, old}[i%2])
			}
		}, []string{"warn " + four + " and " + other + " choose TLS 1.2, and " + six + " TLS 1.3."}},
		{"a chain", func(t *testing.T, w *world) {
			leaf := certtest.Leaf(t, w.inter, []string{farm})
			for i, a := range all {
				w.serve(at(a), oneCertificate([]tls.Certificate{leaf.TLS(w.inter), leaf.TLS()}[i/3]))
			}
		}, []string{"fail " + other + " serves the certificate of " + six +
			" in a way that clients refuse (an intermediate certificate is missing)."}},
		{"another name", func(t *testing.T, w *world) {
			config := same(t, w)
			for _, a := range all[:3] {
				w.serve(at(a), config)
			}
			w.serve(at(other), oneCertificate(certtest.Leaf(t, w.inter, []string{"x.example.net"}).TLS(w.inter)))
		}, []string{"fail " + other + " serves a different certificate than " + six +
			", and clients refuse it (it is for another name)."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := farmOf(t, all...)
			c.serve(t, w)
			if d := cmp.Diff(c.want, messages(w.mustCheck(t, farm).Issues, "ENDPOINTS_DIFFER")); d != "" {
				t.Error(d)
			}
		})
	}
}

// An address that gives no certificate says why, and is nothing of the others'.
func TestEndpointsThatAreNotReached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		arrange   func(*world)
		code, say string
		top       bool
	}{
		{"refused", func(*world) {}, "warn ENDPOINT_UNREACHABLE", "Clients cannot connect to " + six + ": it refused the connection on port 443.", true},
		{"no route", func(w *world) { w.Fail(at(six), syscall.EHOSTUNREACH) }, "warn ENDPOINT_UNREACHABLE",
			"Clients cannot connect to " + six + ": it could not be reached on port 443.", true},
		{"silent", func(w *world) { w.Drop(at(six)) }, "warn ENDPOINT_UNREACHABLE",
			"Clients cannot connect to " + six + ": it did not answer on port 443.", true},
		{"no TLS", func(w *world) {
			w.ServeConn(at(six), func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
		}, "fail ENDPOINT_WITHOUT_TLS", "Clients cannot use TLS at " + six + ": it does not use TLS on port 443.", true},
		{"no family", func(w *world) {
			w.options = []egress.Option{egress.WithFamilies(egress.Families{V4: true})}
		}, "info ENDPOINT_SKIPPED", six + " was not checked: this service has no IPv6 connection.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := farmOf(t, six, four)
			if c.name == "silent" {
				w.timeout = sslTimeout
			}
			c.arrange(w)
			w.serving(t, four)
			got := w.mustCheck(t, farm)
			e := got.Endpoints[0]
			if got.Address != four || !got.Authorized || e.Address != six || e.Authorized || e.Fingerprint256 != nil ||
				e.Protocol != nil || e.AuthorizationError != nil {
				t.Errorf("%s on top; %+v", got.Address, e)
			}
			if len(e.Issues) != 1 || e.Issues[0].Severity+" "+e.Issues[0].Code != c.code || e.Issues[0].Message != c.say {
				t.Errorf("issues %+v", e.Issues)
			}
			if reported := slices.Contains(issueCodes(got), c.code); reported != c.top {
				t.Errorf("on top: %v", issueCodes(got))
			}
		})
	}
}

// A difference in the certificate and in the version is one finding, whose code is that of what weighs more.
func TestDifferencesInTwoThings(t *testing.T) {
	t.Parallel()
	best := &Result{Address: "b", Protocol: "TLSv1.3"}
	for want, d := range map[string]difference{
		"ENDPOINT_VERSIONS_DIFFER a serves a different certificate than b. a chooses TLS 1.2, and b TLS 1.3.": {certificate: true},
		"ENDPOINT_VERSIONS_DIFFER a serves certificates that were not verified. a chooses TLS 1.2, and b TLS 1.3.": {
			certificate: true, unverified: true},
		"ENDPOINT_CERTIFICATE_REFUSED a serves a different certificate than b, and clients refuse it (it is for another " +
			"name). a chooses TLS 1.2, and b TLS 1.3.": {certificate: true, verdict: true, reason: certs.CodeNameMismatch},
	} {
		d.addresses, d.of, d.protocol = []string{"a"}, &Result{Protocol: "TLSv1.2"}, true
		got := d.findings(best)
		if len(got) != 1 || got[0].Code+" "+got[0].Message != want || issuesOf(got)[0].Code != "ENDPOINTS_DIFFER" {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// Four addresses are tried, of both families where both are there.
func TestWhichEndpoints(t *testing.T) {
	t.Parallel()
	v4 := []string{"93.184.217.1", "93.184.217.2", "93.184.217.3", "93.184.217.4", "93.184.217.5"}
	v6 := []string{"2606:2800:220:1::a", "2606:2800:220:1::b", "2606:2800:220:1::c"}
	for _, c := range []struct {
		has  []string
		want int
		v4   int
	}{
		{v4[:1], 1, 1}, {v4, 4, 4}, {slices.Concat(v4, v6), 4, 2}, {slices.Concat(v4, v6[:1]), 4, 3},
		{slices.Concat(v4[:1], v6), 4, 1},
	} {
		w := farmOf(t, c.has...)
		config := oneCertificate(certtest.Leaf(t, w.inter, []string{farm}).TLS(w.inter))
		for _, a := range c.has {
			w.serve(at(a), config)
		}
		got := w.mustCheck(t, farm)
		of4 := 0
		for _, e := range got.Endpoints {
			if e.Family == 4 {
				of4++
			}
		}
		if len(got.Endpoints) != c.want || of4 != c.v4 {
			t.Errorf("of %v: %+v", c.has, got.Endpoints)
		}
	}
}

// One address that is late is waited for beside the probing of another. Where it is worse it is on top, and nothing is
// known of what it takes.
func TestALateEndpoint(t *testing.T) {
	t.Parallel()
	for _, worse := range []bool{true, false} {
		w := farmOf(t, six, four)
		var opts []certtest.Option
		if worse {
			opts = append(opts, expired)
		}
		late := oneCertificate(certtest.Leaf(t, w.inter, []string{farm}, opts...).TLS(w.inter))
		probed := make(chan struct{})
		w.ServeConn(at(six), func(c net.Conn) {
			<-probed
			handshakeAndWait(c, late)
		})
		w.serving(t, four)
		check := w.checker(t)
		check.grace = time.Millisecond
		check.scan = func(ctx context.Context, s tlsscan.Scan) tlsscan.Report {
			if s.AtOnce != maxAtOnce-1 {
				t.Errorf("%d at once, beside one that is waited for", s.AtOnce)
			}
			close(probed)
			return scanWithGo(ctx, s)
		}
		got, err := check.run(t.Context(), toolstest.HostPort(t, farm))
		if err != nil {
			t.Fatal(err)
		}
		want, supported := four, "no no yes yes"
		if worse {
			want, supported = six, "null null null yes"
		}
		if got.Address != want || got.Complete == worse || yesNo(got.SupportedProtocols) != supported {
			t.Errorf("worse %t: %s on top, complete %t, %s", worse, got.Address, got.Complete, yesNo(got.SupportedProtocols))
		}
	}
}

// Where no address shows a certificate, that of a server which was reached is the failure.
func TestNoEndpointAtAll(t *testing.T) {
	t.Parallel()
	w := farmOf(t, six, four)
	w.timeout = sslTimeout
	w.Drop(at(six))
	if _, err := w.check(t, farm); !fault.Is(err, fault.Upstream) || !strings.HasPrefix(err.Error(), farm+" refused") {
		t.Errorf("silence and a refusal: %v", err)
	}
	w.ServeConn(at(four), func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n")) })
	if _, err := w.check(t, farm); !fault.Is(err, fault.Upstream) ||
		!strings.HasPrefix(err.Error(), farm+" ("+four+") does not use TLS on port 443.") {
		t.Errorf("silence and something else: %v", err)
	}
	w = farmOf(t, six, four)
	w.timeout = sslTimeout
	w.ServeConn(at(four), func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n")) })
	w.ServeConn(at(six), func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n")) })
	if _, err := w.check(t, farm); !strings.HasPrefix(err.Error(), farm+" does not use TLS on port 443.") {
		t.Errorf("the same at both: %v", err)
	}
}

// The second certificate of a server, and the one for clients that name no host.
func TestOtherCertificates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ecdsaLeaf := certtest.Leaf(t, w.inter, []string{sslName})
	rsaLeaf := certtest.Sign(t, &x509.Certificate{
		NotBefore: certtest.Epoch.AddDate(0, -4, 0), NotAfter: time.Date(2026, 5, 3, 9, 0, 0, 0, time.UTC),
		DNSNames: []string{sslName}, KeyUsage: x509.KeyUsageDigitalSignature,
	}, w.inter, rsaKey(t, 2048))
	fallback := certtest.Leaf(t, nil, []string{"default.invalid"}).TLS()
	config := oneCertificate(ecdsaLeaf.TLS(w.inter))
	config.Certificates = append(config.Certificates, rsaLeaf.TLS(w.inter))
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.ServerName == "" {
			return oneCertificate(fallback), nil
		}
		return nil, nil
	}
	w.serve(sslServer, config)
	got := w.mustCheck(t, sslName)
	if !got.Authorized || got.Certificate.KeyType != "ECDSA" {
		t.Fatalf("on top: %+v", got.Certificate)
	}
	var reported []string
	for _, o := range got.OtherCertificates {
		reported = append(reported, fmt.Sprint(o.Kind, " ", o.Certificate.KeyType, " ", *o.AuthorizationError))
	}
	if d := cmp.Diff([]string{"rsa RSA CERT_HAS_EXPIRED", "noSni ECDSA DEPTH_ZERO_SELF_SIGNED_CERT"}, reported); d != "" {
		t.Error(d)
	}
	want := "fail The server has a second certificate, with an RSA key, for clients that prefer it: it expired on " +
		"3 May 2026."
	if d := cmp.Diff([]string{want}, messages(got.Issues, "OTHER_CERTIFICATE_REFUSED")); d != "" {
		t.Error(d)
	}
	want = "info Clients that do not name the host (SNI) get a different certificate, which is self-signed."
	if d := cmp.Diff([]string{want}, messages(got.Issues, "OTHER_CERTIFICATE_WITHOUT_SNI")); d != "" {
		t.Error(d)
	}
}

// Suites of older versions than TLS 1.3 show whether there is a second certificate.
func TestOldSuitesTellOfASecondCertificate(t *testing.T) {
	t.Parallel()
	const rsa12, ecdsa12, any13 = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_AES_128_GCM_SHA256
	of := func(complete bool, ids ...uint16) probed {
		p := probed{Complete: complete}
		for _, id := range ids {
			version := tlsscan.TLS12
			if id == any13 {
				version = tlsscan.TLS13
			}
			p.Suites = append(p.Suites, probedSuite{Version: version, ID: id})
		}
		return p
	}
	for i, c := range []struct {
		p          probed
		rsa, ecdsa bool
	}{
		{of(true, rsa12), true, false}, {of(true, ecdsa12), false, true}, {of(true, rsa12, ecdsa12, any13), true, true},
		{of(true, any13), true, true}, {of(false, rsa12), true, true}, {of(false), true, true},
	} {
		if c.p.mayHave(kindRSA) != c.rsa || c.p.mayHave(kindECDSA) != c.ecdsa {
			t.Errorf("%d: RSA %t, ECDSA %t", i, c.p.mayHave(kindRSA), c.p.mayHave(kindECDSA))
		}
	}
}

func rsaKey(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
