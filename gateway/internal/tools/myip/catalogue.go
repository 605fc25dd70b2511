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

const nothingWrong = "Nothing is wrong with your connection: this service shows nothing rather than a guess."

var rows = finding.Rows{
	codeAddress: {
		State:   finding.OK,
		Args:    "address text, version number",
		Message: "Your public address is {address} (IPv{version}).",
		Brief:   "IPv{version} address",
		Meaning: "This service sees this address. All devices behind the same router, company network, mobile provider or " +
			"VPN may share it.",
	},
	codeUntrusted: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Message: "We can't show your IP address: this service is not set up for it.",
		Brief:   "Not set up",
		Meaning: nothingWrong,
		Remedy:  "The operator can name the header that the proxy overwrites in CLIENT_ADDRESS_HEADER.",
	},
	codeOwnMachine: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Message: "This is your own machine; on a server, this tool shows the visitor's address.",
		Brief:   "Your own machine",
		Remedy:  "Behind a proxy, the operator names the header that the proxy overwrites in CLIENT_ADDRESS_HEADER.",
	},
	codeNoAddress: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Message: "We can't show your IP address: the proxy did not pass it on.",
		Brief:   "Not passed on",
		Meaning: nothingWrong,
		Remedy:  "The operator can make the proxy set the header that this service trusts.",
	},
	codeNotPublic: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Message: "We can't show your IP address: the proxy passed on one that is not public.",
		Brief:   "Not public",
		Meaning: nothingWrong,
	},
}
