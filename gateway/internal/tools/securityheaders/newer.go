package securityheaders

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// newerHeader is a header that few sites send yet. None is judged: whether it fits depends on the site.
type newerHeader struct {
	Name      string  `json:"name"`
	Present   bool    `json:"present"`
	Value     *string `json:"value"`
	Finding   string  `json:"finding"`
	Reference string  `json:"reference"`
}

// newerKind is one of them: what it is for, where it is missing, and what a value of it means.
type newerKind struct {
	name, purpose, reference string
	means                    func(page, []string) string
}

// newerHeaders are all of them, in the order of answers.
func newerHeaders() []newerKind {
	return []newerKind{
		{"Integrity-Policy", "it makes browsers refuse scripts or style sheets without an integrity attribute",
			mdn + "Integrity-Policy", meansIntegrity},
		{"Document-Policy", "it turns on or off what a page may do, such as profiling its scripts, in Chromium only",
			"https://w3c.github.io/webappsec-permissions-policy/document-policy.html", meansDocumentPolicy},
		{"Origin-Agent-Cluster", "it asks browsers to run the page apart from other hosts of the same domain",
			mdn + "Origin-Agent-Cluster", meansOriginCluster},
		{"Clear-Site-Data", "it makes browsers delete what they keep for a site, and belongs on answers such as the one " +
			"to a logout", mdn + "Clear-Site-Data", meansClearing},
		{"Reporting-Endpoints", "it names where browsers send reports, such as those of a content security policy",
			mdn + "Reporting-Endpoints", meansEndpoints},
	}
}

func describeNewer(p page) []newerHeader {
	kinds := newerHeaders()
	list := make([]newerHeader, 0, len(kinds))
	for _, kind := range kinds {
		h := newerHeader{Name: kind.name, Present: p.has(kind.name), Value: p.shownValue(kind.name),
			Reference: kind.reference}
		if h.Present {
			h.Finding = kind.means(p, p.values(kind.name))
		} else {
			h.Finding = "Not sent, and most sites need none: " + kind.purpose + "."
		}
		if p.has(kind.name + "-Report-Only") {
			h.Finding += fmt.Sprintf(" %s-Report-Only is sent, which only reports.", kind.name)
		}
		list = append(list, h)
	}
	return list
}

const (
	noDictionary = "Browsers ignore it, because it is not a structured dictionary (RFC 9651)."
	notSecure    = "Browsers ignore it, because the answer did not come over valid HTTPS."
)

// meansIntegrity follows Subresource Integrity, "parse Integrity-Policy headers": the metadata stands in the page alone
// (sources, inline by default).
func meansIntegrity(p page, values []string) string {
	policy, err := parseFieldDictionary(values)
	if err != nil {
		return noDictionary
	}
	if sources := tokensOf(policy, "sources"); sources != nil && !slices.Contains(sources, "inline") {
		return "It refuses nothing: its sources must name inline, or be left out."
	}
	var refused []string
	for _, destination := range tokensOf(policy, "blocked-destinations") {
		if word := map[string]string{"script": "scripts", "style": "style sheets"}[destination]; word != "" {
			refused = append(refused, word)
		}
	}
	if len(refused) == 0 {
		return "It refuses nothing: blocked-destinations must name script or style, as in blocked-destinations=(script)."
	}
	text := "Browsers that know it refuse " + strings.Join(slices.Compact(refused), " and ") +
		" without an integrity attribute."
	for _, endpoint := range tokensOf(policy, "endpoints") {
		if !p.definesEndpoint(endpoint) {
			return text + fmt.Sprintf(" It names the endpoint “%s”, which Reporting-Endpoints does not define.",
				shownHeader(endpoint))
		}
	}
	return text
}

// tokensOf are the tokens of an inner list, nil where the dictionary has none of that name.
func tokensOf(d *httpsfv.Dictionary, name string) []string {
	member, _ := d.Get(name)
	list, ok := member.(httpsfv.InnerList)
	if !ok {
		return nil
	}
	tokens := []string{}
	for _, item := range list.Items {
		if token, ok := item.Value.(httpsfv.Token); ok {
			tokens = append(tokens, string(token))
		}
	}
	return tokens
}

func meansDocumentPolicy(_ page, values []string) string {
	policy, err := parseFieldDictionary(values)
	if err != nil {
		return noDictionary
	}
	names := policy.Names()
	if len(names) == 0 {
		return "It sets nothing."
	}
	return fmt.Sprintf("It sets %s. Only Chromium reads it.", namesOf(names))
}

func meansOriginCluster(p page, values []string) string {
	item, err := httpsfv.UnmarshalItem(values)
	keyed, ok := item.Value.(bool)
	switch {
	case err != nil || !ok:
		return "Browsers ignore it: the value must be ?1."
	case !p.secure():
		return notSecure
	case keyed:
		return "It asks browsers to run the page apart from other hosts of the same domain. They may ignore that."
	}
	return "It asks browsers not to run the page apart from other hosts of the same domain."
}

// clearable are the types of data that Clear-Site-Data names.
var clearable = map[string]string{
	"cache": "what they cached", "cookies": "cookies, of all hosts of the domain", "storage": "what scripts stored",
	"executionContexts": "open pages, which are loaded again", "clientHints": "client hints",
	"prefetchCache": "prefetched pages", "prerenderCache": "prerendered pages",
}

// meansClearing follows Clear-Site-Data section 4.1: each type stands in quotes.
func meansClearing(p page, values []string) string {
	var cleared []string
	for _, value := range splitFieldList(values) {
		name, quoted := strings.CutPrefix(value, `"`)
		name, closed := strings.CutSuffix(name, `"`)
		switch what := clearable[name]; {
		case !quoted || !closed:
		case name == "*":
			cleared = []string{"everything"}
		case what != "" && !slices.Contains(cleared, "everything"):
			cleared = append(cleared, what)
		}
	}
	switch {
	case len(cleared) == 0:
		return `Browsers ignore it: the types of data must be in quotes, as in "cookies", "storage".`
	case !p.secure():
		return notSecure
	}
	return "With this answer browsers delete, of what they keep for the site: " + strings.Join(cleared, "; ") +
		". That belongs on an answer such as the one to a logout, and nowhere else."
}

func meansEndpoints(_ page, values []string) string {
	endpoints, err := parseFieldDictionary(values)
	if err != nil {
		return noDictionary
	}
	var good, bad []string
	for _, name := range endpoints.Names() {
		if member, _ := endpoints.Get(name); isEndpoint(member) {
			good = append(good, name)
		} else {
			bad = append(bad, name)
		}
	}
	if len(good)+len(bad) == 0 {
		return "It names no endpoint."
	}
	var sentences []string
	if len(good) > 0 {
		sentences = append(sentences, "Browsers can send reports to what it calls "+namesOf(good)+".")
	}
	if len(bad) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s ignored: an endpoint is an https URL in quotes.",
			someOf(bad, "is", "are")))
	}
	return strings.Join(sentences, " ")
}

// isEndpoint reports whether browsers send reports to a URL: an https one, or a path of the site itself.
func isEndpoint(member httpsfv.Member) bool {
	item, ok := member.(httpsfv.Item)
	if !ok {
		return false
	}
	url, ok := item.Value.(string)
	return ok && (strings.HasPrefix(strings.ToLower(url), "https://") || strings.HasPrefix(url, "/"))
}

// Enums implements decode.Enumerated.
func (newerHeader) Enums() map[string][]string {
	var names []string
	for _, h := range newerHeaders() {
		names = append(names, h.name)
	}
	return map[string][]string{"name": names}
}
