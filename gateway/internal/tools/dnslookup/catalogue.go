package dnslookup

import (
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codePointsTo      = "POINTS_TO"
	codeInside        = "POINTS_INSIDE"
	codeHasRecords    = "HAS_RECORDS"
	codeAlias         = "IS_ALIAS"
	codeNoRecords     = "NO_RECORDS"
	codeNoRecord      = "NO_RECORD_OF_TYPE"
	codeNoSuchName    = "NAME_NOT_FOUND"
	codeBogus         = "DNSSEC_FAILED"
	codeAliasLoop     = "ALIAS_LOOP"
	codeAliasFails    = "ALIAS_TARGET_FAILS"
	codeNoAliasTarget = "ALIAS_TARGET_MISSING"
	codeNotProved     = "ABSENCE_NOT_PROVED"
	codeFails         = "RESOLUTION_FAILS"
	codeNotLookedUp   = "LOOKUP_FAILED"
	codeTypeFails     = "TYPE_FAILS"
	codeTypeNotKnown  = "TYPE_NOT_LOOKED_UP"
	codeContradicts   = "DNS_CONTRADICTS"
	codeRemark        = "RESOLVER_REMARK"
	codeDSWithoutKey  = "DS_WITHOUT_KEY"
	codeKeysWithoutDS = "KEYS_WITHOUT_DS"

	codeCAACritical    = "CAA_CRITICAL_UNKNOWN"
	codeCAAUnparsable  = "CAA_UNPARSABLE"
	codeCAANoIssuer    = "CAA_NO_ISSUER"
	codeCAAIssuers     = "CAA_ISSUERS"
	codeCAAAny         = "CAA_NOT_RESTRICTED"
	codeCAANoWildcards = "CAA_NO_WILDCARDS"
	codeCAAWildcards   = "CAA_WILDCARDS"
	codeCAAReports     = "CAA_REPORTS"
	codeCAANotKnown    = "CAA_NOT_KNOWN"
)

// who is the name, with the name that it is an alias of.
const who = "{host}[ (an alias of {alias})]"

var rows = finding.Join(fault.Rows.Only(codeNoSuchName, codeBogus), conclusions, problems, certification, failures)

var conclusions = finding.Rows{
	codePointsTo: {
		State:   finding.OK,
		Args:    "host text, alias text, addresses list, more rest",
		Message: who + " points to {addresses+more}.",
		Brief:   "Has an address",
	},
	codeHasRecords: {
		State:   finding.OK,
		Args:    "host text, alias text, counts list, values list, more rest",
		Message: who + " has {counts}[: {values+more}].",
		Brief:   "Has records",
	},
	codeAlias: {
		State:   finding.OK,
		Args:    "host text, alias text",
		Message: "{host} is an alias of {alias}.",
		Brief:   "Alias",
	},
}

const (
	remedyFails = "Check that the name servers of the domain answer."
	remedyDS    = "At the registrar, replace the DS record by that of a key that signs the zone, or remove it if the " +
		"zone is no longer signed."
	remedyLoop = "Point one of the aliases to a name that has addresses."
)

var problems = finding.Rows{
	codeNoAliasTarget: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Args:      "host text, alias text",
		Message:   "{host} is an alias of {alias}, which does not exist.",
		Brief:     "Alias of nothing",
		Meaning:   "The name leads nowhere. Remove the alias, or point it to a name that exists.",
		Remedy:    "Remove the alias, or point it to a name that exists.",
		Reference: "https://www.rfc-editor.org/rfc/rfc2308#section-2.1",
	},
	codeAliasLoop: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args:      "host text",
		Message:   "{host} leads nowhere: its aliases form a loop.",
		Brief:     "Alias loop",
		Meaning:   remedyLoop,
		Remedy:    remedyLoop,
		Reference: "https://www.rfc-editor.org/rfc/rfc1034#section-3.6.2",
	},
	codeAliasFails: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args:    "host text, alias text, reason code",
		Message: "{host} is an alias of {alias}, whose lookup fails: {reason}.",
		Brief:   "Alias fails",
		Meaning: "The name leads nowhere while that lasts. Ask whoever runs the other name, or remove the alias.",
		Remedy:  "Ask whoever runs the other name, or remove the alias.",
	},
	codeInside: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args: "host text, alias text, addresses list, more rest",
		Message: who + " points to {addresses:a private address|private addresses} ({addresses+more}), which nobody " +
			"outside can reach.",
		Brief:     "Private address",
		Meaning:   "That is right for a name of a private network only. A public site needs a public address.",
		Remedy:    "Give the name a public address, if people on the internet should reach it.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1918",
	},
	codeDSWithoutKey: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 93,
		Args:      "host text",
		Message:   "The DS record of {host} at its parent names a key that the zone does not have.",
		Brief:     "DNSSEC broken",
		Meaning:   "Validating resolvers reject every answer of the zone. " + remedyDS,
		Remedy:    remedyDS,
		Reference: "https://www.rfc-editor.org/rfc/rfc4035#section-5.2",
	},
	codeKeysWithoutDS: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 42,
		Args: "host text",
		Message: "{host} has keys (DNSKEY), but its parent has no DS record for it, so resolvers do not check its " +
			"signatures.",
		Remedy:    "Enter the DS record of the zone at the registrar.",
		Reference: "https://www.rfc-editor.org/rfc/rfc4035#section-5.2",
	},
	codeNotProved: {
		State: finding.Unknown, Severity: finding.Warn, Group: finding.Note, Weight: 14,
		Args:    "host text, types list",
		Message: "{host} was denied for {types}, but this service could not verify that the name does not exist.",
		Brief:   "Not verified",
		Meaning: "A failed lookup does not tell us whether the name exists. Try again.",
	},
	codeFails: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args:    "host text, reason code",
		Message: "{host} could not be looked up: {reason}.",
		Brief:   "Lookup fails",
		Meaning: "Nobody whose resolver gets the same answer can reach the name. " + remedyFails,
		Remedy:  remedyFails,
	},
	codeNotLookedUp: {
		State: finding.Unknown, Severity: finding.Warn, Group: finding.Note, Weight: 15,
		Args:    "host text, reason code",
		Message: "{host} could not be looked up: {reason}.",
		Brief:   "Not looked up",
		Meaning: "A failed lookup does not tell us whether records exist. Try again.",
	},
	codeTypeFails: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 60,
		Args:    "found sentence, types list, of text, reason code",
		Message: "[{found} ]The lookup of {types} [for {of} ]failed[: {reason}].",
		Brief:   "One type fails",
		Meaning: "Programs that need records of this type wait and then fail. " + remedyType,
		Remedy:  remedyType,
	},
	codeTypeNotKnown: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 12,
		Args:    "found sentence, types list, of text, reason code",
		Message: "[{found} ]The lookup of {types} [for {of} ]failed[: {reason}].",
		Brief:   "Not all looked up",
		Meaning: "A failed lookup does not tell us whether records of this type exist. Try again.",
	},
	codeContradicts: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 75,
		Args:    "found sentence, of text, types list",
		Message: "[{found} The][{of} exists, but the] DNS denies the name when asked for {types}.",
		Brief:   "Contradicting answers",
		Meaning: "Resolvers that heard the denial treat the name as missing for a while. " + remedyContradicts,
		Remedy:  remedyContradicts, Reference: "https://www.rfc-editor.org/rfc/rfc4074#section-4.2",
	},
	codeNoRecords: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 15,
		Args:    "host text, alias text",
		Message: who + " has none of the requested records.",
		Brief:   "No records",
		Meaning: "The name exists. If it should have such records, add them to its zone.",
	},
	codeNoRecord: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:    "host text, alias text, type text",
		Message: who + " has no {type} records.",
		Brief:   "No such record",
		Meaning: "The name exists, without records of this type.",
	},
	codeRemark: {
		Severity: finding.Warn, Group: finding.Note, Weight: 13,
		Args:      "host text, remark text, number number, text text",
		Message:   "The resolver remarks on {host}: {remark} (extended DNS error {number})[, “{text}”].",
		Reference: "https://www.rfc-editor.org/rfc/rfc8914",
	},
}

const (
	remedyType        = "Check that the name servers of the domain answer every type, at least that there is none."
	remedyContradicts = "Let the name servers answer NOERROR without records, instead of NXDOMAIN, for types that the " +
		"name does not have."
)

// certification are the rows about CAA records.
var certification = finding.Rows{
	codeCAACritical: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 55,
		Args: "host text, record text",
		Message: "No authority may issue certificates for {host}: its CAA record “{record}” is critical, and no authority " +
			"knows its tag.",
		Remedy:    "Remove the record, correct its tag, or set its flags to 0.",
		Reference: "https://www.rfc-editor.org/rfc/rfc8659#section-4.1",
	},
	codeCAAUnparsable: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Args:      "host text, record text",
		Message:   "The CAA record “{record}” of {host} is malformed, so authorities read it as naming no issuer.",
		Remedy:    `Write the domain name of the authority, or ";" for none.`,
		Reference: "https://www.rfc-editor.org/rfc/rfc8659#section-4.2",
	},
	codeCAANoIssuer: {
		Severity: finding.Info, Group: finding.Note, Weight: 11,
		Args: "host text", Message: "No authority may issue certificates for {host} (CAA).",
	},
	codeCAAIssuers: {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args: "host text, names list, more rest", Message: "Only {names+more} may issue certificates for {host} (CAA).",
	},
	codeCAAAny: {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args:    "host text",
		Message: "Any authority may issue certificates for {host}: its CAA records do not restrict that.",
	},
	codeCAANoWildcards: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "host text", Message: "No authority may issue wildcard certificates for {host} (CAA).",
	},
	codeCAAWildcards: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "host text, names list, more rest", Message: "Only {names+more} may issue wildcard certificates for " +
			"{host} (CAA).",
	},
	codeCAAReports: {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args:    "host text, names list, more rest",
		Message: "Authorities may report refused requests for {host} to {names+more} (CAA).",
	},
	codeCAANotKnown: {
		Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:    "host text",
		Message: "Who may issue certificates for {host} is not known: the lookup of its CAA records failed.",
	},
}

// failures are the codes of failed lookups, as the reason of another sentence.
var failures = finding.Rows{
	dnsclient.CodeServFail:    {Clause: "its name servers fail (SERVFAIL)"},
	dnsclient.CodeRefused:     {Clause: "the resolver refused to answer (REFUSED)"},
	dnsclient.CodeFormErr:     {Clause: "the resolver could not read the query (FORMERR)"},
	dnsclient.CodeNotImp:      {Clause: "the resolver does not support this kind of query (NOTIMP)"},
	dnsclient.CodeBadResp:     {Clause: "the answer was malformed"},
	dnsclient.CodeTimeout:     {Clause: "no answer came in time"},
	dnsclient.CodeConnRefused: {Clause: "the resolver could not be reached"},
}
