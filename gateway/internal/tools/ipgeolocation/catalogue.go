package ipgeolocation

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
)

// The codes of this tool. Those of registration are shared with asn-lookup.
const (
	codeHolder          = "HOLDER"
	codeNetwork         = "NETWORK_WITHOUT_HOLDER"
	codeUnused          = "REGISTERED_NOT_ANNOUNCED"
	codeAnnounced       = "ANNOUNCED_WITHOUT_REGISTRATION"
	codeNothing         = "NOTHING_KNOWN"
	codeRegistryMissing = "REGISTRY_DATA_MISSING"
	codeASNMissing      = "ASN_MISSING"
	codeHostnameMissing = "HOSTNAME_MISSING"
)

// The codes of sentences of the note.
const (
	noteCountryUnknown  = "COUNTRY_NOT_KNOWN"
	noteNoCountry       = "COUNTRY_NOT_PUBLISHED"
	noteCountry         = "COUNTRY_OF_REGISTRY"
	noteCountryOfASN    = "COUNTRY_OF_ASN"
	noteOnlyCountry     = "COUNTRY_OF_ASN_ONLY"
	noteNotWhere        = "COUNTRY_OF_HOLDER"
	noteFirstOriginOnly = "FIRST_ORIGIN_SHOWN"
)

var rows = finding.Join(
	registration.Rows.Only(registration.CodeSeveralOrigins, registration.CodeNotAnnounced, registration.CodeNamesMissing),
	finding.Rows{
		codeHolder: {
			State:   finding.OK,
			Args:    "address text, holder text, country text, contact text",
			Message: "{address} is registered to {holder}[ in {country}].",
			Brief:   "Registered",
			Meaning: "[Report abuse to {contact}; include times with time zone, and log lines. ]A registration does not say " +
				"where the address is used.",
		},
		codeNetwork: {
			State:   finding.OK,
			Args:    "address text, network text, country text, contact text",
			Message: "{address} belongs to the network {network}[ in {country}]; its holder is not published.",
			Brief:   "Holder not published",
			Meaning: "[Report abuse to {contact}; include times with time zone, and log lines.]{contact?|The registry " +
				"publishes no contact for abuse either. Ask the network that announces the address.}",
		},
		codeUnused: {
			State:   finding.Warned,
			Args:    "address text, holder text, country text",
			Message: "{address} is registered[ to {holder}][ in {country}], but no network announces it.",
			Brief:   "Not announced",
			Meaning: "The address cannot be used on the internet at present. Ask its holder whether that is intended.",
		},
		codeAnnounced: {
			State:   finding.Unknown,
			Args:    "address text, network text, name text, country text",
			Message: "{address} is announced by {network}[ ({name})][ in {country}]; no registration of it was found.",
			Brief:   "No registration found",
			Meaning: "The address is in use, and the network that announces it can say who holds it.",
		},
		codeNothing: {
			State:   finding.Unknown,
			Args:    "address text",
			Message: "No registration was found for the network of {address}.",
			Brief:   "No registration found",
			Meaning: "The registry may be out of order. Try again later.",
		},
		codeRegistryMissing: {
			Severity: finding.Info, Group: finding.Note, Weight: 8,
			Args:    "reason sentence",
			Message: "The registry's own record of the network is missing.[ {reason}]",
		},
		codeASNMissing: {
			Severity: finding.Info, Group: finding.Note, Weight: 7,
			Args: "here flag",
			Message: "{here?This service could not ask the ASN service|The ASN service gave no usable answer}, so the AS " +
				"number is missing.",
		},
		codeHostnameMissing: {
			Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "The address's hostname could not be looked up, so it is missing.",
		},

		noteCountryUnknown: {Message: "We do not know which country this network is registered in."},
		noteNoCountry:      {Message: "No source says which country this network is registered in."},
		noteCountry: {
			Args:    "country text",
			Message: "This network is registered in {country}, according to its registry.",
		},
		noteCountryOfASN: {
			Args:    "country text",
			Message: "This network is registered in {country}, according to the ASN service.",
		},
		noteOnlyCountry: {
			Args: "country text",
			Message: "This network is registered in {country}, according to the ASN service; the registry's own record of " +
				"the network names no country.",
		},
		noteNotWhere: {Message: "A registration says who holds the addresses, not where they are used."},
		noteFirstOriginOnly: {
			Args:    "network text",
			Message: "Only {network} is shown here; the ASN lookup shows all.",
		},
	},
).WithClauses(fault.Rows)
