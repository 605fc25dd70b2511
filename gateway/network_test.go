package main

import (
	"bytes"
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
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/gateway/web"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"

	"github.com/miekg/dns"
)

// emptyCache is one of a test's own.
func emptyCache(t *testing.T) cache.Store {
	t.Helper()
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	return memory
}

// gatewayOn is the real edge with the real tools on a private internet, with a worker of the test's own.
func gatewayOn(
	t *testing.T, client *egress.Client, certs certs.Checker, worker *workerclient.Client,
	change func(*httpapi.Config),
) *httptest.Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	text, err := document()
	if err != nil {
		t.Fatal(err)
	}
	c := httpapi.Config{
		Description: text,
		Tools: tools.All(tools.Deps{Egress: client, RDAP: registries(t, client), WHOIS: port43(t, client),
			ASN: announcers(t, client), Worker: worker,
			Certs: certs, Cache: emptyCache(t), Now: time.Now, Hints: rootzone.DefaultHints()}),
		WorkerEnabled: worker != nil,
		Deny:          target.Denylist{},
		Limiter:       ratelimit.NewMemory(),
		Limits: requests.Limits{Tool: perMinute(1000), Client: perMinute(1000), Target: perMinute(1000),
			Samples: perMinute(1000)},
		MaxInFlight: 100,
		Clients:     clientip.New(clientip.Trust{Headers: true}, log),
		Pages:       noPages,
		LimitedPage: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		Metrics:     httpapi.NewMetrics(),
		Log:         log,
		Now:         time.Now,
		RunLimit:    httpapi.RunLimit,
		Bounds:      httpapi.DefaultBounds(),
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

// noPages answers as the pages do where there are none.
func noPages(w http.ResponseWriter, r *http.Request) error {
	http.NotFound(w, r)
	return web.ErrNotFound
}

func port43(t *testing.T, client *egress.Client) *whois.Client {
	t.Helper()
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	c, err := whois.New(whois.Config{Egress: client, Cache: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
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

func perMinute(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: time.Minute} }

// everyType are records of the types that dns-lookup is asked for by name.
var everyType = []string{
	`every-type.com. 300 IN CAA 0 issue "ca.example.net"`,
	`every-type.com. 300 IN SRV 10 60 5060 sip.every-type.com.`,
	`every-type.com. 300 IN HTTPS 1 . alpn="h3,h2" ipv4hint=93.184.216.34`,
	`every-type.com. 300 IN SVCB 0 pool.every-type.com.`,
	`every-type.com. 300 IN SVCB 1 . key65280="unknown" port=53`,
	`every-type.com. 300 IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D`,
	`every-type.com. 300 IN DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==`,
	`every-type.com. 300 IN TLSA 3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B56664C5D3D6`,
	`every-type.com. 300 IN NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@every-type.com!" .`,
	`every-type.com. 300 IN PTR host.every-type.com.`,
	`every-type.com. 300 IN SSHFP 4 2 A87F1B687AC0E57D2A081A2F282672334D90ED316D2B818CA9580EA384D92401`,
	`every-type.com. 300 IN URI 10 1 "https://every-type.com/"`,
	`every-type.com. 300 IN LOC 52 22 23 N 4 53 32 E -2m`,
	`every-type.com. 300 IN HINFO "PC" "Linux"`,
}

// network is a private internet with a server of every kind that the answers below need.
// delegated is the way from the root to deleg-site.com.
func delegated(n *egresstest.Network) {
	const soa = " IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 7200 3600 1209600 3600\n"
	n.ZoneServer([]string{"198.41.0.4"}, "."+soa+". IN NS a.root-servers.net.\n"+
		"com. IN NS b.gtld-servers.net.\nb.gtld-servers.net. IN A 192.33.14.30\n")
	n.ZoneServer([]string{"192.33.14.30"}, "com."+soa+"com. IN NS b.gtld-servers.net.\n"+
		"deleg-site.com. IN NS ns.deleg-site.com.\nns.deleg-site.com. IN A 93.186.1.1\n")
	n.ZoneServer([]string{"93.186.1.1"}, "deleg-site.com."+soa+"deleg-site.com. IN NS ns.deleg-site.com.\n"+
		"ns.deleg-site.com. IN A 93.186.1.1\nwww.deleg-site.com. IN CNAME ns.deleg-site.com.\n")
}

func network(t *testing.T) (*egresstest.Network, certs.Checker) {
	t.Helper()
	n := egresstest.New(t)
	n.Records(everyType...)
	delegated(n)
	n.Records(
		"site.test-site.com. 300 IN A 93.184.216.34",
		"site.test-site.com. 300 IN AAAA 2606:2800:220:1::34",
		"site.test-site.com. 300 IN MX 10 mail.test-site.com.",
		`site.test-site.com. 300 IN TXT "v=spf1 " "-all"`,
		"site.test-site.com. 300 IN NS ns1.test-site.com.",
		"site.test-site.com. 300 IN SOA ns1.test-site.com. host.test-site.com. 1 2 3 4 5",
		"34.216.184.93.in-addr.arpa. 300 IN PTR site.test-site.com.",
		"pair.test-site.com. 300 IN A 93.184.216.34",
		"pair.test-site.com. 300 IN A 93.184.216.38",
		"example.com. 300 IN A 93.184.216.34",
		"example.com. 300 IN AAAA 2606:2800:220:1::34",
		"alias.test-site.com. 300 IN CNAME site.test-site.com.",
		"inside.test-site.com. 300 IN A 10.0.0.1",
		"empty.test-site.com. 300 IN TXT nothing",
		"down.test-site.com. 300 IN A 93.184.216.99",
		`34.216.184.93.origin.asn.cymru.com. 300 IN TXT "15133 | 93.184.216.0/24 | EU | ripencc | 2008-06-02"`,
		`34.216.184.93.origin.asn.cymru.com. 300 IN TXT "14210 | 93.184.0.0/16 |  |  |"`,
		`34.216.184.93.peer.asn.cymru.com. 300 IN TXT "174 3356 | 93.184.216.0/24 | EU | ripencc | 2008-06-02"`,
		`as15133.asn.cymru.com. 300 IN TXT "15133 | US | arin | 2007-03-19 | EDGECAST, US"`,
		`1.1.1.1.origin.asn.cymru.com. 300 IN TXT "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"`,
		`as15169.asn.cymru.com. 300 IN TXT "15169 | US | arin | 2000-03-30 | GOOGLE, US"`,
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
		"_25._tcp.mx.post-site.com. 300 IN TLSA 3 1 1 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
		"37.216.184.93.in-addr.arpa. 300 IN PTR mx.post-site.com.",
		`default._bimi.post-site.com. 300 IN TXT "v=BIMI1; l=https://post-site.com/logo.svg"`,
		"k2._domainkey.post-site.com. 300 IN CNAME s1._domainkey.post-site.com.",
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
			_, _ = io.WriteString(w, "User-agent: *\nCrawl-delay: 1\nDisallow: /x\nSitemap: /y\n"+
				"Sitemap: http://site.test-site.com/sitemap.xml\nSitemap: http://10.0.0.1/\n")
		case "/sitemap.xml":
			_, _ = io.WriteString(w, "<urlset><url><loc>http://site.test-site.com/</loc>"+
				"<lastmod>2026-05-06</lastmod></url></urlset>")
		case "/page":
			w.Header().Set("Refresh", "5; url=/elsewhere")
		}
		if strings.HasPrefix(r.URL.Path, "/rdap/") {
			registrations(w, r)
		}
	})
	pool, good := certificates(t, time.Now().Add(48*time.Hour), "site.test-site.com", "example.com")
	_, expired := certificates(t, time.Now().Add(-48*time.Hour), "site.test-site.com")
	for _, address := range []string{"93.184.216.34", "[2606:2800:220:1::34]"} {
		n.Serve(address+":80", handler)
		n.ServeTLS(address+":443", &tls.Config{Certificates: []tls.Certificate{good}}, handler)
		n.ServeTLS(address+":8443", &tls.Config{Certificates: []tls.Certificate{expired}}, handler)
	}
	n.Serve("93.184.216.38:80", handler)
	n.Drop("93.184.216.34:81")
	n.Fail("[2606:2800:220:1::34]:81", syscall.EHOSTUNREACH)
	n.Fail("93.184.216.34:82", syscall.EHOSTUNREACH)
	for i, public := range []string{"1.1.1.1:53", "8.8.8.8:53", "9.9.9.9:53", "208.67.222.222:53"} {
		n.NameServer(public).Records("site.test-site.com. 300 IN A 93.184.216.34", "example.com. 300 IN A 93.184.216.34",
			fmt.Sprintf("differs.test-site.com. 300 IN TXT %d", i%2),
			fmt.Sprintf("served.test-zone.com. %d IN TXT %d", 300-100*(i/3), i/3))
	}
	serveZone(n)
	return n, certs.Checker{Roots: pool}
}

// serveZone adds a zone with a server of its own, one at a private address and one that does not serve it.
func serveZone(n *egresstest.Network) {
	n.Records("test-zone.com. 300 IN SOA ns1.test-zone.com. hostmaster.test-zone.com. 1 2 3 4 5",
		"test-zone.com. 300 IN NS ns1.test-zone.com.", "test-zone.com. 300 IN NS ns2.test-zone.com.",
		"test-zone.com. 300 IN NS ns3.test-zone.com.", "ns1.test-zone.com. 300 IN A 93.184.217.53",
		"ns2.test-zone.com. 300 IN A 10.1.2.3", "ns3.test-zone.com. 300 IN A 93.184.217.54")
	n.NameServer("93.184.217.53:53").Records("served.test-zone.com. 300 IN TXT 0",
		"alias.test-zone.com. 300 IN CNAME site.test-site.com.")
	n.NameServer("93.184.217.54:53").Handle("served.test-zone.com", func(q *dns.Msg) *dns.Msg {
		return new(dns.Msg).SetReply(q)
	})
}

// registrations are what the site's RDAP server knows.
func registrations(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rdap+json")
	switch r.URL.Path {
	case "/rdap/domain/test-site.com", "/rdap/domain/example.com":
		name := path.Base(r.URL.Path)
		_, _ = io.WriteString(w, `{"objectClassName":"domain","handle":"D1","ldhName":"`+name+`","status":["active"],
			"events":[{"eventAction":"registration","eventDate":"1999-01-02T03:04:05Z"},
				{"eventAction":"expiration","eventDate":"2030-01-02T03:04:05Z"}],
			"nameservers":[{"ldhName":"NS1.TEST-SITE.COM"}],
			"secureDNS":{"delegationSigned":true,"dsData":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"AB01"}]},
			"notices":[{"title":"Terms","description":["Be kind."]}],
			"entities":[{"roles":["registrar"],"publicIds":[{"type":"IANA Registrar ID","identifier":"376"}],
				"links":[{"rel":"about","href":"https://registrar.test-site.com"}],
				"vcardArray":["vcard",[["fn",{},"text","A Registrar"]]],
				"entities":[{"roles":["abuse"],"vcardArray":["vcard",[["email",{},"text","abuse@test-site.com"],
					["tel",{},"uri","tel:+1.555"]]]}]},
				{"roles":["registrant"],"vcardArray":["vcard",[["kind",{},"text","org"],["fn",{},"text","Test Site Ltd"],
					["adr",{"cc":"DE"},"text",["","","","","","",""]]]]}]}`)
	case "/rdap/ip/93.184.216.34", "/rdap/ip/1.1.1.1":
		block := strings.TrimRight(path.Base(r.URL.Path), "0123456789")
		_, _ = io.WriteString(w, `{"objectClassName":"ip network","handle":"NET-1","name":"TEST","type":"DIRECT ALLOCATION",
			"startAddress":"`+block+`0","endAddress":"`+block+`255","parentHandle":"NET-0","status":["active"],"country":"US",
			"entities":[{"roles":["registrant"],
				"vcardArray":["vcard",[["kind",{},"text","org"],["fn",{},"text","Test Site Ltd"]]],
				"entities":[{"roles":["abuse"],"vcardArray":["vcard",[["email",{},"text","abuse@test-site.com"]]]}]}]}`)
	case "/rdap/ip/93.184.216.35":
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// certificates makes a root and a leaf for the names.
func certificates(t *testing.T, notAfter time.Time, names ...string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	rootKey, root := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Root"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leafKey, leaf := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0], Organization: []string{"Test"}},
		DNSNames: names, NotBefore: time.Now().Add(-100 * time.Hour), NotAfter: notAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		OCSPServer:  []string{"http://ocsp.test-site.com"},
	}, root, rootKey)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool, tls.Certificate{Certificate: [][]byte{leaf.Raw, root.Raw}, PrivateKey: leafKey}
}

func issue(
	t *testing.T, template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey,
) (*ecdsa.PrivateKey, *x509.Certificate) {
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

// fakeWorker answers jobs with results of the contract's own types, as a stream where one is asked for; hostname picks
// a misbehaviour.
func fakeWorker(t *testing.T) *workerclient.Client {
	t.Helper()
	ms, ttl, note := 1.5, 60, "a note"
	hop := workerapi.Hop{TTL: 1, Addresses: []string{}, Sent: 3, LossPercent: 100, RTTsMs: []*float64{nil, nil, nil},
		Note: &note}
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
		last := workerapi.Hop{TTL: 2, Labels: []workerapi.Label{{Label: 24001, TC: 1, Bottom: true, TTL: 254}},
			Address: &address, Addresses: []string{address}, Sent: 3, Received: 3,
			BestMs: &ms, AverageMs: &ms, WorstMs: &ms, RTTsMs: []*float64{&ms, &ms, &ms}}
		ping := workerapi.Ping{Target: address, Address: address, Family: 4, Sent: 2, Received: 1, LossPercent: 50,
			MinMs: &ms, AverageMs: &ms, MedianMs: &ms, MaxMs: &ms, StddevMs: new(float64),
			Replies: []workerapi.Reply{{Seq: 0, RTTMs: &ms, TTL: &ttl}, {Seq: 1}}, StopReason: workerapi.StopCompleted}
		switch r.URL.Path {
		case workerapi.PathTraceroute:
			hops := []workerapi.Hop{hop, last}
			stepByStep(w, r, "hop", hops, workerapi.Traceroute{Target: address, Address: address, Family: 4, Reached: true,
				StopReason: workerapi.StopReached,
				Hops:       hops, Explanation: []string{"All is well."}})
		case workerapi.PathPing:
			stepByStep(w, r, "reply", ping.Replies, ping)
		case workerapi.PathPacketLoss:
			stepByStep(w, r, "reply", ping.Replies,
				workerapi.PacketLoss{Ping: ping, Bursts: []workerapi.Burst{{StartSeq: 1, Length: 1}}})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	c, err := workerclient.New(s.URL, "0123456789abcdef", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func reply[T any](w http.ResponseWriter, data T) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(workerapi.Envelope[T]{Data: &data, DurationMs: 1, RequestID: "x"})
}

// stepByStep answers a job as it is asked for: with steps before the data, or with the data alone.
func stepByStep[S, T any](w http.ResponseWriter, r *http.Request, kind string, steps []S, data T) {
	if !progress.Wanted(r.Header.Values("Accept")) {
		reply(w, data)
		return
	}
	var lines bytes.Buffer
	for _, step := range steps {
		_ = progress.Step{Kind: kind, Value: step, At: time.Now()}.Line(&lines, time.Now(), workerapi.JobLimit)
	}
	last, _ := json.Marshal(workerapi.Envelope[T]{Data: &data, DurationMs: 1, RequestID: "x"})
	lines.Write(bytes.TrimSuffix(last, []byte("}")))
	lines.WriteString(`,"status":200}` + "\n")
	w.Header().Set("Content-Type", progress.MediaType)
	_, _ = w.Write(lines.Bytes())
}
