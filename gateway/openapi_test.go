package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/apitest"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/ratelimit"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"

	"github.com/google/go-cmp/cmp"
)

func description(t *testing.T) *apitest.Description {
	t.Helper()
	d, err := apitest.Load(httpapi.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Registry and description must name the same tools.
func TestOpenAPIKnowsTheRegistry(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, tool := range tools.All(tools.Deps{Now: time.Now}) {
		want = append(want, tool.Slug())
	}
	for _, tool := range description(t).Tools() {
		got = append(got, tool.Slug)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the registry (-) and openapi.yaml (+) disagree:\n%s", diff)
	}
}

// gatewayOn is the real edge with the real tools on a private internet, with a worker of the test's own.
func gatewayOn(t *testing.T, client *egress.Client, certs certcheck.Checker, worker *workerclient.Client, change func(*httpapi.Config)) *httptest.Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	c := httpapi.Config{
		Tools:         tools.All(tools.Deps{Egress: client, RDAP: registries(t, client), ASN: announcers(t, client), Worker: worker, Certs: certs, Now: time.Now}),
		WorkerEnabled: worker != nil,
		Deny:          target.Denylist{},
		Limiter:       ratelimit.NewMemory(),
		Limits: httpapi.Limits{Tool: perMinute(1000), Client: perMinute(1000), Target: perMinute(1000),
			Samples: perMinute(1000)},
		MaxInFlight: 100,
		Clients:     clientip.New(clientip.Trust{Headers: true}, log),
		Pages:       http.NotFoundHandler(),
		Metrics:     httpapi.NewMetrics(),
		Log:         log,
		Now:         time.Now,
		RunLimit:    httpapi.RunLimit,
	}
	if change != nil {
		change(&c)
	}
	edge, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(edge)
	t.Cleanup(s.Close)
	return s
}

// registries is a client whose redirector is a path of the test's own site, which answers by itself.
func registries(t *testing.T, client *egress.Client) *rdap.Client {
	t.Helper()
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	c, err := rdap.New(rdap.Config{Egress: client, Base: "https://site.test-site.com/rdap", Cache: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// announcers is a client of the zone that the private internet's resolver has.
func announcers(t *testing.T, client *egress.Client) *asn.Client {
	t.Helper()
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	return asn.New(client, "", memory)
}

// registrations are what the site's RDAP server knows.
func registrations(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rdap+json")
	switch r.URL.Path {
	case "/rdap/domain/test-site.com":
		_, _ = io.WriteString(w, `{"objectClassName":"domain","handle":"D1","ldhName":"TEST-SITE.COM","status":["active"],
			"events":[{"eventAction":"registration","eventDate":"1999-01-02T03:04:05Z"},{"eventAction":"expiration","eventDate":"2030-01-02T03:04:05Z"}],
			"nameservers":[{"ldhName":"NS1.TEST-SITE.COM"}],
			"secureDNS":{"delegationSigned":true,"dsData":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"AB01"}]},
			"notices":[{"title":"Terms","description":["Be kind."]}],
			"entities":[{"roles":["registrar"],"publicIds":[{"type":"IANA Registrar ID","identifier":"376"}],
				"links":[{"rel":"about","href":"https://registrar.test-site.com"}],
				"vcardArray":["vcard",[["fn",{},"text","A Registrar"]]],
				"entities":[{"roles":["abuse"],"vcardArray":["vcard",[["email",{},"text","abuse@test-site.com"],["tel",{},"uri","tel:+1.555"]]]}]},
				{"roles":["registrant"],"vcardArray":["vcard",[["kind",{},"text","org"],["fn",{},"text","Test Site Ltd"],["adr",{"cc":"DE"},"text",["","","","","","",""]]]]}]}`)
	case "/rdap/ip/93.184.216.34":
		_, _ = io.WriteString(w, `{"objectClassName":"ip network","handle":"NET-1","name":"TEST","type":"DIRECT ALLOCATION","startAddress":"93.184.216.0",
			"endAddress":"93.184.216.255","parentHandle":"NET-0","status":["active"],"country":"US",
			"entities":[{"roles":["registrant"],"vcardArray":["vcard",[["kind",{},"text","org"],["fn",{},"text","Test Site Ltd"]]],
				"entities":[{"roles":["abuse"],"vcardArray":["vcard",[["email",{},"text","abuse@test-site.com"]]]}]}]}`)
	case "/rdap/ip/93.184.216.35":
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func perMinute(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: time.Minute} }

// ask sends one request and holds its answer against the description.
func ask(t *testing.T, d *apitest.Description, s *httptest.Server, method, path, described, body string, headers ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(method, described, resp, answer); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	var envelope map[string]any
	_ = json.Unmarshal(answer, &envelope)
	return resp.StatusCode, envelope
}

// network is a private internet with a server of every kind that the answers below need.
func network(t *testing.T) (*egresstest.Network, certcheck.Checker) {
	t.Helper()
	n := egresstest.New(t)
	n.Records(
		"site.test-site.com. 300 IN A 93.184.216.34",
		"site.test-site.com. 300 IN AAAA 2606:2800:220:1::34",
		"site.test-site.com. 300 IN MX 10 mail.test-site.com.",
		`site.test-site.com. 300 IN TXT "v=spf1 " "-all"`,
		"site.test-site.com. 300 IN NS ns1.test-site.com.",
		"site.test-site.com. 300 IN SOA ns1.test-site.com. host.test-site.com. 1 2 3 4 5",
		"alias.test-site.com. 300 IN CNAME site.test-site.com.",
		"inside.test-site.com. 300 IN A 10.0.0.1",
		"empty.test-site.com. 300 IN TXT nothing",
		"down.test-site.com. 300 IN A 93.184.216.99",
		`34.216.184.93.origin.asn.cymru.com. 300 IN TXT "15133 | 93.184.216.0/24 | EU | ripencc | 2008-06-02"`,
		`34.216.184.93.origin.asn.cymru.com. 300 IN TXT "14210 | 93.184.0.0/16 |  |  |"`,
		`34.216.184.93.peer.asn.cymru.com. 300 IN TXT "174 3356 | 93.184.216.0/24 | EU | ripencc | 2008-06-02"`,
		`as15133.asn.cymru.com. 300 IN TXT "15133 | US | arin | 2007-03-19 | EDGECAST, US"`,
		`35.216.184.93.origin.asn.cymru.com. 300 IN TXT "not the format"`,
		"post-site.com. 300 IN MX 10 mx.post-site.com.",
		"mx.post-site.com. 300 IN A 93.184.216.37",
		`post-site.com. 300 IN TXT "v=spf1 include:_spf.post-site.com mx -all"`,
		`_spf.post-site.com. 300 IN TXT "v=spf1 ip4:93.184.216.0/24 ?all"`,
		`_dmarc.post-site.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:d@post-site.com; ruf=mailto:f@post-site.com"`,
		`s1._domainkey.post-site.com. 300 IN TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="`,
		`_mta-sts.post-site.com. 300 IN TXT "v=STSv1; id=1"`,
		"mta-sts.post-site.com. 300 IN A 93.184.216.37",
		`_smtp._tls.post-site.com. 300 IN TXT "v=TLSRPTv1; rua=mailto:t@post-site.com"`,
		"null-site.com. 300 IN MX 0 .",
	)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "session=secret; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "other=secret")
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusMovedPermanently)
		case "/inside":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nCrawl-delay: 1\nDisallow: /x\nSitemap: /y\nSitemap: http://site.test-site.com/sitemap.xml\nSitemap: http://10.0.0.1/\n")
		case "/sitemap.xml":
			_, _ = io.WriteString(w, "<urlset><url><loc>http://site.test-site.com/</loc><lastmod>2026-05-06</lastmod></url></urlset>")
		case "/page":
			w.Header().Set("Refresh", "5; url=/elsewhere")
		}
		if strings.HasPrefix(r.URL.Path, "/rdap/") {
			registrations(w, r)
		}
	})
	pool, good := certificates(t, "site.test-site.com", time.Now().Add(48*time.Hour))
	_, expired := certificates(t, "site.test-site.com", time.Now().Add(-48*time.Hour))
	for _, address := range []string{"93.184.216.34", "[2606:2800:220:1::34]"} {
		n.Serve(address+":80", handler)
		n.ServeTLS(address+":443", &tls.Config{Certificates: []tls.Certificate{good}}, handler)
		n.ServeTLS(address+":8443", &tls.Config{Certificates: []tls.Certificate{expired}}, handler)
	}
	n.Drop("93.184.216.34:81")
	n.Fail("[2606:2800:220:1::34]:81", syscall.EHOSTUNREACH)
	n.Fail("93.184.216.34:82", syscall.EHOSTUNREACH)
	for i, public := range []string{"1.1.1.1:53", "8.8.8.8:53", "9.9.9.9:53", "208.67.222.222:53"} {
		n.NameServer(public).Records("site.test-site.com. 300 IN A 93.184.216.34", fmt.Sprintf("differs.test-site.com. 300 IN TXT %d", i%2))
	}
	return n, certcheck.Checker{Roots: pool}
}

// certificates makes a root and a leaf for the name.
func certificates(t *testing.T, name string, notAfter time.Time) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	rootKey, root := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Root"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leafKey, leaf := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{"Test"}}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-100 * time.Hour), NotAfter: notAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		OCSPServer: []string{"http://ocsp.test-site.com"},
	}, root, rootKey)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool, tls.Certificate{Certificate: [][]byte{leaf.Raw, root.Raw}, PrivateKey: leafKey}
}

func issue(t *testing.T, template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

// fakeWorker answers jobs with results of the contract's own types; hostname picks a misbehaviour.
func fakeWorker(t *testing.T) *workerclient.Client {
	t.Helper()
	ms, ttl, note := 1.5, 60, "a note"
	hop := workerapi.Hop{TTL: 1, Addresses: []string{}, Sent: 3, LossPercent: 100, RTTsMs: []*float64{nil, nil, nil}, Note: &note}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var job workerapi.Request
		_ = json.NewDecoder(r.Body).Decode(&job)
		switch {
		case strings.HasPrefix(job.Hostname, "down."):
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case strings.HasPrefix(job.Hostname, "alias."):
			_, _ = io.WriteString(w, "<html>")
			return
		}
		address := job.Target
		last := workerapi.Hop{TTL: 2, Labels: []workerapi.Label{{Label: 24001, TC: 1, Bottom: true, TTL: 254}}, Address: &address, Addresses: []string{address}, Sent: 3, Received: 3,
			BestMs: &ms, AverageMs: &ms, WorstMs: &ms, RTTsMs: []*float64{&ms, &ms, &ms}}
		ping := workerapi.Ping{Target: address, Address: address, Family: 4, Sent: 2, Received: 1, LossPercent: 50, MinMs: &ms, AverageMs: &ms,
			MedianMs: &ms, MaxMs: &ms, StddevMs: new(float64), Replies: []workerapi.Reply{{Seq: 0, RTTMs: &ms, TTL: &ttl}, {Seq: 1}}, StopReason: workerapi.StopCompleted}
		switch r.URL.Path {
		case workerapi.PathTraceroute:
			reply(w, workerapi.Traceroute{Target: address, Address: address, Family: 4, Reached: true, StopReason: workerapi.StopReached,
				Hops: []workerapi.Hop{hop, last}, Explanation: []string{"All is well."}})
		case workerapi.PathPing:
			reply(w, ping)
		case workerapi.PathPacketLoss:
			reply(w, workerapi.PacketLoss{Ping: ping, Bursts: []workerapi.Burst{{StartSeq: 1, Length: 1}}})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	c, err := workerclient.New(s.URL, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reply[T any](w http.ResponseWriter, data T) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(workerapi.Envelope[T]{Data: &data, DurationMs: 1, RequestID: "x"})
}

// Every answer here comes from the real tools; each is held against openapi.yaml, and a status that the table does not
// expect fails.
func TestOpenAPIDescribesEveryRealAnswer(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	d := description(t)
	tests := []struct {
		slug, body string
		status     int
	}{
		{"dns-lookup", `{"input":"site.test-site.com"}`, 200},
		{"dns-lookup", `{"input":"alias.test-site.com"}`, 200},
		{"dns-lookup", `{"input":"no-such-name.test-site.com"}`, 200},
		{"dns-lookup", `{"input":"inside.test-site.com"}`, 200},
		{"dns-lookup", `{"input":"localhost"}`, 400},
		{"http-headers", `{"input":"http://site.test-site.com/"}`, 200},
		{"http-headers", `{"input":"https://site.test-site.com/moved"}`, 200},
		{"http-headers", `{"input":"https://site.test-site.com:8443/"}`, 200},
		{"http-headers", `{"input":"http://inside.test-site.com/"}`, 400},
		{"http-headers", `{"input":"http://empty.test-site.com/"}`, 400},
		{"http-headers", `{"input":"http://10.0.0.1/"}`, 400},
		{"http-headers", `{"input":"http://down.test-site.com/"}`, 502},
		{"uptime", `{"input":"https://site.test-site.com/"}`, 200},
		{"uptime", `{"input":"http://site.test-site.com/moved"}`, 200},
		{"uptime", `{"input":"http://site.test-site.com/inside"}`, 200},
		{"uptime", `{"input":"http://site.test-site.com/broken"}`, 200},
		{"uptime", `{"input":"http://site.test-site.com/missing"}`, 200},
		{"uptime", `{"input":"https://site.test-site.com:8443/"}`, 200},
		{"uptime", `{"input":"http://down.test-site.com/"}`, 200},
		{"uptime", `{"input":"http://empty.test-site.com/"}`, 200},
		{"uptime", `{"input":"http://inside.test-site.com/"}`, 400},
		{"ssl-checker", `{"input":"site.test-site.com"}`, 200},
		{"ssl-checker", `{"input":"site.test-site.com:8443"}`, 200},
		{"ssl-checker", `{"input":"93.184.216.34:443"}`, 200},
		{"ssl-checker", `{"input":"down.test-site.com"}`, 502},
		{"ssl-checker", `{"input":"site.test-site.com:80"}`, 502},
		{"ssl-checker", `{"input":"inside.test-site.com"}`, 400},
		{"port-checker", `{"input":"site.test-site.com:443"}`, 200},
		{"port-checker", `{"input":"site.test-site.com:82"}`, 200},
		{"port-checker", `{"input":"down.test-site.com:443"}`, 200},
		{"port-checker", `{"input":"site.test-site.com"}`, 400},
		{"redirect-checker", `{"input":"http://site.test-site.com/moved"}`, 200},
		{"redirect-checker", `{"input":"https://site.test-site.com:8443/inside"}`, 200},
		{"redirect-checker", `{"input":"http://site.test-site.com/page"}`, 200},
		{"redirect-checker", `{"input":"http://down.test-site.com/"}`, 200},
		{"redirect-checker", `{"input":"http://empty.test-site.com/"}`, 400},
		{"redirect-checker", `{"input":"http://inside.test-site.com/"}`, 400},
		{"robots-sitemap", `{"input":"http://site.test-site.com/page"}`, 200},
		{"robots-sitemap", `{"input":"https://site.test-site.com:8443/"}`, 200},
		{"robots-sitemap", `{"input":"http://down.test-site.com/"}`, 200},
		{"robots-sitemap", `{"input":"http://empty.test-site.com/"}`, 400},
		{"robots-sitemap", `{"input":"http://inside.test-site.com/"}`, 400},
		{"my-ip", `{"input":""}`, 200},
		{"my-ip", `{"input":"x"}`, 400},
		{"whois-lookup", `{"input":"www.test-site.com"}`, 200},
		{"whois-lookup", `{"input":"other-site.com"}`, 200},
		{"whois-lookup", `{"input":"93.184.216.34"}`, 200},
		{"whois-lookup", `{"input":"93.184.216.36"}`, 200},
		{"whois-lookup", `{"input":"93.184.216.35"}`, 502},
		{"whois-lookup", `{"input":"10.0.0.1"}`, 400},
		{"email-dns-health", `{"input":"post-site.com","options":{"dkimSelector":"S1"}}`, 200},
		{"email-dns-health", `{"input":"site.test-site.com"}`, 200},
		{"email-dns-health", `{"input":"null-site.com","options":{"dkimSelector":null}}`, 200},
		{"email-dns-health", `{"input":"no-such-name.test-site.com"}`, 200},
		{"email-dns-health", `{"input":"post-site.com","options":{"dkimSelector":"a b"}}`, 400},
		{"dns-resolver-check", `{"input":"site.test-site.com"}`, 200},
		{"dns-resolver-check", `{"input":"site.test-site.com","options":{"recordType":"CAA"}}`, 200},
		{"dns-resolver-check", `{"input":"differs.test-site.com","options":{"recordType":"TXT"}}`, 200},
		{"dns-resolver-check", `{"input":"site.test-site.com","options":{"recordType":"ANY"}}`, 400},
		{"security-headers", `{"input":"https://site.test-site.com/"}`, 200},
		{"security-headers", `{"input":"http://site.test-site.com/moved"}`, 200},
		{"security-headers", `{"input":"http://site.test-site.com/missing"}`, 200},
		{"security-headers", `{"input":"https://site.test-site.com:8443/"}`, 200},
		{"security-headers", `{"input":"http://site.test-site.com/inside"}`, 502},
		{"security-headers", `{"input":"http://inside.test-site.com/"}`, 400},
		{"security-headers", `{"input":"http://down.test-site.com/"}`, 502},
		{"asn-lookup", `{"input":"93.184.216.34"}`, 200},
		{"asn-lookup", `{"input":"2606:2800:220:1::34"}`, 200},
		{"asn-lookup", `{"input":"AS15133"}`, 200},
		{"asn-lookup", `{"input":"AS1"}`, 200},
		{"asn-lookup", `{"input":"93.184.216.35"}`, 502},
		{"asn-lookup", `{"input":"AS64512"}`, 400},
		{"ip-geolocation", `{"input":"93.184.216.34"}`, 200},
		{"ip-geolocation", `{"input":"93.184.216.35"}`, 502},
		{"ip-geolocation", `{"input":"93.184.216.36"}`, 502},
		{"ip-geolocation", `{"input":"10.0.0.1"}`, 400},
		{"traceroute", `{"input":"93.184.216.34"}`, 200},
		{"traceroute", `{"input":"site.test-site.com","options":{"family":"ipv5"}}`, 400},
		{"traceroute", `{"input":"alias.test-site.com","options":{"family":"ipv4"}}`, 502},
		{"traceroute", `{"input":"down.test-site.com"}`, 503},
		{"ping", `{"input":"93.184.216.34"}`, 200},
		{"ping", `{"input":"inside.test-site.com"}`, 400},
		{"packet-loss", `{"input":"93.184.216.34"}`, 200},
		{"packet-loss", `{"input":"127.0.0.1"}`, 400},
		{"packet-loss", `{"input":"down.test-site.com"}`, 503},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		path := "/api/tools/" + tt.slug
		status, envelope := ask(t, d, s, "POST", path, path, tt.body)
		if status != tt.status {
			t.Errorf("%s %s: status %d, want %d: %v", tt.slug, tt.body, status, tt.status, envelope)
		}
		seen[fmt.Sprintf("%s %d", tt.slug, status)] = true
	}
	for _, known := range d.Tools() {
		if !seen[known.Slug+" 200"] || !seen[known.Slug+" 400"] {
			t.Errorf("%s: no success and error of it were held against the description", known.Slug)
		}
	}
}

// The edge's own answers, on every path that the description has.
func TestOpenAPIDescribesTheEdge(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	d := description(t)
	s := gatewayOn(t, n.Client(nil), certs, nil, nil)
	big := `{"input":"` + strings.Repeat("x", 5000) + `"}`
	for _, path := range d.Paths() {
		method, path, _ := strings.Cut(path, " ")
		if method != http.MethodPost {
			continue
		}
		for body, want := range map[string]int{"": 415, "[]": 400, big: 413, `{"input":1}`: 400} {
			if status, _ := ask(t, d, s, "POST", path, path, body); status != want {
				t.Errorf("%s: status %d, want %d", path, status, want)
			}
		}
		ask(t, d, s, "POST", path, path, "{}", "Origin", "https://evil.example")
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "OPTIONS", path, path, "")
	}
	for _, path := range []string{"/api/connection/ping", "/api/connection/packet-loss"} {
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "GET", path+"?n=5", path, "")
		ask(t, d, s, "GET", path+"?n=x", path, "")
		ask(t, d, s, "GET", path, path, "", "Origin", "null")
		ask(t, d, s, "HEAD", path, path, "")
		ask(t, d, s, "POST", path, path, "")
	}
	for _, path := range []string{"/api", "/api/", "/api/none", "/api/tools/none"} {
		ask(t, d, s, "GET", path, "", "")
	}
	ask(t, d, s, "GET", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "PUT", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "GET", "/healthz", "/healthz", "")
	ask(t, d, s, "GET", "/readyz", "/readyz", "")
	for _, slug := range []string{"traceroute", "ping", "packet-loss"} {
		path := "/api/tools/" + slug
		if status, _ := ask(t, d, s, "POST", path, path, `{"input":"site.test-site.com"}`); status != 501 {
			t.Errorf("%s without a worker: %d", slug, status)
		}
	}
}

// Limits, a full instance, a run that takes too long and a failure that nobody foresaw, through a real tool.
func TestOpenAPIDescribesTroubles(t *testing.T) {
	t.Parallel()
	d := description(t)
	n, certs := network(t)
	const path, body = "/api/tools/dns-lookup", `{"input":"site.test-site.com"}`
	tests := []struct {
		name   string
		status int
		change func(*httpapi.Config)
	}{
		{"limited", 429, func(c *httpapi.Config) {
			c.Limiter = limiter{decision: ratelimit.Decision{Limit: 1, RetryAfter: time.Second}}
		}},
		{"store gone", 500, func(c *httpapi.Config) { c.Limiter = limiter{err: io.ErrUnexpectedEOF} }},
		{"full", 503, func(c *httpapi.Config) { c.MaxInFlight = 0 }},
		{"no time", 504, func(c *httpapi.Config) { c.RunLimit = time.Nanosecond }},
		{"switched off", 501, func(c *httpapi.Config) { c.Disabled = []string{"dns-lookup"} }},
		{"denied", 400, func(c *httpapi.Config) { c.Deny, _ = target.ParseDenylist("test-site.com") }},
	}
	for _, tt := range tests {
		s := gatewayOn(t, n.Client(nil), certs, nil, tt.change)
		if status, envelope := ask(t, d, s, "POST", path, path, body); status != tt.status {
			t.Errorf("%s: status %d, want %d: %v", tt.name, status, tt.status, envelope)
		}
	}
}

type limiter struct {
	decision ratelimit.Decision
	err      error
}

func (l limiter) Take(context.Context, []ratelimit.Charge) (ratelimit.Decision, error) {
	return l.decision, l.err
}

// A tool that somebody adds must be described before it is served.
func TestOpenAPIRefusesAnUnknownTool(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil), certs, nil, func(c *httpapi.Config) {
		c.Tools = append(c.Tools, tool.New(tool.Spec[target.Domain, int]{
			Slug:  "new-tool",
			Parse: func(tool.Input) (target.Domain, error) { return target.Domain{}, nil },
			Run:   func(context.Context, target.Domain) (int, error) { return 1, nil },
		}))
	})
	resp, err := s.Client().Post(s.URL+"/api/tools/new-tool", "application/json", bytes.NewBufferString(`{"input":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if err := description(t).Check("POST", "/api/tools/new-tool", resp, body); err == nil {
		t.Error("an answer that is not described passed")
	}
}
