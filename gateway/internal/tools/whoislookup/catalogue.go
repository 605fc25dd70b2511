package whoislookup

import "diagnostics/gateway/internal/tool/finding"

// The codes of this tool.
const (
	codeRegistered      = "REGISTERED"
	codeRegisteredNoEnd = "REGISTERED_WITHOUT_END"
	codeNetwork         = "NETWORK"
	codeNotRegistered   = "NOT_REGISTERED"
	codeNoNetwork       = "NETWORK_NOT_REGISTERED"
	codeNoService       = "REGISTRY_NOT_KNOWN"
	codeNoTLD           = "TLD_NOT_FOUND"
	codeSuffix          = "PUBLIC_SUFFIX"
	codeReserved        = "RESERVED"
	codeExpired         = "EXPIRED"
	codeExpiresSoon     = "EXPIRES_SOON"
	codeHold            = "STATUS_HOLD"
	codePendingDelete   = "STATUS_PENDING_DELETE"
	codeRedemption      = "STATUS_REDEMPTION"
	codeInactive        = "STATUS_INACTIVE"
	codePendingRestore  = "STATUS_PENDING_RESTORE"
	codePendingTransfer = "STATUS_PENDING_TRANSFER"
	codePendingCreate   = "STATUS_PENDING_CREATE"
	codeAutoRenew       = "STATUS_AUTO_RENEW"
	codeNoRenewal       = "STATUS_RENEW_PROHIBITED"
	codeUnsigned        = "DNSSEC_NOT_USED"
)

// The codes of this service's own notices. Their titles are the short forms.
const (
	noticeNoDomain  = "NO_SUCH_DOMAIN"
	noticeNoNetwork = "NO_SUCH_NETWORK"
	noticeReserved  = "NAME_RESERVED"
	noticeUnread    = "WHOIS_UNREAD"
	noticeAnswer    = "WHOIS_ANSWER"
)

const (
	epp = "https://www.rfc-editor.org/rfc/rfc5731#section-2.3"
	rgp = "https://www.rfc-editor.org/rfc/rfc3915#section-3.1"

	registered = "{name} {since?has been registered since|is registered}[ {since}][ through {registrar}]. "
	setBy      = "{registrar?registrar|registry}"
)

var rows = finding.Rows{
	codeRegistered: {
		State:   finding.OK,
		Args:    "name text, since day, registrar text, end day",
		Message: registered + "The registration ends on {end}.",
		Brief:   "Registered",
		Meaning: "Renew it before {end} to keep the name.",
	},
	codeRegisteredNoEnd: {
		State:   finding.OK,
		Args:    "name text, since day, registrar text",
		Message: registered + "The registry does not publish when the registration ends.",
		Brief:   "Registered",
	},
	codeNetwork: {
		State:   finding.OK,
		Args:    "address text, network text, first text, last text",
		Message: "{address} belongs to the network[ {network}], {first} to {last}.",
		Brief:   "Registered",
		Meaning: "The holder of the network is responsible for this address. Report abuse to the contact of the network.",
	},
	codeNotRegistered: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 19,
		Args:    "name text",
		Message: "{name} is not registered (or is reserved by the registry).",
		Brief:   "Not registered",
		Meaning: "No website or mail can work under this name. Ask a registrar whether it can be registered.",
	},
	codeNoNetwork: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:    "name text",
		Message: "The network of {name} is not registered (or is reserved by the registry).",
		Brief:   "Not registered",
		Meaning: "The registry knows no holder of this address.",
	},
	codeNoService: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "name text",
		Message: "The registration of {name} cannot be looked up: its registry offers neither RDAP nor a WHOIS service " +
			"that we can read.",
		Brief:   "Cannot be looked up",
		Meaning: "This says nothing about the registration itself. The registry's website may offer a search.",
	},
	codeNoTLD: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 98,
		Args:    "name text, tld text",
		Message: "{name} does not exist: there is no top-level domain .{tld}.",
		Brief:   "Does not exist",
		Meaning: "No website or mail can work under this name. Check the spelling.",
		Remedy:  "Check the spelling.", Reference: "https://www.iana.org/domains/root/db",
	},
	codeSuffix: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 19,
		Args:    "name text",
		Message: "{name} is a suffix below which names are registered; it has no registration of its own.",
		Brief:   "Public suffix",
		Meaning: "Enter a name below it to see that name's registration.",
	},
	codeReserved: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 19,
		Args:    "name text",
		Message: "{name} cannot be registered: the registry has reserved it.",
		Brief:   "Reserved",
		Meaning: "Choose another name, or ask the registry for its rules.",
	},

	codePendingDelete: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 97,
		Args:      "name text",
		Message:   "{name} is about to be deleted; within days anyone can register it.",
		Brief:     "About to be deleted",
		Meaning:   "Its website and mail do not work. Ask the registrar at once whether it can still be restored.",
		Remedy:    "Ask the registrar at once whether it can still be restored.",
		Reference: rgp,
	},
	codeRedemption: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 96,
		Args:      "name text",
		Message:   "{name} was deleted; for some weeks its holder can have it restored, for a fee.",
		Brief:     "Deleted",
		Meaning:   "Its website and mail do not work. Have the registrar restore the name.",
		Remedy:    "Have the registrar restore the name.",
		Reference: rgp,
	},
	codeHold: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Args:      "name text, registrar flag",
		Message:   "The " + setBy + " keeps {name} out of the DNS, so its website and mail do not work.",
		Brief:     "On hold",
		Meaning:   "Ask the " + setBy + " for the reason; often a payment or a confirmation of the holder's data is missing.",
		Remedy:    "Ask the " + setBy + " for the reason; often a payment or a confirmation of the holder's data is missing.",
		Reference: epp,
	},
	codeExpired: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Args:    "name text, end day",
		Message: "The registration of {name} ended on {end}.",
		Brief:   "Expired",
		Meaning: "Many registries keep the name for its holder for some weeks; after that anyone can register it. " +
			"Renew it at the registrar.",
		Remedy: "Renew the registration at the registrar.",
	},
	codeInactive: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args:      "name text",
		Message:   "{name} is registered, but has no name servers, so it is not in the DNS.",
		Brief:     "No name servers",
		Meaning:   "No website or mail can work under this name. Set name servers at the registrar.",
		Remedy:    "Set name servers at the registrar.",
		Reference: epp,
	},
	codePendingRestore: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args:      "name text",
		Message:   "{name} was deleted and is being restored.",
		Brief:     "Being restored",
		Meaning:   "Its website and mail may not work until the restoration is complete.",
		Reference: rgp,
	},
	codeExpiresSoon: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 59,
		Args:    "name text, end day",
		Message: "The registration of {name} ends on {end}, within 30 days.",
		Brief:   "Ends {end}",
		Meaning: "Renew the registration, or check that the registrar renews it automatically.",
		Remedy:  "Renew the registration, or check that the registrar renews it automatically.",
	},
	codeAutoRenew: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args:      "name text",
		Message:   "{name} expired, and the registry renewed it automatically; the registrar may still release it.",
		Brief:     "Renewed automatically",
		Meaning:   "Check at the registrar that the renewal is paid.",
		Remedy:    "Check at the registrar that the renewal is paid.",
		Reference: rgp,
	},
	codePendingTransfer: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args:      "name text",
		Message:   "{name} is being transferred to another registrar.",
		Brief:     "Being transferred",
		Meaning:   "If the holder did not request the transfer, stop it at the registrar.",
		Remedy:    "If the holder did not request the transfer, stop it at the registrar.",
		Reference: epp,
	},
	codeNoRenewal: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Args:      "name text, registrar flag",
		Message:   "The " + setBy + " does not let {name} be renewed, often because of a dispute or a deletion.",
		Brief:     "Cannot be renewed",
		Meaning:   "The registration will end. Ask the " + setBy + " for the reason.",
		Remedy:    "Ask the " + setBy + " for the reason.",
		Reference: epp,
	},
	codePendingCreate: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 19,
		Args:      "name text",
		Message:   "The registration of {name} was requested and is not complete yet.",
		Brief:     "Not complete yet",
		Meaning:   "Website and mail can work only after the registration is complete.",
		Reference: epp,
	},
	codeUnsigned: {
		Severity: finding.Info, Group: finding.Safer, Weight: 20,
		Args:      "name text",
		Message:   "{name} is not signed with DNSSEC, so forged answers cannot be detected.",
		Remedy:    "Sign the zone, and add its DS record at the registrar.",
		Reference: "https://www.rfc-editor.org/rfc/rfc9364",
	},

	// Registries answer 404 for names that anyone can register and for names that they reserve alike.
	noticeNoDomain: {
		Message: "The registry has no such registration. Reserved and blocked names look the same.",
		Brief:   "No such registration",
	},
	noticeNoNetwork: {
		Message: "The registry has no registration for a network around this address. Reserved blocks look the same.",
		Brief:   "No such registration",
	},
	noticeReserved: {
		Message: "The registry has reserved this name.",
		Brief:   "Reserved",
	},
	noticeUnread: {Clause: "Nothing found over WHOIS"},
	noticeAnswer: {Clause: "Answer of the WHOIS server"},
}
