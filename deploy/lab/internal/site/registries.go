package site

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"
)

// registrations are answers in the styles of the world's registries; the gateway's tests read the same.
//
//go:embed rdap
var registrations embed.FS

// redirectorHost and listsHost are where the world has the redirector and IANA's lists, and the gateway looks for them
// by itself.
const (
	redirectorHost = "rdap.org"
	listsHost      = "data.iana.org"
)

// registryOf is where the redirector leads for a top-level domain. The others it does not know. IANA's lists have those
// that are not in unlisted.
var registryOf = map[string]string{
	"com": "https://rdap-com." + Zone + "/com/v1",
	"org": "https://rdap-org." + Zone + "/rdap",
	"de":  "https://rdap-de." + Zone,
	"uk":  "https://rdap-uk." + Zone,

	"info":   "https://rdap-limited." + Zone,
	"biz":    "https://rdap-bad." + Zone + "/html",
	"io":     "https://rdap-bad." + Zone + "/slow",
	"app":    "https://rdap-bad." + Zone + "/loop",
	"dev":    "https://rdap-bad." + Zone + "/huge",
	"shop":   "https://rdap-bad." + Zone + "/deep",
	"online": "https://rdap-bad." + Zone + "/500",
	"site":   "https://rdap-bad." + Zone + "/types",
	"top":    "https://rdap-bad." + Zone + "/text",
	"xyz":    "https://rdap-expired." + Zone,
	"us":     "https://10.0.0.1/rdap",
	"ca":     "https://private." + Zone + "/rdap",
	"ch":     "http://rdap-com." + Zone + "/com/v1",
	"moe":    "https://rdap-moe." + Zone + "/registry",
}

// unlisted are what only the redirector has: as in the world, the registry of a country that has not given IANA
// it, and those whose URLs IANA would not list.
var unlisted = []string{"de", "us", "ca", "ch"}

// blocks are the networks of the lab's registries, and the base of whose has them.
var blocks = []struct{ prefix, base, body string }{
	{"8.8.8.0/24", ripeStyle, "arin.json"},
	{"1.1.1.0/24", ripeStyle, "apnic.json"},
	{"193.0.0.0/21", ripeStyle, "ripe.json"},
	{"2606:4700::/32", arinStyle, "cloudflare6.json"},
	{"11.80.0.0/16", ripeStyle, "lab_sites.json"},
	{"2a10:80::/32", ripeStyle, "lab_sites6.json"},
	{"11.90.0.0/24", arinStyle, "lab_far.json"},
	{"11.91.0.0/24", ripeStyle, ""}, // the registry does not have it
	{"11.94.0.0/16", ripeStyle, "lab_none.json"},
	{"11.98.0.0/24", ripeStyle, "padded.json"},
	{"11.98.1.0/24", ripeStyle, "redacted_network.json"},
}

const (
	ripeStyle = "https://rdap-ip." + Zone
	arinStyle = "https://rdap-arin." + Zone + "/registry"
)

func addRegistries(add adder) {
	https := func(h http.Handler) []endpoint { return []endpoint{{port: 443, http: h, tls: &tlsSetup{}}} }
	add(redirectorHost, "the RDAP redirector", https(redirector()))
	add("rdap-com", "a registry with registrars only: example-shop.com", https(thinRegistry()))
	add("rdap-registrar", "the registrar of example-shop.com and example.com",
		https(registry(map[string]string{"example-shop.com": "registrar.json", "example.com": "registrar.json"})))
	add("rdap-org", "a registry: charity-site.org, and quiet-charity.org of which it holds most back",
		https(registry(map[string]string{"charity-site.org": "pir.json", "quiet-charity.org": "redacted_domain.json",
			"ietf.org": "pir.json"})))
	add("rdap-de", "a registry: münchen-shop.de",
		https(registry(map[string]string{"xn--mnchen-shop-thb.de": "denic.json"})))
	add("rdap-uk", "a registry: news-site.co.uk", https(registry(map[string]string{"news-site.co.uk": "nominet.json"})))
	add("rdap-ip", "a registry of addresses", https(addressRegistry(ripeStyle)))
	add("rdap-arin", "a registry of addresses without countries", https(addressRegistry(arinStyle)))
	add("rdap-limited", "a registry that answers 429",
		https(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		})))
	add("rdap-bad", "registries that fail", https(badRegistries()))
	add("rdap-expired", "a registry behind an expired certificate", []endpoint{{
		port: 443, http: registry(map[string]string{}),
		tls: &tlsSetup{certificate: certificate{notBefore: -100 * day, notAfter: -10 * day}},
	}})
}

// addLists adds IANA's lists of registries. It comes after all sites that were there before it, so that they keep their
// addresses.
func addLists(add adder) {
	add(listsHost, "IANA's lists of RDAP registries, under /rdap/",
		[]endpoint{{port: 443, http: registryLists(), tls: &tlsSetup{}}})
}

// listedBlocks are the blocks that IANA lists: larger ones than those of the registrations, and one that has moved.
var listedBlocks = [][2]string{
	{"8.0.0.0/8", ripeStyle}, {"1.0.0.0/8", ripeStyle}, {"193.0.0.0/8", ripeStyle},
	{"11.80.0.0/13", ripeStyle}, {"11.88.0.0/14", ripeStyle}, {"11.94.0.0/16", ripeStyle},
	{"2a10::/12", ripeStyle}, {"2606::/16", arinStyle},
}

// registryLists serves the four files of RFC 9224.
func registryLists() http.Handler {
	names, v4, v6 := [][2]string{}, [][2]string{}, [][2]string{}
	for tld, base := range registryOf {
		if !slices.Contains(unlisted, tld) {
			names = append(names, [2]string{tld, base})
		}
	}
	for _, block := range listedBlocks {
		if strings.Contains(block[0], ":") {
			v6 = append(v6, block)
		} else {
			v4 = append(v4, block)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/rdap/dns.json", bootstrapFile(names))
	mux.Handle("/rdap/ipv4.json", bootstrapFile(v4))
	mux.Handle("/rdap/ipv6.json", bootstrapFile(v6))
	mux.Handle("/rdap/asn.json", bootstrapFile([][2]string{{"212000-212999", ripeStyle}}))
	return mux
}

// bootstrapFile lists each entry with its base.
func bootstrapFile(entries [][2]string) http.Handler {
	services := [][][]string{}
	for _, e := range entries {
		services = append(services, [][]string{{e[0]}, {"http://" + listsHost + "/plain/", e[1] + "/"}})
	}
	body, err := json.Marshal(map[string]any{
		"description": "RDAP bootstrap file of the lab", "publication": "2026-11-01T20:00:01Z", "services": services,
		"version": "1.0",
	})
	if err != nil {
		panic(err) // of texts alone
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
}

// redirector answers as rdap.org does: 302 to the registry, 404 where there is none.
func redirector() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/domain/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		base, ok := registryOf[strings.TrimPrefix(path.Ext(name), ".")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		send(w, http.StatusFound, base+"/domain/"+name)
	})
	mux.HandleFunc("/ip/{address}", func(w http.ResponseWriter, r *http.Request) {
		if base, _, ok := blockOf(r.PathValue("address")); ok {
			send(w, http.StatusFound, base+"/ip/"+r.PathValue("address"))
			return
		}
		http.NotFound(w, r)
	})
	return mux
}

func blockOf(address string) (base, body string, ok bool) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "", "", false
	}
	for _, b := range blocks {
		if netip.MustParsePrefix(b.prefix).Contains(a) {
			return b.base, b.body, true
		}
	}
	return "", "", false
}

// writtenFor are the names in bodies that serve for several.
var writtenFor = map[string]string{"registrar.json": "example-shop.com", "pir.json": "charity-site.org"}

// registry answers for the names of a table, by the last segment of the path.
func registry(bodies map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.ToLower(path.Base(r.URL.Path))
		body := bodies[name]
		if own, shared := writtenFor[body]; shared {
			serveRegistration(w, body, strings.NewReplacer(own, name))
			return
		}
		serveRegistration(w, body, nil)
	})
}

// thinRegistry has five names, and of each only the registrar; the registrars of the last three are of no help.
func thinRegistry() http.Handler {
	const registrar, own = "https:\\/\\/rdap.markmonitor.com\\/rdap\\/", "EXAMPLE-SHOP.COM"
	related := map[string]string{
		"example-shop.com": "https://rdap-registrar." + Zone + "/rdap/",
		"example.com":      "https://rdap-registrar." + Zone + "/rdap/",
		"inside-shop.com":  "https://10.0.0.1/rdap/",
		"astray-shop.com":  "https://private." + Zone + "/rdap/",
		"lonely-shop.com":  "https://rdap-bad." + Zone + "/500/",
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.ToLower(path.Base(r.URL.Path))
		to, ok := related[name]
		if !ok {
			serveRegistration(w, "", nil)
			return
		}
		serveRegistration(w, "verisign.json", strings.NewReplacer(registrar, to, own, strings.ToUpper(name)))
	})
}

// addressRegistry leads on to the registry that has a block now, as the world's do.
func addressRegistry(own string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := path.Base(r.URL.Path)
		base, body, ok := blockOf(address)
		if ok && base != own {
			send(w, http.StatusFound, base+"/ip/"+address)
			return
		}
		serveRegistration(w, body, nil)
	})
}

// serveRegistration sends a body of this package, or 404 in the registries' own format where it has no name.
func serveRegistration(w http.ResponseWriter, body string, edit *strings.Replacer) {
	w.Header().Set("Content-Type", "application/rdap+json")
	if body == "" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(
			w, `{"errorCode":404,"title":"Not Found","description":["The server has no information about this object."]}`)
		return
	}
	text, err := registrations.ReadFile("rdap/" + body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if edit != nil {
		text = []byte(edit.Replace(string(text)))
	}
	_, _ = w.Write(text)
}

// badRegistries are distinguished by the first segment of the path.
func badRegistries() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/html/", page("No registry"))
	mux.Handle("/slow/", late(time.Hour, page("Never")))
	mux.HandleFunc("/loop/", func(w http.ResponseWriter, r *http.Request) { send(w, http.StatusFound, r.URL.Path) })
	mux.Handle("/500/", status(http.StatusInternalServerError))
	mux.HandleFunc("/huge/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rdap+json")
		_, _ = io.WriteString(w, `{"objectClassName":"domain","remarks":["`)
		_, _ = io.WriteString(w, strings.Repeat("x", 5<<20)+`"]}`)
	})
	mux.HandleFunc("/deep/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rdap+json")
		_, _ = io.WriteString(w, strings.Repeat(`{"entities":[`, 1<<15)+strings.Repeat(`]}`, 1<<15))
	})
	mux.HandleFunc("/types/", func(w http.ResponseWriter, r *http.Request) { serveNamed(w, r, "wrongtypes_domain.json") })
	mux.HandleFunc("/text/", func(w http.ResponseWriter, r *http.Request) { serveNamed(w, r, "hostile_text.json") })
	return mux
}

// serveNamed puts the requested name into a body.
func serveNamed(w http.ResponseWriter, r *http.Request, body string) {
	serveRegistration(w, body, strings.NewReplacer("odd-site.net", path.Base(r.URL.Path), "evil-site.com",
		path.Base(r.URL.Path)))
}
