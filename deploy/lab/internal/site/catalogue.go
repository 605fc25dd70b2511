package site

import (
	"crypto/elliptic"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Zone is the domain of all sites.
const Zone = "lab-site.com"

// Site is one name with its addresses and what is served there.
type Site struct {
	Host   string
	V4, V6 netip.Addr
	// Note is a line for a person who wonders what to expect.
	Note      string
	endpoints []endpoint
}

// Ports are those that the site serves.
func (s Site) Ports() (ports []int) {
	for _, e := range s.endpoints {
		ports = append(ports, e.port)
	}
	return ports
}

func web(h http.Handler) []endpoint {
	return []endpoint{{port: 80, http: h}, {port: 443, http: h, tls: &tlsSetup{}}}
}

func secure(note certificate) []endpoint {
	return []endpoint{{port: 80, http: page("Plain")},
		{port: 443, http: page("Secure"), tls: &tlsSetup{certificate: note}}}
}

// Catalogue is every site, with the addresses that at gives to the n-th.
func Catalogue(at func(n int) (v4, v6 netip.Addr)) []Site {
	var sites []Site
	add := func(label, note string, endpoints []endpoint) *Site {
		v4, v6 := at(len(sites) + 1)
		host := label
		if !strings.Contains(label, ".") {
			host += "." + Zone
		}
		sites = append(sites, Site{Host: host, V4: v4, V6: v6, Note: note, endpoints: endpoints})
		return &sites[len(sites)-1]
	}
	addWeb(add)
	addTLS(add)
	addRaw(add)
	addCrawled(add)
	addSecured(add)
	addRegistries(add)
	addPolicies(add)
	// Self-signed, so that the issuer's name is the same markup.
	add("hostilecert", "markup in its certificate's names",
		secure(certificate{signedBy: "self", subject: "<img src=x onerror=alert(1)>"}))
	addLoud(add)
	addFloods(add)
	add("longkey", "a certificate with an RSA key of 16,384 bits", secure(certificate{longKey: 16384}))
	add("longchain", "sends eighteen certificates more than it needs", secure(certificate{others: 18}))
	add("endlesschain", "sends 300 certificates more than it needs", secure(certificate{others: 300}))
	add("ring384", "ten certificates that issue one another, with P-384 keys", secure(certificate{ring: elliptic.P384()}))
	add("ring521", "ten certificates that issue one another, with P-521 keys", secure(certificate{ring: elliptic.P521()}))
	addLists(add)
	addPort43(add)
	addCrawlerSites(add)
	addNewer(add)
	addHeads(add)
	addReportedRegistries(add)
	add("sec-repaired", "every security header wrong, until one is repaired", web(repaired()))
	return sites
}

// addLoud adds sites that make an HTTP client's library complain.
func addLoud(add adder) {
	add("frames", fmt.Sprintf("%d HTTP/2 frames of an undefined type, and no answer", UnknownFrames),
		[]endpoint{{port: 443, raw: unknownFrames, tls: &tlsSetup{onlyHTTP2: true}}})
	add("unsolicited", "says more than it was asked, a secret included", []endpoint{{port: 80, raw: once(
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + strings.Repeat(Unsolicited+" ", 200))}})
}

// adder adds a site by its label below Zone, or by its whole name.
type adder func(label, note string, endpoints []endpoint) *Site

func addWeb(add adder) {
	add("fast", "answers at once, HTTP/2, a good certificate", web(page("Fast")))
	add("slow", "headers after three seconds", web(late(3*time.Second, page("Slow"))))
	add("never", "takes the request and never answers", web(late(time.Hour, page("Never"))))
	add("huge", "80 KiB of response headers", web(hugeHeaders()))
	add("redirects", "/chain/3, /loop, /relative, /none, /slow/9, /cookie, /meta, /refresh, /to?location=…",
		web(redirects()))
	add("upgrade", "http redirects to https", []endpoint{
		{port: 80, http: toHTTPS("upgrade." + Zone)},
		{port: 443, http: page("Upgraded"), tls: &tlsSetup{}},
	})
	add("notfound", "answers 404", web(status(http.StatusNotFound)))
	add("broken", "answers 500", web(status(http.StatusInternalServerError)))
	add("unavailable", "answers 503", web(status(http.StatusServiceUnavailable)))
	add("rich", "cookies, repeated and security headers", web(rich()))
	add("hostile", "markup in its headers", web(hostile()))
	add("endless", "a body of one GiB", web(endless()))
	add("v4only", "has IPv4 only", web(page("IPv4 only"))).V6 = netip.Addr{}
	add("v6only", "has IPv6 only", web(page("IPv6 only"))).V4 = netip.Addr{}
}

func addTLS(add adder) {
	add("expired", "certificate expired ten days ago", secure(certificate{notBefore: -100 * day, notAfter: -10 * day}))
	add("notyet", "certificate valid from next week on", secure(certificate{notBefore: 7 * day, notAfter: 90 * day}))
	add("selfsigned", "self-signed certificate", secure(certificate{signedBy: "self"}))
	add("wronghost", "certificate of another name", secure(certificate{names: []string{"other." + Zone}}))
	add("nointermediate", "leaves its intermediate out", secure(certificate{leafOnly: true}))
	add("untrusted", "signed by an unknown authority, whose root it sends",
		secure(certificate{signedBy: "stranger", withRoot: true}))
	add("unknownissuer", "signed by an unknown authority, alone", secure(certificate{signedBy: "stranger"}))
	add("expiredself", "self-signed and expired", secure(certificate{signedBy: "self", notBefore: -100 * day,
		notAfter: -10 * day}))
	add("rsa", "an RSA certificate", secure(certificate{rsa: true}))
	only := func(version uint16) []endpoint {
		return []endpoint{{port: 443, http: page("One version"), tls: &tlsSetup{min: version, max: version}}}
	}
	add("tls13", "TLS 1.3 only", only(tls.VersionTLS13))
	add("tls12", "TLS 1.2 only", only(tls.VersionTLS12))
	add("tls10", "TLS 1.0 only", only(tls.VersionTLS10))
	add("clientcert", "wants a client's certificate", []endpoint{
		{port: 443, http: page("Members"), tls: &tlsSetup{clientAuth: tls.RequireAnyClientCert}},
	})
	add("http1", "HTTP/1.1 over TLS, no HTTP/2", []endpoint{{port: 443, http: page("One"), tls: &tlsSetup{noHTTP2: true}}})
}

func addRaw(add adder) {
	add("notls", "port 443 speaks SSH", []endpoint{{port: 443, raw: banner("SSH-2.0-OpenSSH_9.9\r\n")}})
	add("mute", "takes connections and says nothing", []endpoint{{port: 80, raw: mute}, {port: 443, raw: mute}})
	add("reset", "resets every connection", []endpoint{{port: 80, raw: reset}, {port: 443, raw: reset}})
	add("http10", "HTTP/1.0", []endpoint{{port: 80, raw: once("HTTP/1.0 200 Fine\r\nServer: old\r\nX-One: 1\r\n\r\nold")}})
	add("nothttp", "port 80 is no web server", []endpoint{{port: 80, raw: once("220 ftp ready\r\n")}})
	add("mail", "STARTTLS on 25, 587, 110 and 143", []endpoint{
		{port: 25, raw: smtp.talk, tls: &tlsSetup{}, startTLS: true},
		{port: 587, raw: smtp.talk, tls: &tlsSetup{}, startTLS: true},
		{port: 110, raw: pop3.talk, tls: &tlsSetup{}, startTLS: true},
		{port: 143, raw: imap.talk, tls: &tlsSetup{}, startTLS: true},
	})
}

// Page is a plain page at one address, outside the catalogue.
func Page(title string, at netip.Addr) Site {
	return Site{Host: title, endpoints: []endpoint{{port: 80, http: page(title)}}}.at(at)
}

// SecurePage is a page over TLS alone at one address, outside the catalogue.
func SecurePage(host string, at netip.Addr) Site {
	return Site{Host: host, endpoints: []endpoint{{port: 443, http: page(host), tls: &tlsSetup{}}}}.at(at)
}

func (s Site) at(a netip.Addr) Site {
	if a.Is4() {
		s.V4 = a
	} else {
		s.V6 = a
	}
	return s
}
