package myip

import "diagnostics/gateway/internal/tool/finding"

// The codes of this tool.
const (
	codeAddress    = "ADDRESS_SHOWN"
	codeUntrusted  = "HEADERS_NOT_TRUSTED"
	codeOwnMachine = "OWN_MACHINE"
	codeNoAddress  = "NO_ADDRESS_IN_HEADERS"
	codeNotPublic  = "ADDRESS_NOT_PUBLIC"
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeAddress:   {State: finding.OK, Message: "Your public address is %s (IPv%d)."},
		codeUntrusted: {State: finding.Unknown, Message: "We can't show your IP address: this service is not set up for it."},
		codeOwnMachine: {State: finding.Unknown,
			Message: "This is your own machine; on a server, this tool shows the visitor's address."},
		codeNoAddress: {State: finding.Unknown, Message: "We can't show your IP address: the proxy did not pass it on."},
		codeNotPublic: {State: finding.Unknown,
			Message: "We can't show your IP address: the proxy passed on one that is not public."},
	},
	Findings: map[string]finding.Entry{
		codeUntrusted: {Severity: finding.Info, Group: finding.Note, Weight: 10,
			Message: "This service is not set up to trust the headers that would show it your address.",
			Remedy:  "The operator can name the header that the proxy overwrites in CLIENT_ADDRESS_HEADER."},
		codeOwnMachine: {Severity: finding.Info, Group: finding.Note, Weight: 10,
			Message: "This is your own machine; on a server, this tool shows the visitor's address.",
			Remedy:  "Behind a proxy, the operator names the header that the proxy overwrites in CLIENT_ADDRESS_HEADER."},
		codeNoAddress: {Severity: finding.Info, Group: finding.Note, Weight: 10,
			Message: "The proxy in front of this service did not pass on your address.",
			Remedy:  "The operator can make the proxy set the header that this service trusts."},
		codeNotPublic: {Severity: finding.Info, Group: finding.Note, Weight: 10,
			Message: "The address that the proxy in front of this service passed on is not public."},
	},
}
