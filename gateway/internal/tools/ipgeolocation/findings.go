package ipgeolocation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// describe sets the report and the note. What could not be found out is a note and no fault of the address.
func (r *Result) describe(registered registeredIn, announced announcedBy, named namedAs) {
	report := rows.Draft()
	if failure := registered.failure(); failure != nil {
		reason, args := fault.Reason(failure)
		report.Add(codeRegistryMissing, "", finding.Args{"reason": reason}.With(args))
	}
	switch {
	case announced.err != nil:
		report.Add(codeASNMissing, "", finding.Args{"here": fault.IsOwn(announced.err)})
	case r.ASN == nil:
		report.Add(registration.CodeNotAnnounced, "", finding.Args{"address": r.IP})
	case announced.NamesMissing:
		report.Add(registration.CodeNamesMissing, "", nil)
	}
	if several := registration.SeveralOrigins(announced.Records); several != nil {
		report.Add(registration.CodeSeveralOrigins, "", several)
	}
	if named.err != nil {
		report.Add(codeHostnameMissing, "", nil)
	}
	r.Note = r.note(report)
	r.Report = r.conclude(report)
}

func (r *Result) conclude(report *finding.Draft) finding.Report {
	args := finding.Args{"address": r.IP, "country": r.country()}
	holder := ""
	contact := finding.Args{}
	if r.AbuseContact != nil {
		contact["contact"] = registration.Shown(*r.AbuseContact)
	}
	if r.Organization != nil {
		holder = registration.Shown(*r.Organization)
	}
	switch {
	case (holder != "" || r.Network != nil) && report.Has(registration.CodeNotAnnounced):
		args["holder"] = holder
		return report.Conclude(codeUnused, args)
	case holder != "":
		args["holder"] = holder
		return report.Conclude(codeHolder, args.With(contact))
	case r.Network != nil:
		args["network"] = cmp.Or(registration.Shown(r.Network.Name), registration.Shown(r.Network.Handle))
		return report.Conclude(codeNetwork, args.With(contact))
	case r.ASN != nil:
		args["network"] = r.origin()
		if r.ASN.Name != nil {
			args["name"] = registration.Shown(*r.ASN.Name)
		}
		return report.Conclude(codeAnnounced, args)
	}
	return report.Conclude(codeNothing, finding.Args{"address": r.IP})
}

// note says what the country means, where it comes from, and what is missing.
func (r *Result) note(report *finding.Draft) string {
	sentences := []string{r.countrySentence(), rows.Sentence(noteNotWhere, nil)}
	for _, f := range report.Findings() {
		sentences = append(sentences, f.Message)
		if f.Code == registration.CodeSeveralOrigins {
			sentences = append(sentences, rows.Sentence(noteFirstOriginOnly, finding.Args{"network": r.origin()}))
		}
	}
	return strings.Join(sentences, " ")
}

func (r *Result) countrySentence() string {
	switch {
	case r.Country == nil && r.Network == nil:
		return rows.Sentence(noteCountryUnknown, nil)
	case r.Country == nil:
		return rows.Sentence(noteNoCountry, nil)
	}
	code := noteCountry
	switch {
	case r.Network == nil:
		code = noteCountryOfASN
	case *r.CountrySource == "asn":
		code = noteOnlyCountry
	}
	return rows.Sentence(code, finding.Args{"country": r.country()})
}

func (r *Result) origin() string { return fmt.Sprintf("AS%d", r.ASN.ASN) }

// country returns "Australia (AU)" or "the Netherlands (NL)", empty if the country is not known.
func (r *Result) country() string {
	switch {
	case r.Country == nil:
		return ""
	case r.CountryName == nil:
		return *r.Country
	}
	return fmt.Sprintf("%s%s (%s)", article(*r.CountryName), *r.CountryName, *r.Country)
}

// withArticle lists the countries that take an article though no word in their name shows it.
var withArticle = []string{"Bahamas", "Comoros", "Gambia", "Isle of Man", "Maldives", "Netherlands", "Philippines",
	"Caribbean Netherlands", "European Union"}

// article returns "the " for a country whose name has it in a sentence.
func article(country string) string {
	first, _, _ := strings.Cut(country, " ")
	last := country[strings.LastIndexByte(country, ' ')+1:]
	if first == "United" || slices.Contains([]string{"Islands", "Republic", "Territory", "Territories"}, last) ||
		slices.Contains(withArticle, country) {
		return "the "
	}
	return ""
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
