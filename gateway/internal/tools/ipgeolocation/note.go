package ipgeolocation

import (
	"fmt"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/webview"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// notWhere is the caveat of every registration.
const notWhere = "A registration says who holds the addresses, not where they are used."

// note says in plain words what the country means, where it comes from, and what is missing.
func note(r Result, registered registeredIn, announced announcedBy, named namedAs) string {
	sentences := []string{countrySentence(r), notWhere}
	if failure := registered.failure(); failure != nil {
		sentences = append(sentences, webview.FaultSentence(failure))
	}
	if registered.err != nil {
		sentences = append(sentences, "So the registry's own record of the network is missing.")
	}
	switch {
	case fault.IsOwn(announced.err):
		sentences = append(sentences, "This service could not ask the ASN service, so the AS number is missing.")
	case announced.err != nil:
		sentences = append(sentences, "The ASN service failed to answer, so the AS number is missing.")
	case r.ASN == nil:
		sentences = append(sentences, "No network announces this address at present.")
	case announced.NamesMissing:
		sentences = append(sentences, registration.NoteNamesMissing)
	}
	if several := registration.SeveralOrigins(announced.Records); several != "" {
		sentences = append(sentences, several, fmt.Sprintf("Only AS%d is shown here; the ASN lookup shows all.", r.ASN.ASN))
	}
	if named.err != nil {
		sentences = append(sentences, "The address's hostname could not be looked up, so it is missing.")
	}
	return strings.Join(sentences, " ")
}

func countrySentence(r Result) string {
	switch {
	case r.Country == nil && r.Network == nil:
		return "Which country this network is registered in is not known."
	case r.Country == nil:
		return "No source says which country this network is registered in."
	}
	country := countryInWords(&r)
	switch {
	case r.Network == nil:
		return fmt.Sprintf("This network is registered in %s, according to the ASN service.", country)
	case *r.CountrySource == "asn":
		return fmt.Sprintf("This network is registered in %s, according to the ASN service; the registry's own record of "+
			"the network names no country.", country)
	}
	return fmt.Sprintf("This network is registered in %s, according to its registry.", country)
}

// countryInWords is "Australia (AU)".
func countryInWords(r *Result) string {
	if r.CountryName == nil {
		return *r.Country
	}
	return fmt.Sprintf("%s (%s)", *r.CountryName, *r.Country)
}

// regions are what the registries have for more than one country.
var regions = map[string]string{"AP": "Asia-Pacific", "EU": "European Union"}

// countryName gives the English name of an ISO 3166-1 alpha-2 code, empty where it has none.
func countryName(code string) string {
	if name, ok := regions[code]; ok {
		return name
	}
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() {
		return ""
	}
	return display.English.Regions().Name(region.Canonicalize())
}
