package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"

	"github.com/miekg/dns"
)

// worstAnswers are, for each tool, the input at which the servers of hostileNetwork send as much as the bounds on what
// is read let through, in the bytes that JSON makes the most of, and the objects that must then be marked as cut. A
// tool without any has no list that could be longer than an answer may be.
var worstAnswers = map[string]struct {
	body   string
	marked []string
}{
	"dns-lookup": {`{"input":"worst-site.com","options":{"types":"all"}}`, []string{"", "details.NS", "details.TXT",
		"details.MX", "details.AAAA", "details.CAA", "details.SRV", "details.HTTPS", "details.SVCB", "details.DS",
		"details.DNSKEY", "details.TLSA", "details.NAPTR", "details.PTR", "details.SSHFP", "details.URI", "details.LOC",
		"details.HINFO"}},
	"http-headers": {`{"input":"http://worst-site.com/headers"}`, []string{""}},
	"ssl-checker": {`{"input":"worst-site.com"}`,
		[]string{"", "certificate", "certificate.subjectAltNames", "chain.1"}},
	"uptime":           {`{"input":"http://worst-site.com/status"}`, []string{""}},
	"port-checker":     {`{"input":"worst-site.com:443"}`, nil},
	"my-ip":            {`{"input":""}`, nil},
	"ip-geolocation":   {`{"input":"93.184.216.34"}`, []string{"", "network"}},
	"asn-lookup":       {`{"input":"93.184.216.34"}`, nil},
	"whois-lookup":     {`{"input":"worst-site.com"}`, []string{"", "domain", "domain.contacts.0", "domain.contacts.12"}},
	"redirect-checker": {`{"input":"http://worst-site.com/0"}`, []string{"", "hops.0", "hops.8"}},
	"robots-sitemap":   {`{"input":"http://worst-site.com/"}`, []string{"", "robots", "robots.groups.0"}},
	"dns-resolver-check": {`{"input":"deep.worst-zone.com","options":{"recordType":"NS"}}`,
		[]string{"", "resolvers.0", "resolvers.3", "groups.0", "groups.3", "authoritative", "authoritative.servers.0",
			"authoritative.servers.2"}},
	"dns-delegation": {`{"input":"worst-delegation.com"}`, []string{"", "zones.2", "answers.0"}},
	"email-dns-health": {`{"input":"worst-site.com","options":{"dkimSelector":"s1"}}`, []string{"", "checks.mx",
		"checks.spf", "checks.spf.tree.children.0", "checks.dmarc", "checks.dkim", "checks.mtaSts", "checks.tlsRpt",
		"bimi"}},
	"security-headers": {`{"input":"http://worst-site.com/cookies"}`, []string{"", "controls.1"}},
	"traceroute":       {`{"input":"93.184.216.34"}`, []string{"", "hops.0"}},
	"ping":             {`{"input":"93.184.216.34"}`, []string{""}},
	"packet-loss":      {`{"input":"93.184.216.34"}`, []string{""}},
}

// Every tool keeps to the bound on what it answers, whatever it is sent, and says where it was cut; and to the number
// of files that the warning at the start reckons with.
func TestNoAnswerIsLongerThanItMayBe(t *testing.T) {
	t.Parallel()
	n, certs := hostileNetwork(t)
	open := &openFiles{network: n}
	client := n.Client(nil, egress.WithChecker(certs), egress.WithDialer(open.dial))
	s := gatewayOn(t, client, certs, hostileWorker(t), nil)
	d := description(t)
	// One after another: together they hold more than one client may.
	for _, one := range registry() {
		slug := one.Slug()
		t.Run(slug, func(t *testing.T) {
			worst, known := worstAnswers[slug]
			if !known {
				t.Fatalf("no input is known at which the answer of %s is the longest: add one to worstAnswers", slug)
			}
			path := "/api/tools/" + slug
			var envelope map[string]any
			silent := slices.Clone(worst.marked) // of what no answer has said yet that it was cut
			// A run has seconds for its answers, which a machine that has much to do may need for other things.
			status := 0
			for range 6 {
				status, envelope = ask(t, d, s, "POST", path, path, worst.body)
				if status != http.StatusOK {
					continue
				}
				silent = slices.DeleteFunc(silent, func(path string) bool {
					object, _ := at(envelope["data"], path).(map[string]any)
					return object["truncated"] == true
				})
				if len(silent) == 0 {
					break
				}
			}
			if status != http.StatusOK {
				t.Fatalf("status %d: %v", status, envelope["error"])
			}
			size := bound.Size(envelope["data"])
			files := open.mostSince()
			t.Logf("%d bytes, %d files", size, files)
			if files > config.FilesOfRun {
				t.Errorf("%d files were open at once, and config.FilesOfRun is %d", files, config.FilesOfRun)
			}
			if size > bound.MaxData {
				t.Errorf("data takes %d bytes, and %d are allowed", size, bound.MaxData)
			}
			for _, path := range silent {
				t.Errorf("%q was cut and does not say so", path)
			}
			if len(worst.marked) == 0 && strings.Contains(marshal(t, envelope), `"truncated":true`) {
				t.Error("the answer is told to be cut: say where")
			}
		})
	}
}

// at gives what stands at a path such as "hops.0" of a decoded JSON value.
func at(value any, path string) any {
	if path == "" {
		return value
	}
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hostileNetwork is a private internet in which every server sends as much as it can.
func hostileNetwork(t *testing.T) (*egresstest.Network, certs.Checker) {
	t.Helper()
	n := egresstest.New(t)
	n.Records(
		"site.test-site.com. 300 IN A 93.184.216.35",
		"mta-sts.worst-site.com. 300 IN A 93.184.216.36",
	)
	n.HandleRaw("worst-site.com", longAnswers("x"))
	for i, public := range []string{"1.1.1.1:53", "8.8.8.8:53", "9.9.9.9:53", "208.67.222.222:53"} {
		n.NameServer(public).HandleRaw("deep.worst-zone.com", longAnswers(fmt.Sprint(i)))
	}
	n.Records("worst-zone.com. 300 IN SOA ns1.test-site.com. hostmaster.test-site.com. 1 2 3 4 5")
	for i := range 3 {
		n.Records(fmt.Sprintf("worst-zone.com. 300 IN NS ns%d.test-site.com.", i),
			fmt.Sprintf("ns%d.test-site.com. 300 IN A 93.184.217.%d", i, i+1))
		n.NameServer(fmt.Sprintf("93.184.217.%d:53", i+1)).HandleRaw("deep.worst-zone.com", longAnswers(fmt.Sprint("ns", i)))
	}
	longDelegation(n)
	longMailRecords(n)
	longAnnouncements(n)
	n.ServeConn("93.184.216.34:80", longWebAnswers)
	n.Serve("93.184.216.80:80", http.NotFoundHandler())
	pool, good := certificates(t, time.Now().Add(48*time.Hour), "site.test-site.com", "mta-sts.worst-site.com")
	n.ServeTLS("93.184.216.34:443", &tls.Config{Certificates: []tls.Certificate{longCertificate(t)}},
		http.NotFoundHandler())
	n.ServeTLS("93.184.216.35:443", &tls.Config{Certificates: []tls.Certificate{good}},
		http.HandlerFunc(longRegistrations))
	n.ServeTLS("93.184.216.36:443", &tls.Config{Certificates: []tls.Certificate{good}},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, strings.Repeat("<", 64<<10))
		}))
	return n, certs.Checker{Roots: pool}
}

// longDelegation is the way down to worst-delegation.com, which has as many servers as are queried, each with answers
// of 64 KiB.
func longDelegation(n *egresstest.Network) {
	const soa = " IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 7200 3600 1209600 3600\n"
	n.ZoneServer([]string{"198.41.0.4"}, "."+soa+". IN NS a.root-servers.net.\ncom. IN NS b.gtld-servers.net.\n"+
		"b.gtld-servers.net. IN A 192.33.14.30\n")
	zone := "com." + soa + "com. IN NS b.gtld-servers.net.\n"
	for i := range 8 {
		name := fmt.Sprintf("ns%d.worst-delegation.com.", i)
		zone += "worst-delegation.com. IN NS " + name + "\n"
		for j := range 2 {
			address := fmt.Sprintf("93.185.%d.%d", i, j+1)
			zone += name + " IN A " + address + "\n"
			n.NameServer(address + ":53").HandleAll(longAnswers(fmt.Sprint("d", i, j)))
		}
	}
	n.ZoneServer([]string{"192.33.14.30"}, zone)
}

// ugly is a name of 240 octets that takes five bytes of JSON for most of them.
var ugly = strings.Repeat(strings.Repeat(`\001`, 59)+".", 4)

// longAnswers fills a message of 64 KiB with records of the type that is asked for. No two servers give the same.
// Each is packed once: that takes longer than all else here.
func longAnswers(who string) func(dns.ResponseWriter, *dns.Msg) {
	var mu sync.Mutex
	packed := map[string][]byte{}
	return func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if w.LocalAddr().Network() == "udp" {
			m.Truncated = true
			_ = w.WriteMsg(m)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(q.Question[0], q.RecursionDesired)
		if packed[key] == nil {
			packed[key] = packLong(m, who, !q.RecursionDesired)
		}
		answer := slices.Clone(packed[key])
		binary.BigEndian.PutUint16(answer, q.Id)
		_, _ = w.Write(answer)
	}
}

func packLong(m *dns.Msg, who string, authoritative bool) []byte {
	m.Compress, m.Authoritative = true, authoritative
	h := dns.RR_Header{Name: m.Question[0].Name, Rrtype: m.Question[0].Qtype, Class: dns.ClassINET, Ttl: 300}
	for i := range recordsIn64K(h.Rrtype) {
		m.Answer = append(m.Answer, longRecord(h, who, i))
	}
	packed, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

func recordsIn64K(qtype uint16) int {
	switch qtype {
	case dns.TypeA:
		return 4000
	case dns.TypeAAAA:
		return 2300
	case dns.TypeMX, dns.TypeNS, dns.TypeCNAME, dns.TypePTR:
		return 2900
	case dns.TypeTXT, dns.TypeDS, dns.TypeTLSA, dns.TypeSSHFP, dns.TypeDNSKEY:
		return 4
	case dns.TypeCAA, dns.TypeURI:
		return 50
	case dns.TypeHTTPS, dns.TypeSVCB:
		return 20
	case dns.TypeSRV, dns.TypeNAPTR:
		return 200
	case dns.TypeHINFO:
		return 110
	case dns.TypeLOC:
		return 2300
	}
	return 1
}

func longRecord(h dns.RR_Header, who string, i int) dns.RR {
	name := fmt.Sprintf("%s%04d.%s", who, i, ugly)
	switch h.Rrtype {
	case dns.TypeA:
		// The first is where the servers are; the last are unused.
		return &dns.A{Hdr: h, A: net.IPv4(93, 184, byte(216+i/250), byte(34+i%220))}
	case dns.TypeAAAA:
		return &dns.AAAA{Hdr: h, AAAA: net.ParseIP(fmt.Sprintf("2606:2800:2222:1111:2222:3333:4444:%x", 0x1000+i))}
	case dns.TypeMX:
		return &dns.MX{Hdr: h, Preference: uint16(i), Mx: name}
	case dns.TypeNS:
		return &dns.NS{Hdr: h, Ns: name}
	case dns.TypeCNAME:
		return &dns.CNAME{Hdr: h, Target: name}
	case dns.TypeTXT:
		if i > 0 {
			return longTXT(h, fmt.Sprintf("%s%d", who, i), 18000)
		}
		return longTXT(h, "v=spf1 "+includes(12), 4000)
	}
	if rr := longValue(h, name, i); rr != nil {
		return rr
	}
	return &dns.SOA{Hdr: h, Ns: name, Mbox: name}
}

// longValue are records of the types that have objects for values.
func longValue(h dns.RR_Header, name string, i int) dns.RR {
	chunk, text := strings.Repeat("<", 255), strings.Repeat("<", 1000)+fmt.Sprint(i)
	data := strings.Repeat("00", 15_000) + fmt.Sprintf("%02x", i%256)
	switch h.Rrtype {
	case dns.TypePTR:
		return &dns.PTR{Hdr: h, Ptr: name}
	case dns.TypeCAA:
		return &dns.CAA{Hdr: h, Tag: chunk, Value: text}
	case dns.TypeURI:
		return &dns.URI{Hdr: h, Target: text}
	case dns.TypeSRV:
		return &dns.SRV{Hdr: h, Priority: uint16(i), Target: name}
	case dns.TypeHTTPS, dns.TypeSVCB:
		return longService(h, i)
	case dns.TypeDS:
		return &dns.DS{Hdr: h, Digest: data}
	case dns.TypeTLSA:
		return &dns.TLSA{Hdr: h, Certificate: data}
	case dns.TypeSSHFP:
		return &dns.SSHFP{Hdr: h, FingerPrint: data}
	case dns.TypeDNSKEY:
		return &dns.DNSKEY{Hdr: h, Flags: uint16(i), PublicKey: strings.Repeat("AAAA", 5_000)}
	case dns.TypeNAPTR:
		return &dns.NAPTR{Hdr: h, Order: uint16(i), Flags: "", Service: "", Regexp: chunk[:50], Replacement: name}
	case dns.TypeHINFO:
		return &dns.HINFO{Hdr: h, Cpu: fmt.Sprint(i) + chunk[3:], Os: chunk}
	case dns.TypeLOC:
		return &dns.LOC{Hdr: h, Size: 0x12, HorizPre: 0x16, VertPre: 0x13, Latitude: 1<<31 + uint32(i), Longitude: 1 << 31}
	}
	return nil
}

// longService is an HTTPS record with a long list, or an SVCB record with many parameters.
func longService(h dns.RR_Header, i int) dns.RR {
	rr := dns.SVCB{Hdr: h, Priority: uint16(i + 1), Target: "."}
	if h.Rrtype == dns.TypeHTTPS {
		rr.Value = append(rr.Value, &dns.SVCBAlpn{Alpn: strings.Split(strings.Repeat("<,", 1400)+"<", ",")})
		return &dns.HTTPS{SVCB: rr}
	}
	for key := range 750 {
		rr.Value = append(rr.Value, &dns.SVCBLocal{KeyCode: dns.SVCBKey(1000 + key)})
	}
	return &rr
}

func includes(n int) string {
	var terms strings.Builder
	for i := range n {
		fmt.Fprintf(&terms, "include:s%d.worst-site.com ", i)
	}
	return terms.String()
}

// longTXT is a record that begins with a text and goes on with bytes that take six each.
func longTXT(h dns.RR_Header, begin string, length int) *dns.TXT {
	h.Rrtype = dns.TypeTXT
	text := begin + strings.Repeat("<", length-len(begin))
	var chunks []string
	for len(text) > 255 {
		chunks, text = append(chunks, text[:255]), text[255:]
	}
	return &dns.TXT{Hdr: h, Txt: append(chunks, text)}
}

// longMailRecords are the records of a domain's mail, each as long as a message may be.
func longMailRecords(n *egresstest.Network) {
	addresses := strings.Repeat("mailto:"+strings.Repeat("&", 2000)+"@worst-site.com,", 20)
	for name, begin := range map[string]string{
		"_dmarc.worst-site.com":        "v=DMARC1; p=none; rua=" + addresses + "; ",
		"s1._domainkey.worst-site.com": "v=DKIM1; p=",
		"default._bimi.worst-site.com": "v=BIMI1; l=https://worst-site.com/" + strings.Repeat("&", 2000) + "; a=",
		"_mta-sts.worst-site.com":      "v=STSv1; id=1; ",
		"_smtp._tls.worst-site.com":    "v=TLSRPTv1; rua=" + addresses + "; ",
	} {
		longText(n, name, begin, 60000)
	}
	for i := range 12 {
		longText(n, fmt.Sprintf("s%d.worst-site.com", i), "v=spf1 "+strings.Repeat("<= ", 700), 8000)
	}
}

func longText(n *egresstest.Network, name, begin string, length int) {
	n.HandleRaw(name, func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if m.Truncated = w.LocalAddr().Network() == "udp"; !m.Truncated && q.Question[0].Qtype == dns.TypeTXT {
			h := dns.RR_Header{Name: q.Question[0].Name, Class: dns.ClassINET, Ttl: 300}
			m.Answer = append(m.Answer, longTXT(h, begin, length))
		}
		_ = w.WriteMsg(m)
	})
}

// longAnnouncements are as many origins and peers as the service's client takes, with the longest names.
func longAnnouncements(n *egresstest.Network) {
	var origins, peers []string
	for i := range 64 {
		origins = append(origins, fmt.Sprint(1000+i))
		n.Records(fmt.Sprintf("as%d.asn.cymru.com. 300 IN TXT \"%d | US | arin | 2000-01-01 | %s\" \"%s\"", 1000+i, 1000+i,
			strings.Repeat("<", 200), strings.Repeat("<", 200)))
	}
	for i := range 300 {
		peers = append(peers, fmt.Sprint(2000+i))
	}
	tell := func(name string, numbers []string) {
		text := strings.Join(numbers, " ") + " | 93.184.216.0/24 | US | arin | 2000-01-01"
		n.HandleRaw(name, func(w dns.ResponseWriter, q *dns.Msg) {
			m := new(dns.Msg).SetReply(q)
			if m.Truncated = w.LocalAddr().Network() == "udp"; !m.Truncated {
				h := dns.RR_Header{Name: q.Question[0].Name, Class: dns.ClassINET, Ttl: 300}
				m.Answer = append(m.Answer, longTXT(h, text, len(text)))
			}
			_ = w.WriteMsg(m)
		})
	}
	tell("34.216.184.93.origin.asn.cymru.com", origins)
	tell("34.216.184.93.peer.asn.cymru.com", peers)
}

// longWebAnswers is a web server whose head is as long as is read, for every request.
func longWebAnswers(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	const most = 60000
	status, fields, body := "200 OK", "", ""
	switch r.URL.Path {
	case "/headers":
		fields = strings.Repeat("a:"+strings.Repeat("<", 60)+"\r\n", 990) // at most 1,000 lines are read
	case "/cookies":
		fields = "content-security-policy: default-src " + strings.Repeat("<&", 15000) + "\r\n" +
			strings.Repeat("set-cookie:sid=\r\n", 990)
	case "/status":
		status = "503 " + strings.Repeat("<", most)
	case "/robots.txt":
		fields = "content-type: text/plain;" + strings.Repeat("<", 20000) + "\r\n"
		body = longRobots()
	case "/sitemap.xml":
		status, fields = "301 "+strings.Repeat("<", 20000), "location: /s?"+strings.Repeat("&", 16000)+"\r\n"
	case "/s":
		fields, body = "content-type: text/plain;"+strings.Repeat("<", 40000)+"\r\n", strings.Repeat("<\n", 100000)
	default:
		var hop int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &hop)
		status = "302 " + strings.Repeat("<", 20000)
		fields = fmt.Sprintf("location: /%d?%s\r\n", hop+1, strings.Repeat("&", 9000)) // eight are what a run may send
	}
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %s\r\nconnection: close\r\n%scontent-length: %d\r\n\r\n%s", status, fields, len(body),
		body)
}

// longRobots is a file of 500 KiB whose lines are as short as lines that say something can be.
func longRobots() string {
	var file strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&file, "sitemap:http://worst-site.com/s?%d%s\n", i, strings.Repeat("&", 40))
	}
	for i := range 300 {
		fmt.Fprintf(&file, "user-agent:a%c%c%s\n", 'a'+i/26%26, 'a'+i%26, strings.Repeat("b", 60))
	}
	for file.Len() < 500<<10 {
		file.WriteString("allow:\n")
	}
	return file.String()
}

// longCertificate fills a handshake of 128 KiB with names.
func longCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := tls.Certificate{PrivateKey: key}
	for i, length := range []int{75_000, 2_000, 2_000} {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			Subject:    pkix.Name{CommonName: strings.Repeat("<", max(length/10, 4200))},
			OCSPServer: []string{"http://worst-site.com/" + strings.Repeat("&", length/10)},
		}
		for range length / 4 {
			template.DNSNames = append(template.DNSNames, "<\x01")
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		made.Certificate = append(made.Certificate, der)
	}
	return made
}

// longRegistrations fills a megabyte with what a registry may say of a name and of a network.
func longRegistrations(w http.ResponseWriter, r *http.Request) {
	long := func(i int) string { return fmt.Sprintf("%03d%s", i, strings.Repeat("<", 253)) }
	strs := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = long(i)
		}
		return list
	}
	var redacted []any
	words := func(s string) map[string]any { return map[string]any{"type": s} }
	for i := range 80 {
		redacted = append(redacted, map[string]any{"name": words(long(i))},
			map[string]any{"name": words(fmt.Sprint("Registrant ", i)), "reason": words(long(i))})
	}
	object := map[string]any{"objectClassName": "ip network", "startAddress": "0.0.0.1", "endAddress": "255.255.255.254",
		"status": strs(256), "redacted": redacted}
	if strings.Contains(r.URL.Path, "/domain/") {
		var entities, notices []any
		for range 12 {
			entities = append(entities, map[string]any{"roles": strs(250)})
			notices = append(notices, map[string]any{"title": long(len(notices)),
				"description": []string{strings.Repeat("<", 2000)}})
		}
		object = map[string]any{"objectClassName": "domain", "ldhName": "worst-site.com", "status": strs(200),
			"entities": entities, "notices": notices, "redacted": redacted}
	}
	w.Header().Set("Content-Type", "application/rdap+json")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(object)
}

// hostileWorker keeps to the contract's letter and sends a megabyte all the same.
func hostileWorker(t *testing.T) *workerclient.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var job workerapi.Request
		_ = json.NewDecoder(r.Body).Decode(&job)
		raw := strings.Repeat("<", 700_000)
		ping := workerapi.Ping{Target: job.Target, Address: job.Target, Family: 4, LossPercent: 100,
			Replies: []workerapi.Reply{}, StopReason: workerapi.StopCompleted, Raw: &raw}
		var data any = ping
		switch r.URL.Path {
		case workerapi.PathTraceroute:
			data = longTrace(job.Target, raw)
		case workerapi.PathPacketLoss:
			data = workerapi.PacketLoss{Ping: ping, Bursts: []workerapi.Burst{}}
		case workerapi.PathReady:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(map[string]any{"data": data, "durationMs": 1, "requestId": "x"})
	}))
	t.Cleanup(s.Close)
	c, err := workerclient.New(s.URL, "0123456789abcdef", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func longTrace(target, raw string) workerapi.Traceroute {
	trace := workerapi.Traceroute{Target: target, Address: target, Family: 4, StopReason: workerapi.StopMaxHops, Raw: &raw}
	note := strings.Repeat("<", 500)
	for ttl := 1; ttl <= workerapi.MaxHops; ttl++ {
		address := fmt.Sprintf("93.184.%d.34", ttl)
		hop := workerapi.Hop{TTL: ttl, Address: &address, Addresses: []string{address}, Sent: 500, LossPercent: 100,
			RTTsMs: make([]*float64, 500), Note: &note}
		for i := range 200 {
			hop.Addresses = append(hop.Addresses, fmt.Sprintf("93.184.216.%d", i))
		}
		trace.Hops = append(trace.Hops, hop)
	}
	for range 50 {
		trace.Explanation = append(trace.Explanation, strings.Repeat("<", 2000))
	}
	return trace
}
