package securityheaders

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool/finding"

	"github.com/dunglas/httpsfv"
)

// newerHeader is a header that few sites send yet. None is judged: whether it fits depends on the site.
type newerHeader struct {
	Name      string  `json:"name"`
	Present   bool    `json:"present"`
	Value     *string `json:"value" bound:"text=2k"`
	Finding   string  `json:"finding"`
	Reference string  `json:"reference"`
}

// newerKind is one of them, the code of what it is for, if it is missing, and what a value of it means.
type newerKind struct {
	name, missing, reference string
	means                    func(page, []string) []fact
}

// newerHeaders are all of them, in the order of answers.
func newerHeaders() []newerKind {
	return []newerKind{
		{"Integrity-Policy", "INTEGRITY_POLICY_MISSING", mdn + "Integrity-Policy", meansIntegrity},
		{"Document-Policy", "DOCUMENT_POLICY_MISSING",
			"https://w3c.github.io/webappsec-permissions-policy/document-policy.html", meansDocumentPolicy},
		{"Origin-Agent-Cluster", "ORIGIN_AGENT_CLUSTER_MISSING", mdn + "Origin-Agent-Cluster", meansOriginCluster},
		{"Clear-Site-Data", "CLEAR_SITE_DATA_MISSING", mdn + "Clear-Site-Data", meansClearing},
		{"Reporting-Endpoints", "REPORTING_ENDPOINTS_MISSING", mdn + "Reporting-Endpoints", meansEndpoints},
	}
}

func describeNewer(p page) []newerHeader {
	kinds := newerHeaders()
	list := make([]newerHeader, 0, len(kinds))
	for _, kind := range kinds {
		h := newerHeader{Name: kind.name, Present: p.has(kind.name), Value: p.shownValue(kind.name),
			Reference: kind.reference}
		facts := []fact{{kind.missing, nil}}
		if h.Present {
			facts = kind.means(p, p.values(kind.name))
		}
		if p.has(kind.name + "-Report-Only") {
			facts = append(facts, fact{codeReportOnly, finding.Args{"header": kind.name}})
		}
		h.Finding = sentences(facts...)
		list = append(list, h)
	}
	return list
}

// means returns a single fact.
func means(code string, args finding.Args) []fact { return []fact{{code, args}} }

// meansIntegrity follows Subresource Integrity, "parse Integrity-Policy headers": the metadata stands only in the page
// (sources, inline by default).
func meansIntegrity(p page, values []string) []fact {
	policy, err := parseFieldDictionary(values)
	if err != nil {
		return means(codeNewerDictionary, nil)
	}
	if sources := tokensOf(policy, "sources"); sources != nil && !slices.Contains(sources, "inline") {
		return means("INTEGRITY_POLICY_SOURCES", nil)
	}
	var refused []string
	for _, destination := range tokensOf(policy, "blocked-destinations") {
		if word := map[string]string{"script": "scripts", "style": "style sheets"}[destination]; word != "" {
			refused = append(refused, word)
		}
	}
	if len(refused) == 0 {
		return means("INTEGRITY_POLICY_NOTHING", nil)
	}
	facts := means("INTEGRITY_POLICY_REFUSES", finding.Args{"kinds": slices.Compact(refused)})
	for _, endpoint := range tokensOf(policy, "endpoints") {
		if !p.definesEndpoint(endpoint) {
			return append(facts, fact{"INTEGRITY_POLICY_ENDPOINT", finding.Args{"endpoint": shownHeader(endpoint)}})
		}
	}
	return facts
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

func meansDocumentPolicy(_ page, values []string) []fact {
	policy, err := parseFieldDictionary(values)
	if err != nil {
		return means(codeNewerDictionary, nil)
	}
	names := policy.Names()
	if len(names) == 0 {
		return means("DOCUMENT_POLICY_NOTHING", nil)
	}
	return means("DOCUMENT_POLICY_SETS", finding.Args{"features": shownNames(names)})
}

func meansOriginCluster(p page, values []string) []fact {
	item, err := httpsfv.UnmarshalItem(values)
	keyed, ok := item.Value.(bool)
	switch {
	case err != nil || !ok:
		return means("ORIGIN_AGENT_CLUSTER_INVALID", nil)
	case !p.secure():
		return means(codeNewerSecure, nil)
	case keyed:
		return means("ORIGIN_AGENT_CLUSTER_ON", nil)
	}
	return means("ORIGIN_AGENT_CLUSTER_OFF", nil)
}

// meansClearing follows Clear-Site-Data section 4.1: each type stands in quotes.
func meansClearing(p page, values []string) []fact {
	var cleared []string
	for _, value := range splitFieldList(values) {
		name, quoted := strings.CutPrefix(value, `"`)
		name, closed := strings.CutSuffix(name, `"`)
		code := "CLEAR_" + strings.ToUpper(name)
		switch _, isKnown := newerRows[code]; {
		case !quoted || !closed:
		case name == "*":
			cleared = []string{codeClearsAll}
		case isKnown && !slices.Contains(cleared, codeClearsAll) && len(cleared) < 7:
			cleared = append(cleared, code)
		}
	}
	switch {
	case len(cleared) == 0:
		return means("CLEAR_SITE_DATA_NOTHING", nil)
	case !p.secure():
		return means(codeNewerSecure, nil)
	}
	args := finding.Args{}
	for i, code := range cleared {
		args[fmt.Sprintf("type%d", i+1)] = code
	}
	return means("CLEAR_SITE_DATA_CLEARS", args)
}

func meansEndpoints(_ page, values []string) []fact {
	endpoints, err := parseFieldDictionary(values)
	if err != nil {
		return means(codeNewerDictionary, nil)
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
		return means("REPORTING_ENDPOINTS_NONE", nil)
	}
	var facts []fact
	if len(good) > 0 {
		facts = means("REPORTING_ENDPOINTS_NAMED", finding.Args{"endpoints": shownNames(good)})
	}
	if len(bad) > 0 {
		facts = append(facts, fact{"REPORTING_ENDPOINTS_IGNORED", finding.Args{"endpoints": shownNames(bad)}})
	}
	return facts
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
