package asnlookup

import (
	"strings"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
)

// The codes of this tool. Those of registration are shared with ip-geolocation.
const (
	codeAnnounced    = "ANNOUNCED"
	codeAllocated    = "NUMBER_ALLOCATED"
	codeNotAllocated = "NUMBER_NOT_KNOWN"
	codePeersMissing = "PEERS_MISSING"
)

const messageNotAllocated = "%[1]s is not known to the ASN service; it may not be allocated."

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeAnnounced:                   {State: finding.OK, Message: "%s announces %s, as part of %s."},
		registration.CodeSeveralOrigins: {State: finding.Noted, Message: "%s announce %s, as part of %s."},
		registration.CodeNotAnnounced:   {State: finding.Warned, Message: registration.MessageNotAnnounced},
		codeAllocated:                   {State: finding.OK, Message: "%s is allocated%s."},
		codeNotAllocated:                {State: finding.Warned, Message: messageNotAllocated},
	},
	Findings: map[string]finding.Entry{
		registration.CodeSeveralOrigins: registration.SeveralOriginsEntry,
		registration.CodeNotAnnounced:   registration.NotAnnouncedEntry,
		registration.CodeNamesMissing:   registration.NamesMissingEntry,
		codeNotAllocated: {
			Severity: finding.Warn, Group: finding.Note, Weight: 30, Message: messageNotAllocated,
		},
		codePeersMissing: {Severity: finding.Info, Group: finding.Note, Weight: 5, Message: notePeersMissing},
	},
}

// reportNumber is the report on an AS number; system is nil where the ASN service has no such number.
func reportNumber(number string, system *asn.System) finding.Report {
	if system == nil {
		return finding.NewReport(catalogue.Conclude(codeNotAllocated, number), catalogue.Find(codeNotAllocated, number))
	}
	details := ""
	if name := text.Show(system.Name, registration.MostShown); name != "" {
		details = " to " + strings.TrimSuffix(name, ".")
	}
	return finding.NewReport(catalogue.Conclude(codeAllocated, number, details))
}

// reportAddress is the report on an address.
func reportAddress(address string, found asn.Announcements, peersMissing bool) finding.Report {
	var findings []finding.Finding
	if found.NamesMissing {
		findings = append(findings, catalogue.Find(registration.CodeNamesMissing))
	}
	if peersMissing {
		findings = append(findings, catalogue.Find(codePeersMissing))
	}
	if len(found.Records) == 0 {
		code := registration.CodeNotAnnounced
		return finding.NewReport(catalogue.Conclude(code, address), append(findings, catalogue.Find(code, address))...)
	}
	winners := registration.Winners(found.Records)
	prefix, code, who := winners[0].Prefix, codeAnnounced, registration.OriginInWords(winners[0])
	if len(winners) > 1 {
		code, who = registration.CodeSeveralOrigins, registration.Numbers(winners)
		findings = append(findings, catalogue.Find(code, who, prefix))
	}
	return finding.NewReport(catalogue.Conclude(code, who, address, prefix), findings...)
}
