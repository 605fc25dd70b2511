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
			Meaning: "It was not checked whether the network announces any addresses at present.",
		},
		codeNotAllocated: {
			State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 15,
			Args:    "number text",
			Message: "The ASN service does not know {number}; it may not be allocated.",
			Brief:   "Not known",
			Meaning: "Check the number. A network may use it even so; that was not checked.",
		},
		codePeersMissing: {
			Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "The ASN service did not send the peers, so none are listed.",
		},
	},
)
