//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"

	"github.com/miekg/dns"
)

const (
	// providerZone has a server of a test's own for each fault, all at one address.
	providerZone    = "lab-provider.com"
	providerAddress = "11.80.0.250"
	// faultsOfGateway each take four of the eight questions that one gateway has at its redirector in ten seconds.
	faultsOfGateway = 2
)

// providerFault is a way in which a registry fails, and how it must be told.
type providerFault struct {
	name  string
	serve http.HandlerFunc // nil never serves: the certificate is not valid
	// status is that of whois-lookup; 200 where the answer is right all the same. ip-geolocation has another provider,
	// and answers without the network.
	status int
	// says is part of the sentence, or of ip-geolocation's note.
	says string
	// least and most bound Retry-After in seconds; 0 for none.
	least, most int
	// atBase is a redirector that fails by itself.
	atBase bool
}

// wanted is what a registry of this test is asked for: "domain" or "ip", and which.
func wanted(r *http.Request) (kind, value string) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	return parts[len(parts)-2], parts[len(parts)-1]
}

func registration(kind, value string) string {
	if kind == "domain" {
		return fmt.Sprintf(`{"objectClassName":"domain","ldhName":%q,"handle":"D-1","status":["active"]}`, value)
	}
	block := value[:strings.LastIndexByte(value, '.')]
	return fmt.Sprintf(`{"objectClassName":"ip network","handle":"N-1","name":"PROVIDED","country":"NL",`+
		`"startAddress":"%s.0","endAddress":"%s.255"}`, block, block)
}

func serveRegistration(w http.ResponseWriter, r *http.Request) {
	serveText(w, "application/rdap+json", registration(wanted(r)))
}

func serveText(w http.ResponseWriter, kind, text string) {
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, text)
}

func afterWait(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			serveRegistration(w, r)
		case <-r.Context().Done():
		}
	}
}

// fixed sends a body as RDAP, whatever was asked for.
func fixed(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { serveText(w, "application/rdap+json", text) }
}

func refuses(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

// breaks sends bytes as they are, and then closes the connection.
func breaks(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// trickles sends an octet of the body every quarter of a second.
func trickles(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rdap+json")
	for i, text := 0, registration(wanted(r)); i < len(text) && r.Context().Err() == nil; i++ {
		_, _ = io.WriteString(w, text[i:i+1])
		_ = http.NewResponseController(w).Flush()
		time.Sleep(250 * time.Millisecond)
	}
}

func gzipped(text []byte) http.HandlerFunc {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	_ = z.Close()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		serveText(w, "application/rdap+json", packed.String())
	}
}

// inADate asks for a pause that ends at a moment of this server's clock, which is an hour ahead.
func inADate(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().Add(time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.Header().Set("Retry-After", now.Add(d).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

func providerFaults() []providerFault {
	const late, often = "did not answer in time", "asked too often"
	const odd, cut = "an invalid answer", "in the middle of its answer"
	pause := func(after string) http.HandlerFunc { return refuses(429, "Retry-After", after) }
	otherwise := func(old, changed string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			serveText(w, "application/rdap+json", strings.ReplaceAll(registration(wanted(r)), old, changed))
		}
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/rdap+json\r\n"
	return []providerFault{
		{name: "within-time", serve: afterWait(7500 * time.Millisecond), status: 200},
		{name: "over-time", serve: afterWait(8500 * time.Millisecond), status: 504, says: late},
		{name: "hangs", serve: afterWait(time.Hour), status: 504, says: late},
		{name: "trickles", serve: trickles, status: 504, says: "in time"},
		{name: "base-hangs", serve: afterWait(time.Hour), status: 504, says: late, atBase: true},

		{name: "pause", serve: pause("2"), status: 503, says: often, least: 1, most: 2},
		{name: "pause-of-nothing", serve: pause("0"), status: 503, says: often, least: 1, most: 1},
		{name: "pause-of-years", serve: pause("1000000000"), status: 503, says: often, least: 3590, most: 3600},
		{name: "pause-without-end", serve: pause(strings.Repeat("9", 40)), status: 503, says: often, least: 3590, most: 3600},
		{name: "pause-below-nothing", serve: pause("-5"), status: 503, says: often, least: 1, most: 10},
		{name: "pause-of-garbage", serve: pause("<b>soon</b>"), status: 503, says: often, least: 1, most: 10},
		{name: "pause-unsaid", serve: refuses(429), status: 503, says: often, least: 1, most: 10},
		{name: "pause-to-a-date", serve: inADate(3 * time.Second), status: 503, says: often, least: 1, most: 3},
		{name: "pause-to-the-past", serve: inADate(-time.Minute), status: 503, says: often, least: 1, most: 1},
		{name: "base-pause", serve: pause("2"), status: 503, says: often, least: 1, most: 2, atBase: true},

		{name: "out-of-service", serve: refuses(503, "Retry-After", "120"), status: 502, least: 120, most: 120},
		{name: "out-of-service-unsaid", serve: refuses(503), status: 502, says: "status 503"},
		{name: "fails", serve: refuses(500), status: 502, says: "status 500"},
		{name: "refuses", serve: refuses(403), status: 502, says: "status 403"},
		{name: "no-content", serve: refuses(204), status: 502, says: "status 204"},

		{name: "page", serve: func(w http.ResponseWriter, _ *http.Request) {
			serveText(w, "text/html", "<!doctype html><title>Login</title>")
		}, status: 502, says: "web page"},
		{name: "page-unsaid", serve: fixed("<!doctype html><title>Login</title>"), status: 502, says: odd},
		{name: "base-page", serve: func(w http.ResponseWriter, _ *http.Request) {
			serveText(w, "text/html", "<!doctype html><title>Login</title>")
		}, status: 502, says: "web page", atBase: true},
		{name: "nothing", serve: fixed(""), status: 502, says: odd},
		{name: "half", serve: func(w http.ResponseWriter, r *http.Request) {
			text := registration(wanted(r))
			serveText(w, "application/rdap+json", text[:len(text)-9])
		}, status: 502, says: odd},
		{name: "deep", serve: fixed(strings.Repeat(`{"entities":[`, 1<<15) + strings.Repeat(`]}`, 1<<15)), status: 502, says: odd},
		{name: "wrong-shape", serve: fixed(`[{"objectClassName":["domain"]}]`), status: 502, says: odd},
		{name: "wrong-class", serve: otherwise(`"objectClassName":"`, `"objectClassName":"no `), status: 502, says: odd},
		{name: "of-another", serve: func(w http.ResponseWriter, r *http.Request) {
			kind, _ := wanted(r)
			other := map[string]string{"domain": "other.com", "ip": "11.99.0.1"}[kind]
			serveText(w, "application/rdap+json", registration(kind, other))
		}, status: 502, says: odd},
		{name: "of-another-in-unicode", serve: func(w http.ResponseWriter, r *http.Request) {
			text := registration("domain", "other.com")
			if kind, value := wanted(r); kind == "ip" {
				text = registration(kind, value[:strings.LastIndexByte(value, '.')]+"9.1")
			}
			serveText(w, "application/rdap+json", strings.Replace(text, "ldhName", "unicodeName", 1))
		}, status: 502, says: odd},
		{name: "an-error-with-200", serve: fixed(`{"errorCode":500,"title":"Internal error"}`), status: 502, says: odd},

		{name: "endless", serve: fixed(`{"objectClassName":"domain","remarks":["` + strings.Repeat("x", 2<<20) + `"]}`), status: 502,
			says: "larger than 1 MiB"},
		{name: "bomb", serve: gzipped(bytes.Repeat([]byte(" "), 64<<20)), status: 502, says: "larger than 1 MiB"},
		{name: "broken-gzip", serve: refuses200("Content-Encoding", "gzip"), status: 502},

		{name: "loop", serve: func(w http.ResponseWriter, r *http.Request) { refuses(302, "Location", r.URL.Path)(w, r) }, status: 502,
			says: "redirects more than 4 times"},
		{name: "inside", serve: refuses(302, "Location", "https://10.0.0.1/rdap"), status: 502, says: "not a public URL"},
		{name: "inside-by-name", serve: refuses(302, "Location", "https://private."+lab.SiteZone+"/rdap"), status: 502,
			says: "not at a public address"},
		{name: "nowhere", serve: refuses(302), status: 502},
		{name: "untrusted", status: 502, says: "certificate"},

		{name: "cut-at-once", serve: breaks(""), status: 502},
		{name: "cut-in-the-head", serve: breaks("HTTP/1.1 200 OK\r\nContent-Ty"), status: 502},
		{name: "cut-before-the-body", serve: breaks(head + "Content-Length: 90\r\n\r\n"), status: 502, says: cut},
		{name: "cut-in-the-body", serve: breaks(head + "Content-Length: 90\r\n\r\n{\"objectClassName\":"), status: 502, says: cut},
		{name: "cut-in-a-chunk", serve: breaks(head + "Transfer-Encoding: chunked\r\n\r\n40\r\n{\"objectClass"), status: 502, says: cut},
		{name: "not-http", serve: breaks("SSH-2.0-OpenSSH_9.2\r\n"), status: 502},
	}
}

// refuses200 is a 200 whose body is not what its header says.
func refuses200(header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(header[0], header[1])
		serveRegistration(w, r)
	}
}

// providers are the servers of this test, told apart by the first label of their names.
type providers struct {
	faults map[string]*provider
	roots  string // a file
}

type provider struct {
	providerFault
	number int
	well   atomic.Bool
}

func (p *provider) domain() string  { return "example." + strings.ReplaceAll(p.name, "-", "") }
func (p *provider) address() string { return fmt.Sprintf("11.96.%d.1", p.number) }

// base is where the gateway's redirector is, for this fault.
func (p *provider) base() string {
	if p.atBase {
		return "https://" + p.name + "." + providerZone
	}
	return "https://base." + providerZone
}

func (ps *providers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	label, _, _ := strings.Cut(r.Host, ".")
	if p := ps.faults[label]; p != nil {
		if p.well.Load() {
			serveRegistration(w, r)
			return
		}
		p.serve(w, r)
		return
	}
	kind, value := wanted(r)
	for _, p := range ps.faults {
		if value == p.domain() || value == p.address() {
			w.Header().Set("Location", fmt.Sprintf("https://%s.%s/rdap/%s/%s", p.name, providerZone, kind, value))
			w.WriteHeader(http.StatusFound)
		}
	}
}

// startProviders starts the servers, each but the untrusted with a certificate of an authority of their own.
func startProviders(t *testing.T) *providers {
	t.Helper()
	ps := &providers{faults: map[string]*provider{}}
	names := []string{"base"}
	for i, f := range providerFaults() {
		ps.faults[f.name] = &provider{providerFault: f, number: i}
		names = append(names, f.name)
	}
	good, root := certificateOf(t, "*."+providerZone)
	bad, _ := certificateOf(t, "*."+providerZone)
	ps.roots = rootsWith(t, root)
	for _, name := range names {
		internet.Script(name+"."+providerZone, lab.Step{Records: []string{"@ 300 IN A " + providerAddress}})
	}
	serveProviders(t, providerAddress, ps, func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		label, _, _ := strings.Cut(hello.ServerName, ".")
		if p := ps.faults[label]; p != nil && p.serve == nil && !p.well.Load() {
			return &bad, nil
		}
		return &good, nil
	})
	return ps
}

func serveProviders(
	t *testing.T, address string, h http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error),
) {
	t.Helper()
	listener, err := internet.Listen("web", "tcp", address+":443")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{NextProtos: []string{"http/1.1"}, GetCertificate: certificate}}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
}

// rootsWith is a file of the lab's roots and one more.
func rootsWith(t *testing.T, root []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "roots.pem")
	roots, err := os.ReadFile(internet.RootsFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(roots, root...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// certificateOf makes a certificate, and its authority in PEM.
func certificateOf(t *testing.T, names ...string) (own tls.Certificate, authority []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root of " + names[0]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: root.NotBefore, NotAfter: root.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
}

// Whatever a registry does, it is told as the registry's failure or as a pause that it asks for: never as a name or an
// address that nobody has registered. Once it is well again, or its pause over, its answers are right at once.
func TestRegistryFaults(t *testing.T) {
	t.Parallel()
	ps := startProviders(t)
	groups := map[string][][]*provider{}
	for _, p := range ps.faults {
		list := groups[p.base()]
		if n := len(list); n == 0 || len(list[n-1]) == faultsOfGateway {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], p)
		groups[p.base()] = list
	}
	n := 0
	for base, list := range groups {
		for _, group := range list {
			n++
			name := fmt.Sprintf("gateway-registry-%d", n)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				gateway, err := service.StartGateway(t.Context(), name, append(slices.Clone(unlimited), "RDAP_BASE_URL="+base,
					"SSL_CERT_FILE="+ps.roots)...)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range group {
					t.Run(p.name, func(t *testing.T) {
						t.Parallel()
						p.hold(t, gateway)
					})
				}
			})
		}
	}
}

func (p *provider) hold(t *testing.T, gateway *lab.Server) {
	t.Helper()
	ask := func(slug, input string) answer { return post(t, gateway, slug, map[string]any{"input": input}, nil) }
	var asking sync.WaitGroup
	both := func(hold func(t *testing.T, slug string, a answer), right bool) {
		for _, q := range [][2]string{{"whois-lookup", p.domain()}, {"ip-geolocation", p.address()}} {
			asking.Go(func() {
				a := ask(q[0], q[1])
				hold(t, q[0], a)
				known := a.at("found") == true || a.at("network.name") == "PROVIDED"
				if a.Status == 200 && known != right {
					t.Errorf("%s %s: %.500s", q[0], q[1], a.Body)
				}
			})
		}
		asking.Wait()
	}
	both(p.fails, p.status == 200)
	if p.status == 200 || t.Failed() {
		return
	}
	p.well.Store(true)
	if p.status == 503 {
		if p.most > 3 {
			return
		}
		time.Sleep(time.Duration(p.most) * time.Second)
	}
	both(func(t *testing.T, _ string, a answer) {
		if a.Status != 200 {
			t.Errorf("once it is well: status %d: %s", a.Status, a.Error)
		}
	}, true)
}

func (p *provider) fails(t *testing.T, slug string, a answer) {
	t.Helper()
	if slug == "ip-geolocation" && p.status != 200 {
		facts{"network": nil, "organization": nil, "country": nil, "sources": length(1), "sources.0.zone": "asn.cymru.com",
			"note": contains(p.says), "asn": nil}.hold(t, a)
		if a.Status != 200 || a.Took > 8500*time.Millisecond || a.Header.Get("Retry-After") != "" {
			t.Errorf("status %d after %v: %.500s", a.Status, a.Took, a.Body)
		}
		return
	}
	if a.Status != p.status || !strings.Contains(a.Error, p.says) || a.Took > 8500*time.Millisecond {
		t.Errorf("status %d after %v, %.500s; want %d, …%s…", a.Status, a.Took, a.Body, p.status, p.says)
	}
	text := a.Header.Get("Retry-After")
	if p.least == 0 {
		if text != "" {
			t.Errorf("Retry-After: %s", text)
		}
		return
	}
	if seconds, err := strconv.Atoi(text); err != nil || seconds < p.least || seconds > p.most {
		t.Errorf("Retry-After: %q, want %d to %d", text, p.least, p.most)
	}
}

// announcementFault is a way in which the ASN service's name servers fail, and the status of asn-lookup.
type announcementFault struct {
	answer func(w dns.ResponseWriter, q *dns.Msg)
	status int
}

// claimsText answers with one text for everything.
func claimsText(t *testing.T, text string) func(dns.ResponseWriter, *dns.Msg) {
	t.Helper()
	return edited(func(m *dns.Msg) {
		m.Rcode, m.Ns = dns.RcodeSuccess, nil
		m.Answer = records(t, fmt.Sprintf("%s 60 IN TXT %q", m.Question[0].Name, text))
	})
}

// Whatever the ASN service does, an address is never called unannounced for it, what else is known of it is told, and a
// trace is complete without it.
func TestAnnouncementFaults(t *testing.T) {
	t.Parallel()
	n := 0
	for name, fault := range map[string]announcementFault{
		"silent":             {silent, 504},
		"within time":        {late(2200 * time.Millisecond), 200},
		"over time":          {late(6 * time.Second), 504},
		"servfail":           {rcode(dns.RcodeServerFailure), 502},
		"refused":            {rcode(dns.RcodeRefused), 502},
		"not implemented":    {rcode(dns.RcodeNotImplemented), 502},
		"garbage":            {claimsText(t, "<html>this is no announcement</html>"), 502},
		"numbers gone wild":  {claimsText(t, "99999999999999 | 11.80.0.0/16 | NL | ripencc | 2018-01-02"), 502},
		"of another prefix":  {claimsText(t, "212001 | 11.99.0.0/16 | NL | ripencc | 2018-01-02"), 502},
		"truncated for ever": {edited(func(m *dns.Msg) { m.Truncated, m.Answer = true, nil }), 502},
	} {
		n++
		address := fmt.Sprintf("127.89.0.%d", n)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var well atomic.Bool
			if _, err := internet.StartResolver(address, false, dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
				if well.Load() || !strings.HasSuffix(strings.ToLower(q.Question[0].Name), "asn.cymru.com.") {
					right(w, q)
					return
				}
				fault.answer(w, q)
			})); err != nil {
				t.Fatal(err)
			}
			gateway, err := service.StartGateway(t.Context(), "gateway-announcements-"+strings.ReplaceAll(name, " ", "-"),
				append(slices.Clone(unlimited), "DNS_RESOLVERS="+address)...)
			if err != nil {
				t.Fatal(err)
			}
			holdAnnouncements(t, gateway, fault.status, facts{"reached": true, "hops.0.address": nonEmpty})
			well.Store(true)
			holdAnnouncements(t, gateway, 200, facts{"reached": true, "hops.0.address": nonEmpty})
			holdNetworkOfHop(t, gateway)
		})
	}
}

// holdAnnouncements asks all tools that ask the service; path is what a trace must tell.
func holdAnnouncements(t *testing.T, gateway *lab.Server, status int, path facts) {
	t.Helper()
	hop, _ := lab.Clean(61)
	known := facts{"asn": nil, "country": "NL"}
	if status == 200 {
		known["asn"] = isObject
	}
	var asking sync.WaitGroup
	ask := func(slug, input string, hold func(answer)) {
		asking.Go(func() { hold(post(t, gateway, slug, map[string]any{"input": input}, nil)) })
	}
	for _, input := range []string{"11.80.0.1", "AS212002"} {
		ask("asn-lookup", input, func(a answer) {
			if a.Status != status || status == 200 && a.at("announced") != true {
				t.Errorf("asn-lookup %s: status %d, want %d: %.500s", input, a.Status, status, a.Body)
			}
		})
	}
	ask("ip-geolocation", "11.80.0.5", func(a answer) { known.hold(t, a) })
	ask("traceroute", hop.String(), func(a answer) {
		path.hold(t, a)
		if a.Status != 200 || a.Took > 8*time.Second {
			t.Errorf("traceroute: status %d after %v", a.Status, a.Took)
		}
	})
	asking.Wait()
}

// holdNetworkOfHop asks again where a trace was faster than the service: it does not wait for it.
func holdNetworkOfHop(t *testing.T, gateway *lab.Server) {
	t.Helper()
	hop, _ := lab.Clean(61)
	for range 5 {
		a := post(t, gateway, "traceroute", map[string]any{"input": hop.String()}, nil)
		if isObject(a.at("hops.8.asn")) {
			return
		}
	}
	t.Error("no trace tells the network of the last hop")
}

func isObject(v any) bool { _, is := v.(map[string]any); return is }

const policyAddress = "11.80.0.251"

// Whatever the host of a mail policy does, the record is not called missing; once it is well again, nor is the policy.
func TestPolicyFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]struct {
		serve  http.HandlerFunc
		status string
		code   string
	}{
		"within":    {afterWaitPolicy(7500 * time.Millisecond), "pass", ""},
		"over":      {afterWaitPolicy(8500 * time.Millisecond), "fail", "MTASTS_POLICY_UNREACHABLE"},
		"busy":      {refuses(429, "Retry-After", "2"), "fail", "MTASTS_POLICY_ABSENT"},
		"unserved":  {refuses(503, "Retry-After", "2"), "fail", "MTASTS_POLICY_ABSENT"},
		"cut":       {breaks("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 90\r\n\r\nversion: STSv1\n"), "fail", "MTASTS_POLICY_UNREACHABLE"},
		"cut-early": {breaks("HTTP/1."), "fail", "MTASTS_POLICY_UNREACHABLE"},
		"trickling": {tricklesPolicy, "fail", "MTASTS_POLICY_UNREACHABLE"},
		"bomb":      {gzipped(bytes.Repeat([]byte("#"), 64<<20)), "fail", "MTASTS_MEDIA_TYPE"},
	}
	names := []string{}
	for label := range faults {
		domain := "sts-" + label + "." + providerZone
		names = append(names, "mta-sts."+domain)
		internet.Script(domain, lab.Step{Records: []string{"@ 300 IN MX 10 a." + domain + "."}})
		internet.Script("a."+domain, lab.Step{Records: []string{"@ 300 IN A " + policyAddress}})
		internet.Script("mta-sts."+domain, lab.Step{Records: []string{"@ 300 IN A " + policyAddress}})
		internet.Script("_mta-sts."+domain, lab.Step{Records: []string{`@ 300 IN TXT "v=STSv1; id=1"`}})
	}
	var well sync.Map
	certificate, root := certificateOf(t, names...)
	serveProviders(t, policyAddress, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		label := strings.TrimSuffix(strings.TrimPrefix(r.Host, "mta-sts.sts-"), "."+providerZone)
		if _, is := well.Load(label); is {
			servePolicy(w, r)
			return
		}
		faults[label].serve(w, r)
	}), func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil })
	gateway, err := service.StartGateway(t.Context(), "gateway-policies", append(slices.Clone(unlimited),
		"SSL_CERT_FILE="+rootsWith(t, root))...)
	if err != nil {
		t.Fatal(err)
	}
	for label, fault := range faults {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			ask := func() answer {
				return post(t, gateway, "email-dns-health", map[string]any{"input": "sts-" + label + "." + providerZone}, nil)
			}
			want := facts{"checks.mtaSts.status": fault.status}
			if fault.code != "" {
				want["checks.mtaSts.issues"] = has("code", fault.code)
			}
			want.hold(t, ask())
			well.Store(label, true)
			facts{"checks.mtaSts.status": "pass", "checks.mtaSts.mode": "enforce"}.hold(t, ask())
		})
	}
}

const mailPolicy = "version: STSv1\nmode: enforce\nmx: *.%s\nmax_age: 86400\n"

func servePolicy(w http.ResponseWriter, r *http.Request) {
	serveText(w, "text/plain", fmt.Sprintf(mailPolicy, strings.TrimPrefix(r.Host, "mta-sts.")))
}

func afterWaitPolicy(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			servePolicy(w, r)
		case <-r.Context().Done():
		}
	}
}

func tricklesPolicy(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, "#")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(250 * time.Millisecond)
	}
}
