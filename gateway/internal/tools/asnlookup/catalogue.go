package asnlookup

import (
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

var rows = finding.Join(
	registration.Rows.Only(registration.CodeSeveralOrigins, registration.CodeNotAnnounced, registration.CodeNamesMissing),
	finding.Rows{
		codeAnnounced: {
			State:   finding.OK,
			Args:    "network text, holder text, address text, prefix text",
			Message: "{network}[ ({holder})] announces {address}, as part of {prefix}.",
			Brief:   "{network}",
		},
		codeAllocated: {
			State:   finding.OK,
			Args:    "number text, holder text",
			Message: "{number} is allocated[ to {holder}].",
			Brief:   "Allocated",
			Meaning: "The number is registered. Whether it announces anything at present was not checked.",
		},
		codeNotAllocated: {
			State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 15,
			Args:    "number text",
			Message: "{number} is not known to the ASN service; it may not be allocated.",
			Brief:   "Not known",
			Meaning: "Check the number. Whether any network uses it anyway was not checked.",
		},
		codePeersMissing: {
			Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "The ASN service did not answer the question about peers, so none are listed.",
		},
	},
)
