package asnlookup

import (
	"fmt"
	"strings"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
)

// reportNumber reports on an AS number. system is nil if the ASN service does not know the number.
func reportNumber(number string, system *asn.System) finding.Report {
	report, args := rows.Draft(), finding.Args{"number": number}
	if system == nil {
		report.Add(codeNotAllocated, "", args)
		return report.Conclude(codeNotAllocated, args)
	}
	args["holder"] = strings.TrimSuffix(registration.Shown(system.Name), ".")
	return report.Conclude(codeAllocated, args)
}

// reportAddress reports on an address.
func reportAddress(address string, found asn.Announcements, peersMissing bool) finding.Report {
	report := rows.Draft()
	if found.NamesMissing {
		report.Add(registration.CodeNamesMissing, "", nil)
	}
	if peersMissing {
		report.Add(codePeersMissing, "", nil)
	}
	if len(found.Records) == 0 {
		args := finding.Args{"address": address}
		report.Add(registration.CodeNotAnnounced, "", args)
		return report.Conclude(registration.CodeNotAnnounced, args)
	}
	if args := registration.SeveralOrigins(found.Records); args != nil {
		report.Add(registration.CodeSeveralOrigins, "", args)
		return report.Conclude(registration.CodeSeveralOrigins, args)
	}
	first := found.Records[0]
	return report.Conclude(codeAnnounced, finding.Args{"network": fmt.Sprintf("AS%d", first.ASN),
		"holder": registration.Shown(first.Name), "address": address, "prefix": first.Prefix.String()})
}

// notes are the messages of the findings that say what could not be had.
func notes(r finding.Report) []string {
	return r.Messages(registration.CodeNamesMissing, codePeersMissing)
}
