package ipgeolocation

import (
	"fmt"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. Those of registration are shared with asn-lookup.
const (
	codeHolder          = "HOLDER"
	codeNetwork         = "NETWORK_WITHOUT_HOLDER"
	codeAnnounced       = "ANNOUNCED_WITHOUT_REGISTRATION"
	codeNothing         = "NOTHING_KNOWN"
	codeRegistryMissing = "REGISTRY_DATA_MISSING"
	codeASNMissing      = "ASN_MISSING"
	codeHostnameMissing = "HOSTNAME_MISSING"
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeHolder:    {State: finding.OK, Message: "%s is registered to %s%s."},
		codeNetwork:   {State: finding.OK, Message: "%s belongs to the network %s%s; its holder is not published."},
		codeAnnounced: {State: finding.Unknown, Message: "%s is announced by %s%s; no registration of it was found."},
		codeNothing:   {State: finding.Unknown, Message: "No registration was found for the network of %s."},
	},
	Findings: map[string]finding.Entry{
		registration.CodeSeveralOrigins: registration.SeveralOriginsEntry,
		registration.CodeNotAnnounced:   registration.NotAnnouncedEntry,
		registration.CodeNamesMissing:   registration.NamesMissingEntry,
		codeRegistryMissing: {Severity: finding.Info, Group: finding.Note, Weight: 8,
			Message: "The registry's own record of the network is missing. %[1]s"},
		codeASNMissing: {Severity: finding.Info, Group: finding.Note, Weight: 7,
			Message: "The ASN service gave no usable answer, so the AS number is missing."},
		codeHostnameMissing: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "The address's hostname could not be looked up, so it is missing."},
	},
}

// report returns the conclusion and the findings. What could not be found out is a note and no fault of the address.
func report(r *Result, registered registeredIn, announced announcedBy, named namedAs) finding.Report {
	var found []finding.Finding
	add := func(code string, args ...any) { found = append(found, catalogue.Find(code, args...)) }
	if failure := registered.failure(); failure != nil {
		add(codeRegistryMissing, webview.FaultSentence(failure))
	}
	switch winners := registration.Winners(announced.Records); {
	case announced.err != nil:
		add(codeASNMissing)
	case len(winners) == 0:
		add(registration.CodeNotAnnounced, r.IP)
	case len(winners) > 1:
		add(registration.CodeSeveralOrigins, registration.Numbers(winners), winners[0].Prefix)
	}
	if announced.err == nil && announced.NamesMissing {
		add(registration.CodeNamesMissing)
	}
	if named.err != nil {
		add(codeHostnameMissing)
	}
	return finding.NewReport(r.conclude(announced), found...)
}

func (r *Result) conclude(announced announcedBy) finding.Conclusion {
	country := ""
	if r.Country != nil {
		country = fmt.Sprintf(" in %s", countryInWords(r))
	}
	if r.Organization != nil {
		if holder := shown(*r.Organization); holder != "" {
			return catalogue.Conclude(codeHolder, r.IP, holder, country)
		}
	}
	switch {
	case r.Network != nil:
		name := shown(r.Network.Name)
		if name == "" {
			name = shown(r.Network.Handle)
		}
		return catalogue.Conclude(codeNetwork, r.IP, name, country)
	case r.ASN != nil:
		return catalogue.Conclude(codeAnnounced, r.IP, registration.OriginInWords(announced.Records[0]), country)
	}
	return catalogue.Conclude(codeNothing, r.IP)
}

func shown(s string) string { return text.Show(s, registration.MostShown) }
