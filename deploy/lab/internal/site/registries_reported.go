package site

import (
	"fmt"
	"net/http"
	"path"
	"strings"
)

// absent are the bodies of 404 of the registry of .moe, by name: those of registries that explain an absence.
var absent = map[string]string{
	"kept.moe": `{"errorCode":404,"title":"Not Found","description":["Domain Name: kept.moe",` +
		`"This name is not available for registration","Registry Reserved"]}`,
	"untitled.moe": `{"errorCode":404,"title":"Blocked by the registry"}`,
}

const (
	// explained is the registrar's 404.
	explained = `{"errorCode":404,"title":"Not Found","description":["This name has left the registrar"]}`
	// exhausted is what a registrar answers with 200 in place of an object.
	exhausted = `{"notices":[{"title":"Quota exceeded","description":["31/30"]}]}`
)

// addReportedRegistries adds registries that public bug reports describe: one of .moe with its registrar, and WHOIS
// servers that refuse because of earlier queries.
func addReportedRegistries(add adder) {
	https := func(h http.HandlerFunc) []endpoint { return []endpoint{{port: 443, http: h, tls: &tlsSetup{}}} }
	add("rdap-moe", "a registry that explains absences: kept.moe, untitled.moe", https(moeRegistry))
	add("rdap-moe-registrar", "the registrar of renewed.moe, quota.moe and moved.moe", https(moeRegistrar))
	says := func(line string) []endpoint {
		return []endpoint{{port: 43, raw: lineServer(func(string) string { return line + "\n" })}}
	}
	add("whois-quota", "a WHOIS server whose quota is exceeded", says("Error: max. requests per second exceeded"))
	add("whois-fast", "a WHOIS server that is queried too fast", says("Query too fast, slow down"))
}

func moeRegistry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rdap+json")
	name := strings.ToLower(path.Base(r.URL.Path))
	if body, is := absent[name]; is {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, body)
		return
	}
	fmt.Fprint(w, moeDomain(name, "2027-03-01", `{"rel":"related","type":"application/rdap+json","href":"https://`+
		`rdap-moe-registrar.`+Zone+`/domain/`+name+`"}`))
}

func moeRegistrar(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rdap+json")
	switch name := strings.ToLower(path.Base(r.URL.Path)); name {
	case "renewed.moe":
		fmt.Fprint(w, moeDomain(name, "2026-03-01", ""))
	case "quota.moe":
		fmt.Fprint(w, exhausted)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, explained)
	}
}

// moeDomain is the object of a domain that ends on a day, with these links.
func moeDomain(name, end, links string) string {
	return fmt.Sprintf(`{"objectClassName":"domain","ldhName":%q,"status":["active"],"links":[%s],"events":[`+
		`{"eventAction":"registration","eventDate":"2020-03-01T00:00:00Z"},`+
		`{"eventAction":"expiration","eventDate":"%sT00:00:00Z"}]}`, name, links, end)
}
