//go:build e2e

package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
	"diagnostics/lab/internal/site"

	"golang.org/x/crypto/ocsp"
)

// The zone of the servers whose certificates an authority of the lab may have revoked, and where they and the authority
// are.
const (
	revokedZone      = "lab-revoked.com"
	revokedServers   = "11.94.0.60"
	revokedAuthority = "11.94.0.61"
)

// revoking is an authority with its servers. The handlers are by the first two parts of the path: list or responder,
// and the server.
type revoking struct {
	*site.Revoker
	t        *testing.T
	mu       sync.Mutex
	handlers map[string]http.HandlerFunc
	certs    map[string]tls.Certificate
	release  chan struct{} // ends what is slow
}

func newRevoking(t *testing.T) *revoking {
	t.Helper()
	r := &revoking{t: t, handlers: map[string]http.HandlerFunc{}, certs: map[string]tls.Certificate{},
		release: make(chan struct{})}
	r.Revoker = r.authority("Let's Encrypt")
	for name, address := range map[string]string{"crl": revokedAuthority, "ocsp": revokedAuthority, "inside": "10.0.0.1"} {
		internet.Script(name+"."+revokedZone, lab.Step{Records: []string{"@ 300 IN A " + address}})
	}
	r.serve(revokedAuthority+":80", nil)
	r.serve(revokedServers+":443", &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if cert, known := r.certs[h.ServerName]; known {
			return &cert, nil
		}
		return nil, fmt.Errorf("no server is called %q", h.ServerName)
	}})
	t.Cleanup(func() { close(r.release) }) // before the servers are closed
	return r
}

func (r *revoking) authority(organization string, lists ...string) *site.Revoker {
	r.t.Helper()
	made, err := internet.NewRevoker(organization, lists...)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

func (r *revoking) serve(address string, secured *tls.Config) {
	r.t.Helper()
	l, err := internet.Listen(lab.NearHost, "tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	if secured != nil {
		l = tls.NewListener(l, secured)
	}
	s := &http.Server{Handler: r, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(l) }()
	r.t.Cleanup(func() { _ = s.Close(); <-ended })
}

func (r *revoking) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	parts := append(strings.SplitN(q.URL.Path, "/", 4), "", "")
	r.mu.Lock()
	handler := r.handlers[parts[1]+"/"+parts[2]]
	r.mu.Unlock()
	if handler == nil {
		http.NotFound(w, q)
		return
	}
	w.Header().Set("Content-Type", map[string]string{"crl": "application/pkix-crl",
		"ocsp": "application/ocsp-response"}[parts[1]])
	handler(w, q)
}

// at sets what is published of a server: as "crl" or as "ocsp".
func (r *revoking) at(kind, label string, handler http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[kind+"/"+label] = handler
}

func (r *revoking) sends(octets []byte, err error) http.HandlerFunc {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(octets) }
}

// site starts a server with a certificate of the authority, and gives it with its name.
func (r *revoking) site(
	by *site.Revoker, label string, must bool, lists, responders []string,
) (string, tls.Certificate) {
	r.t.Helper()
	name := label + "." + revokedZone
	cert, err := by.Certificate(name, must, lists, responders)
	if err != nil {
		r.t.Fatal(err)
	}
	internet.Script(name, lab.Step{Records: []string{"@ 300 IN A " + revokedServers}})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.certs[name] = cert
	return name, cert
}

func listURL(label string) string { return "http://crl." + revokedZone + "/crl/" + label }

func responder(label string) string { return "http://ocsp." + revokedZone + "/ocsp/" + label }

// issuedThrough is an IssuingDistributionPoint with a URL.
func issuedThrough(t *testing.T, url string) []pkix.Extension {
	t.Helper()
	type fullName struct {
		Names []asn1.RawValue `asn1:"tag:0"`
	}
	value, err := asn1.Marshal(struct {
		Point fullName `asn1:"tag:0"`
	}{fullName{[]asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(url)}}}})
	if err != nil {
		t.Fatal(err)
	}
	return []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 28}, Critical: true, Value: value}}
}

// ssl-checker finds what an authority has revoked, and says why it could not. Where OpenSSL can check the same, it
// comes to the same.
func TestRevocation(t *testing.T) {
	t.Parallel()
	r := newRevoking(t)
	yesterday := time.Now().Add(-48 * time.Hour)
	stale := x509.RevocationList{ThisUpdate: yesterday, NextUpdate: yesterday.Add(time.Hour)}
	for _, c := range []struct {
		label          string
		lists, answers bool
		must           bool
		set            func(label string, leaf *x509.Certificate)
		facts          facts
		openssl        string // crl or ocsp, and a part of what it says
	}{
		{label: "good", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, x509.RevocationList{}, big.NewInt(7))))
		}, facts: facts{"revocation.status": "good", "revocation.source": "crl", "revocation.url": listURL("good"),
			"revocation.nextUpdate": nonEmpty, "revocation.reason": nil, "authorized": true}, openssl: "crl: verify OK leaf.pem: OK"},
		{label: "bad", lists: true, set: func(label string, leaf *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, x509.RevocationList{}, leaf.SerialNumber)))
		}, facts: facts{"revocation.status": "revoked", "revocation.revokedAt": nonEmpty,
			"revocation.reason": "keyCompromise", "authorized": false, "authorizationError": "CERT_REVOKED", "issues": has("code", "CERT_REVOKED"),
			"conclusion.state": "fail"}, openssl: "crl: certificate revoked"},
		{label: "ocsp-good", answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByOwn, ocsp.Good, leaf.SerialNumber, time.Time{})))
		}, facts: facts{"revocation.status": "good", "revocation.source": "ocsp", "revocation.url": responder("ocsp-good")},
			openssl: "ocsp: good"},
		{label: "ocsp-bad", lists: true, answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByOwn, ocsp.Revoked, leaf.SerialNumber, time.Time{})))
		}, facts: facts{"revocation.status": "revoked", "revocation.source": "ocsp", "authorizationError": "CERT_REVOKED"},
			openssl: "ocsp: revoked"},
		{label: "delegated", answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByDelegate, ocsp.Good, leaf.SerialNumber, time.Time{})))
		}, facts: facts{"revocation.status": "good"}, openssl: "ocsp: good"},
		{label: "not-delegated", answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByImpostor, ocsp.Good, leaf.SerialNumber, time.Time{})))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("may not sign")},
			openssl: "ocsp: Response Verify Failure"},
		{label: "stranger", lists: true, answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByStranger, x509.RevocationList{}, leaf.SerialNumber)))
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByStranger, ocsp.Revoked, leaf.SerialNumber, time.Time{})))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("list", "OCSP", "not signed by"),
			"authorized": true, "issues": has("code", "REVOCATION_UNKNOWN")}, openssl: "ocsp: Response Verify Failure"},
		{label: "stale", lists: true, answers: true, set: func(label string, leaf *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, stale)))
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByOwn, ocsp.Good, leaf.SerialNumber, yesterday)))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("list", "OCSP", "out of date")},
			openssl: "crl: CRL has expired"},
		{label: "another", answers: true, set: func(label string, _ *x509.Certificate) {
			r.at("ocsp", label, r.sends(r.Answer(site.SignedByOwn, ocsp.Good, big.NewInt(7), time.Time{})))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("another certificate")},
			openssl: "ocsp: No Status found"},
		{label: "must-staple", must: true, lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, x509.RevocationList{})))
		}, facts: facts{"revocation.status": "good", "issues": has("code", "MUST_STAPLE_MISSING"),
			"conclusion.state": "warn"}},
		{label: "partition", lists: true, set: func(label string, leaf *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, x509.RevocationList{
				ExtraExtensions: issuedThrough(t, listURL(label))}, leaf.SerialNumber)))
		}, facts: facts{"revocation.status": "revoked"}, openssl: "crl: certificate revoked"},
		{label: "other-partition", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, r.sends(r.List(site.SignedByOwn, x509.RevocationList{
				ExtraExtensions: issuedThrough(t, listURL("elsewhere"))})))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("does not cover")},
			openssl: "crl: different CRL scope"},
		{label: "slow", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, func(_ http.ResponseWriter, q *http.Request) {
				select {
				case <-q.Context().Done():
				case <-r.release:
				}
			})
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("within 2 seconds")}},
		{label: "five-mebibytes", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, r.sends(append([]byte{0x30, 0x83, 0x50, 0, 0}, make([]byte, 5<<20)...), nil))
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("4 MiB")}},
		{label: "redirected", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, func(w http.ResponseWriter, q *http.Request) {
				http.Redirect(w, q, listURL(label+"-moved"), http.StatusFound)
			})
			r.at("crl", label+"-moved", r.sends(r.List(site.SignedByOwn, x509.RevocationList{})))
		}, facts: facts{"revocation.status": "good"}},
		{label: "redirected-inside", lists: true, set: func(label string, _ *x509.Certificate) {
			r.at("crl", label, func(w http.ResponseWriter, q *http.Request) {
				http.Redirect(w, q, "http://inside."+revokedZone+"/", http.StatusFound)
			})
		}, facts: facts{"revocation.status": "unknown", "revocation.reason": contains("does not connect")}},
	} {
		t.Run(c.label, func(t *testing.T) {
			t.Parallel()
			var lists, responders []string
			if c.lists {
				lists = []string{listURL(c.label)}
			}
			if c.answers {
				responders = []string{responder(c.label)}
			}
			name, cert := r.site(r.Revoker, c.label, c.must, lists, responders)
			c.set(c.label, cert.Leaf)
			a := call(t, "ssl-checker", name, nil)
			c.facts.hold(t, a)
			if c.openssl != "" {
				holdOpenSSL(t, r.Revoker, cert.Leaf, c.label, c.openssl)
			}
		})
	}
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		revocationPage(t, r)
	})
	t.Run("inside", func(t *testing.T) {
		t.Parallel()
		name, _ := r.site(r.Revoker, "listed-inside", false, []string{"http://inside." + revokedZone + "/"}, nil)
		facts{"revocation.status": "unknown", "revocation.reason": contains("does not connect")}.hold(t,
			call(t, "ssl-checker", name, nil))
	})
	t.Run("intermediate", func(t *testing.T) {
		t.Parallel()
		careless := r.authority("Careless", listURL("root"))
		r.at("crl", "root", r.sends(careless.List(site.SignedByRoot, x509.RevocationList{}, careless.Own().SerialNumber)))
		name, _ := r.site(careless, "below-revoked", false, nil, nil)
		facts{"authorized": true, "conclusion.state": "fail", "findings.0.code": "INTERMEDIATE_REVOKED",
			"findings.0.message": contains("Careless"), "revocation.status": "notChecked"}.hold(t, call(t, "ssl-checker", name, nil))
	})
}

// revocationPage: the page says that a certificate was revoked, and has what its zone publishes about it.
func revocationPage(t *testing.T, r *revoking) {
	name, cert := r.site(r.Revoker, "shown", false, []string{listURL("shown")}, nil)
	r.at("crl", "shown", r.sends(r.List(site.SignedByOwn, x509.RevocationList{}, cert.Leaf.SerialNumber)))
	sum := sha256.Sum256(cert.Leaf.RawSubjectPublicKeyInfo)
	internet.Script("_443._tcp."+name, lab.Step{Authenticated: true, Records: []string{
		"@ 300 IN TLSA 3 1 1 " + hex.EncodeToString(sum[:]), "@ 300 IN TLSA 2 0 1 " + strings.Repeat("5a", 32)}})
	if err := internet.Publish(revokedZone+`. 300 IN CAA 0 issue "letsencrypt.org; validationmethods=dns-01"`,
		revokedZone+`. 300 IN CAA 0 issuewild ";"`); err != nil {
		t.Fatal(err)
	}
	tab := openTab(t, browser.Options{})
	tab.Open(toolPath("ssl-checker", name))
	tab.UntilWithin(`document.querySelector(".verdict.bad")`, patience)
	const part = `[...document.querySelectorAll("details.part")].find((d) => /^Revocation/.test(d.textContent))`
	tab.Run(part + `.open = true; ` + part + `.id = "published"`)
	holdText(t, tab, "#published", "revoked", "Revoked on", "keyCompromise", "the authority's list (CRL)",
		"the present authority is permitted", revokedZone, "validationmethods=dns-01", "matches", "does not match",
		"authenticated")
	holdText(t, tab, ".verdict", "revoked the certificate")
	holdLooks(t, tab, "ssl-checker-revoked")
}

// holdOpenSSL checks a certificate with openssl at the service's host, with the list that curl gets there, or by asking
// the responder.
func holdOpenSSL(t *testing.T, by *site.Revoker, leaf *x509.Certificate, label, want string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("issuer.pem", by.PEM())
	write("leaf.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
	how, part, _ := strings.Cut(want, ": ")
	command := map[string]string{
		"crl": `curl -sS "http://$2/crl/$3" | openssl crl -inform DER -verify -CAfile issuer.pem -out crl.pem; ` +
			`openssl verify -crl_check -CRLfile crl.pem -CAfile "$0" -untrusted issuer.pem leaf.pem`,
		"ocsp": `openssl ocsp -no_nonce -CAfile "$0" -issuer issuer.pem -cert leaf.pem -url "http://$2/ocsp/$3"`,
	}[how]
	out, _ := internet.Exec(t.Context(), lab.ServiceHost, "sh", "-c", `exec 2>&1; cd "$1"; `+command, internet.RootsFile(),
		dir, revokedAuthority, label)
	said := strings.Join(strings.Fields(string(out)), " ")
	t.Logf("openssl %s: %s", how, said)
	if !strings.Contains(strings.ToLower(said), strings.ToLower(part)) {
		t.Errorf("openssl %s does not say %q: %s", how, part, said)
	}
}

// What the zone says of who may issue, and of the certificate itself.
func TestIssuance(t *testing.T) {
	t.Parallel()
	made, err := internet.NewRevoker("Let's Encrypt")
	if err != nil {
		t.Fatal(err)
	}
	const address = "11.94.0.62"
	var mu sync.Mutex
	certs := map[string]tls.Certificate{}
	l, err := internet.Listen(lab.NearHost, "tcp", net.JoinHostPort(address, "443"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(tls.NewListener(l, &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			return new(certs[h.ServerName]), nil
		}}))
	}()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	start := func(name string) *x509.Certificate {
		cert, err := made.Certificate(name, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		certs[name] = cert
		return cert.Leaf
	}
	for _, c := range []struct {
		label   string
		records []string // of the zone
		fails   bool
		facts   facts
	}{
		{label: "caa-mine", records: []string{`0 issue "letsencrypt.org; validationmethods=dns-01"`}, facts: facts{
			"caa.permitted": true, "caa.records": hasAll(`0 issue "letsencrypt.org; validationmethods=dns-01"`),
			"issues": none("code", "CAA_NOT_PERMITTED")}},
		{label: "caa-other", records: []string{`0 issue "pki.goog"`, `0 issuemail "letsencrypt.org"`}, facts: facts{
			"caa.permitted": false, "issues": has("code", "CAA_NOT_PERMITTED"), "authorized": true}},
		{label: "caa-none", facts: facts{"caa.found": nil, "caa.permitted": true, "caa.records": []string{}}},
		{label: "caa-failing", fails: true, facts: facts{"caa.found": nil, "caa.permitted": nil,
			"issues": has("code", "CAA_NOT_KNOWN")}},
	} {
		t.Run(c.label, func(t *testing.T) {
			t.Parallel()
			zone := "lab-" + c.label + ".com"
			name := "www." + zone
			leaf := start(name)
			sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
			records := []string{name + ". 300 IN A " + address, zone + ". 300 IN NS ns1." + lab.TransitZone + "."}
			for _, data := range c.records {
				records = append(records, zone+". 300 IN CAA "+data)
			}
			if err := internet.Publish(records...); err != nil {
				t.Fatal(err)
			}
			if c.fails {
				internet.Script(zone, lab.Step{RCode: 2})
			} else if c.records != nil {
				c.facts["caa.found"] = zone
			}
			internet.Script("_443._tcp."+name, lab.Step{Authenticated: true, Records: []string{
				"@ 300 IN TLSA 3 1 1 " + hex.EncodeToString(sum[:])}})
			a := call(t, "ssl-checker", name, nil)
			c.facts.hold(t, a)
			facts{"tlsa": length(1), "tlsa.0.matches": true, "tlsa.0.authenticated": true}.hold(t, a)
			out, _ := internet.Exec(t.Context(), lab.ServiceHost, "dig", "@"+internet.Resolver().String(), "+short", "CAA", zone)
			if got := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }); !c.fails &&
				!slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.records))) {
				t.Errorf("dig: %q, published %q", got, c.records)
			}
		})
	}
}

// A list of 3 MiB costs little, and once. The test is not parallel: it reads the clock of its gateway's process.
func TestLongRevocationList(t *testing.T) {
	const (
		mostTime   = 150 * time.Millisecond
		mostMemory = 8 << 20
	)
	r := newRevoking(t)
	serials := make([]*big.Int, 65_000)
	for i := range serials {
		serials[i] = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(int64(i)))
	}
	long, err := r.List(site.SignedByOwn, x509.RevocationList{}, serials...)
	if err != nil || len(long) < 3<<20 {
		t.Fatalf("%d octets, %v", len(long), err)
	}
	short, err := r.List(site.SignedByOwn, x509.RevocationList{})
	if err != nil {
		t.Fatal(err)
	}
	m := newMeter(t, "ENABLE_WORKER_TOOLS=false")
	measure := func(label string) (time.Duration, int64) {
		cost, _ := m.ask(longestRun, question{"ssl-checker", label + "." + revokedZone, nil})
		memory, _, err := m.gateway.Process.Resident()
		if err != nil {
			t.Fatal(err)
		}
		return cost, memory
	}
	publish := func(label string, list []byte) {
		r.site(r.Revoker, label, false, []string{listURL(label)}, nil)
		r.at("crl", label, r.sends(list, nil))
	}
	var shortCost time.Duration
	var before int64
	for i := range 4 { // the first run reads the trust store
		label := fmt.Sprintf("short-%d", i)
		publish(label, short)
		shortCost, before = measure(label)
	}
	publish("long", long)
	longCost, after := measure("long")
	again, _ := measure("long")
	t.Logf("a short list %v, a long one %v, and again %v; %d KiB more memory", shortCost, longCost, again,
		(after-before)>>10)
	if longCost-shortCost > mostTime || again > shortCost+mostTime/2 || after-before > mostMemory {
		t.Error("which is more than may be")
	}
	facts{"revocation.status": "good", "complete": true}.hold(t, post(t, m.gateway, "ssl-checker",
		map[string]any{"input": "long." + revokedZone}, nil))
}
