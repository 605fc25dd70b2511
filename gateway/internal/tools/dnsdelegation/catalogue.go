package dnsdelegation

import (
	"maps"
	"strings"
	"unicode"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool's findings. Those that are not notes are conclusions as well.
const (
	codeNotDelegated  = "NOT_DELEGATED"
	codeNoAnswer      = "NO_SERVER_ANSWERS"
	codeAllLame       = "ALL_SERVERS_LAME"
	codeNoAddress     = "NO_SERVER_ADDRESS"
	codeAliasLoop     = "ALIAS_LOOP"
	codeAliasDangling = "ALIAS_TARGET_MISSING"
	codeSilent        = "SERVER_SILENT"
	codeLame          = "SERVER_LAME"
	codeRefuses       = "SERVER_REFUSES"
	codeFails         = "SERVER_FAILS"
	codeHostNoAddress = "SERVER_WITHOUT_ADDRESS"
	codeNSDiffer      = "NS_SETS_DIFFER"
	codeNSOfServers   = "NS_SETS_OF_SERVERS_DIFFER"
	codeNSAlias       = "NS_IS_ALIAS"
	codeGlueMissing   = "GLUE_MISSING"
	codeGlueWrong     = "GLUE_WRONG"
	codeNotPublic     = "SERVER_ADDRESS_NOT_PUBLIC"
	codeSingle        = "SINGLE_SERVER"
	codeOneNetwork    = "SERVERS_IN_ONE_NETWORK"
	codeSerials       = "SERIALS_DIFFER"
	codeApexAlias     = "CNAME_AT_APEX"
	codeAliasBeside   = "CNAME_BESIDE_DATA"
	codeTCP           = "TCP_FAILS"
	codeEDNS          = "EDNS_FAILS"
	codeOption        = "EDNS_OPTION_FAILS"
	codeContradicts   = "DNS_CONTRADICTS"
	codeEmptyDenied   = "EMPTY_NAME_DENIED"
	codeRecursion     = "RECURSION_OFFERED"
	codeWildcard      = "WILDCARD"
	codeTTLShort      = "TTL_SHORT"
	codeTTLLong       = "TTL_LONG"
	codeSOA           = "SOA_VALUE"
	codeNameMissing   = "NAME_NOT_FOUND" // a row of package fault
	codeNameSilent    = "NAME_NOT_ANSWERED"
	codeCut           = "CHECK_CUT"
	codeNotAsked      = "SERVER_NOT_QUERIED"
	codeAliasRefused  = "ALIAS_NOT_FOLLOWED"
)

// The codes of findings about DNSSEC, beside one for each reason of package dnssec (codeOf). codeAside is what would be
// a fault if other keys or signatures did not suffice.
const (
	codeServerBogus = "DNSSEC_SERVER_BOGUS"
	codeAside       = "DNSSEC_UNUSED"
)

// Why a server was not queried, or has no address or row of its own.
const (
	reasonNotLookedUp = "ADDRESS_NOT_LOOKED_UP"
	reasonNoAddress   = "HAS_NO_ADDRESS"
	reasonNoGlue      = "HAS_NO_GLUE"
	reasonNoFamily    = "NO_FAMILY_HERE" // a row of package fault
	reasonPrivate     = "HAS_PRIVATE_ADDRESS"
	reasonTooMany     = "TOO_MANY_ADDRESSES"
	reasonCircle      = "SERVERS_DEPEND_ON_EACH_OTHER"
	reasonDeep        = "TOO_MANY_ZONES_DEPEND"
	reasonNoBudget    = "LOOKUP_OVER_BUDGET"
	reasonNotFound    = "ADDRESS_NOT_FOUND"
	reasonOverBudget  = "QUERY_OVER_BUDGET"
	reasonLame        = "IS_LAME"
	reasonNotJudged   = "SIGNATURE_NOT_JUDGED"
	reasonUnreached   = "REGISTRY_NOT_REACHED"
	reasonNotQueried  = "ZONE_NOT_QUERIED"
)

// The unusual values of a SOA record.
const (
	soaRefresh  = "SOA_REFRESH_SHORT"
	soaRetry    = "SOA_RETRY_LONG"
	soaExpire   = "SOA_EXPIRE_SHORT"
	soaNegative = "SOA_MINIMUM_LONG"
)

// The codes of conclusions that no finding gives.
const (
	codeHealthy  = "DELEGATION_OK"
	codeSecure   = "DELEGATION_SECURE"
	codeRegistry = "REGISTRY_ZONE"
	codeUnknown  = "NOT_FOUND_OUT"
	codeTooMuch  = "DNSSEC_TAKES_TOO_MUCH_WORK"
)

const rfc = "https://www.rfc-editor.org/rfc/rfc"

// rows are all that the tool can say.
var rows = finding.Join(fault.Rows.Only(codeNameMissing), problems, whole, explanations, dnssecRows()).
	WithClauses(fault.Rows)

// problems are the findings about the delegation; those that are more than a note are conclusions as well.
var problems = finding.Rows{
	codeNotDelegated: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Args: "host text, zone text, gone flag",
		Message: "{host} is not delegated: the servers of {zone} {gone?say that it does not exist|have no NS " +
			"records for it}.",
		Brief: "Not delegated",
		Meaning: "Nobody can find the domain: no website or mail can work at it. Check the spelling, and that the " +
			"domain is registered.",
		Remedy: "Register the domain, or have its name servers entered at the registrar. The registration lookup shows " +
			"whether it is registered, or on hold (clientHold, serverHold).",
		Reference: rfc + "1034#section-4.2",
	},
	codeNoAnswer: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Args:      "zone text, servers list, more rest",
		Message:   "None of the name servers of {zone} answers: {servers+more}.",
		Brief:     "No server answers",
		Meaning:   "Nobody can look the domain up until one of its servers answers.",
		Remedy:    "Start the name servers, and let port 53 through over UDP and TCP from everywhere.",
		Reference: rfc + "1912#section-2.8",
	},
	codeAllLame: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Args: "zone text, servers list, rcodes list, both flag, plain flag, more rest",
		Message: "{zone} is delegated to servers that do not serve it: {servers+more} answer with " +
			"[{rcodes}]{both?, |}{plain?an answer that is not authoritative|}.",
		Brief:   "Servers do not serve it",
		Meaning: "Nobody can look the domain up while that lasts.",
		Remedy: "Set the zone up on these servers, or have the name servers of its present provider entered " +
			"at the registrar.",
		Reference: rfc + "1912#section-2.8",
	},
	codeNoAddress: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Args:      "zone text, servers list, more rest",
		Message:   "None of the name servers of {zone} has an address that can be queried: {servers+more}.",
		Brief:     "No server address",
		Meaning:   "Nobody can look the domain up while that lasts.",
		Remedy:    "Have glue records entered at the registrar, or use name servers whose names have public addresses.",
		Reference: rfc + "1034#section-4.2.1",
	},
	codeAliasLoop: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args:      "host text, target text",
		Message:   "The aliases of {host} lead back to {target}.",
		Brief:     "Alias loop",
		Meaning:   "Nobody can reach the name.",
		Remedy:    "Let the last alias lead to a name with addresses.",
		Reference: rfc + "1034#section-3.6.2",
	},
	codeAliasDangling: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Args:    "host text, alias text",
		Message: "{host} is an alias of {alias}, which does not exist.",
		Brief:   "Alias of nothing",
		Meaning: "Nobody can reach the name.",
		Remedy: "Remove the alias, or let it lead to a name that exists. If somebody else " +
			"registers the target, they take the name over.",
		Reference: rfc + "1034#section-3.6.2",
	},
	codeSilent: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 72,
		Args:    "server text, zone text, address text",
		Message: "{server}, a name server of {zone}, does not answer at {address}.",
		Brief:   "A server is silent",
		Meaning: "Lookups are slow whenever a resolver tries this server first.",
		Remedy: "Start the server, let port 53 through, or remove it from the NS records of the zone and its " +
			"parent.",
		Reference: rfc + "1912#section-2.8",
	},
	codeLame: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 73,
		Args: "server text, address text, zone text",
		Message: "{server} at {address} is listed as a name server of {zone}, but does not serve the zone (lame " +
			"delegation).",
		Brief:     "Lame delegation",
		Meaning:   "Lookups are slow whenever a resolver tries this server first.",
		Remedy:    "Set the zone up on the server, or remove it from the NS records of the zone and its parent.",
		Reference: rfc + "1912#section-2.8",
	},
	codeRefuses: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 73,
		Args:      "server text, address text, zone text",
		Message:   "{server} at {address} is listed as a name server of {zone}, but refuses to answer for it (REFUSED).",
		Brief:     "A server refuses",
		Meaning:   "Lookups are slow whenever a resolver tries this server first.",
		Remedy:    "Set the zone up on the server, or remove it from the NS records of the zone and its parent.",
		Reference: rfc + "1912#section-2.8",
	},
	codeFails: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 71,
		Args:      "server text, address text, zone text, rcode text, malformed flag",
		Message:   "{server} at {address} fails to answer for {zone} ({malformed?a malformed message|}[{rcode}]).",
		Brief:     "A server fails",
		Meaning:   "Lookups are slow whenever a resolver tries this server first.",
		Remedy:    "The server's log says why: an expired secondary zone and a zone file with errors are usual.",
		Reference: rfc + "8499#section-7",
	},
	codeHostNoAddress: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args:      "server text, zone text",
		Message:   "{server}, a name server of {zone}, has no address.",
		Brief:     "Server without address",
		Meaning:   "The remaining servers carry all queries.",
		Remedy:    "Add an A or AAAA record for the name, or remove the NS record.",
		Reference: rfc + "1912#section-2.8",
	},
	codeNSDiffer: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 55,
		Args: "zone text, parent list, parentMore rest, child list, childMore rest, both flag",
		Message: "{zone} has other name servers in its own zone than at its parent: [only at the parent " +
			"{parent+parentMore}]{both?; |}[only in the zone {child+childMore}].",
		Brief:     "NS records differ",
		Meaning:   "Resolvers use one list or the other.",
		Remedy:    "Enter the same name servers at the registrar and in the NS records of the zone.",
		Reference: rfc + "1034#section-4.2.2",
	},
	codeNSOfServers: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 54,
		Args:      "zone text",
		Message:   "The name servers of {zone} return different NS records.",
		Brief:     "Servers differ",
		Meaning:   "Resolvers learn one list or the other, depending on the server.",
		Remedy:    "Check that the zone has reached all of its servers.",
		Reference: rfc + "1034#section-4.2.2",
	},
	codeNSAlias: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 58,
		Args: "server text, zone text",
		Message: "{server}, a name server of {zone}, is an alias (CNAME), which the name of a name server must " +
			"not be.",
		Brief:     "Server name is an alias",
		Meaning:   "Some resolvers do not use such a server.",
		Remedy:    "Give the name A or AAAA records, or name the target in the NS record.",
		Reference: rfc + "2181#section-10.3",
	},
	codeGlueMissing: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 69,
		Args:      "zone text, server text",
		Message:   "The parent of {zone} gives no address for {server}, which is inside the zone (missing glue).",
		Brief:     "Glue is missing",
		Meaning:   "Resolvers cannot find this server unless they know its address already.",
		Remedy:    "Have the address of the name server entered at the registrar.",
		Reference: rfc + "9471",
	},
	codeGlueWrong: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 68,
		Args: "zone text, server text, glue list, own list",
		Message: "The parent of {zone} gives other addresses for {server} than its own zone: {glue} in place " +
			"of {own}.",
		Brief:     "Glue is wrong",
		Meaning:   "Resolvers may query the wrong machine.",
		Remedy:    "Have the address of the name server changed at the registrar.",
		Reference: rfc + "1912#section-2.3",
	},
	codeNotPublic: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 67,
		Args:      "server text, zone text, address text",
		Message:   "{server}, a name server of {zone}, has the address {address}, which is not public.",
		Brief:     "Private server address",
		Meaning:   "Nobody outside can reach this server.",
		Remedy:    "Remove the address, or give the server a public one.",
		Reference: rfc + "1918#section-5",
	},
	codeSingle: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Args:      "zone text",
		Message:   "{zone} has only one name server: if that fails, so does the domain.",
		Brief:     "One name server",
		Meaning:   "A second server keeps the domain working.",
		Remedy:    "Add a second name server in another network.",
		Reference: rfc + "2182#section-5",
	},
	codeOneNetwork: {
		Severity: finding.Info, Group: finding.Safer, Weight: 25,
		Args:      "zone text, network text",
		Message:   "All name servers of {zone} are in one network ({network}).",
		Remedy:    "Add a name server in another network and place.",
		Reference: rfc + "2182#section-3.1",
	},
	codeSerials: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 52,
		Args:    "zone text, serials list",
		Message: "The name servers of {zone} have different versions of the zone (serial numbers {serials}).",
		Brief:   "Zone versions differ",
		Meaning: "People get an older or a newer answer, depending on the server.",
		Remedy: "Look again in some minutes: a change takes its time. After that, check the transfers to the " +
			"secondary servers.",
		Reference: rfc + "1982",
	},
	codeApexAlias: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 76,
		Args:      "zone text",
		Message:   "{zone} itself is an alias (CNAME), although it must have SOA and NS records, which no alias may.",
		Brief:     "Alias at the apex",
		Meaning:   "Mail and name servers of the domain may not be found.",
		Remedy:    "Replace the alias with A and AAAA records, or with the ALIAS or flattening of the provider.",
		Reference: rfc + "1912#section-2.4",
	},
	codeAliasBeside: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 66,
		Args: "host text, types list",
		Message: "{host} is an alias (CNAME) and has other records too ({types}): which of them is found " +
			"depends on the resolver.",
		Brief:     "Alias beside data",
		Meaning:   "People get different answers.",
		Remedy:    "Remove the alias or the other records.",
		Reference: rfc + "1034#section-3.6.2",
	},
	codeTCP: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args:      "server text, address text, zone text",
		Message:   "{server} at {address} does not answer for {zone} over TCP, which long answers need.",
		Brief:     "No DNS over TCP",
		Meaning:   "Answers that do not fit into UDP are lost.",
		Remedy:    "Let port 53 through over TCP.",
		Reference: rfc + "7766#section-5",
	},
	codeEDNS: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 48,
		Args:      "server text, address text, zone text",
		Message:   "{server} at {address} does not answer for {zone} with EDNS, without which there is no DNSSEC.",
		Brief:     "No EDNS",
		Meaning:   "Large answers and DNSSEC do not work with this server.",
		Remedy:    "Update the server, and let UDP messages of 1,232 octets through.",
		Reference: rfc + "6891#section-7",
	},
	codeOption: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args:      "server text, address text",
		Message:   "{server} at {address} does not ignore an EDNS option that it does not know.",
		Brief:     "EDNS option not ignored",
		Meaning:   "Some resolvers get no answer from this server.",
		Remedy:    "Update the server, or the firewall in front of it.",
		Reference: rfc + "6891#section-6.1.2",
	},
	codeContradicts: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 75,
		Args: "zone text, host text, types list",
		Message: "The servers of {zone} say that {host} does not exist for {types}, although it has other " +
			"records: resolvers that keep the denial find none of them.",
		Brief:     "Contradicting denial",
		Meaning:   "Some people cannot find the name for a while.",
		Remedy:    "Answer NODATA (NOERROR without records) for a type that an existing name lacks.",
		Reference: rfc + "2308#section-2.1",
	},
	codeEmptyDenied: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 74,
		Args: "zone text, host text, below text",
		Message: "The servers of {zone} say that {host} does not exist, although {below} below it does: " +
			"resolvers that take that at its word do not find it.",
		Brief:     "Contradicting denial",
		Meaning:   "Some people cannot find the name.",
		Remedy:    "Answer NODATA for a name that only has names below it.",
		Reference: rfc + "8020#section-2",
	},
	codeRecursion: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 42,
		Args:    "server text, address text, zone text",
		Message: "{server} at {address}, a name server of {zone}, offers recursion to strangers.",
		Brief:   "Open recursion",
		Meaning: "Attackers can use the server against others.",
		Remedy: "Switch recursion off on authoritative servers: attackers use it for amplification and to " +
			"plant answers.",
		Reference: rfc + "5358#section-4",
	},
	codeWildcard: {
		Severity: finding.Info, Group: finding.Note, Weight: 12,
		Args:      "zone text",
		Message:   "{zone} answers for every name below it (wildcard).",
		Reference: rfc + "4592",
	},
	codeTTLShort: {
		Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:      "type text, host text, ttl number",
		Message:   "The {type} records of {host} may be kept for {ttl} s only, so resolvers ask often.",
		Remedy:    "Use at least some minutes.",
		Reference: rfc + "1912#section-2.2",
	},
	codeTTLLong: {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Args: "type text, host text, days number",
		Message: "The {type} records of {host} may be kept for {days} days: a change takes that long to be " +
			"seen everywhere.",
		Remedy:    "Use at most a week.",
		Reference: rfc + "1912#section-2.2",
	},
	codeSOA: {
		Severity: finding.Info, Group: finding.Note, Weight: 8,
		Args:      "zone text, value code",
		Message:   "The SOA record of {zone} has an unusual value: {value}.",
		Reference: rfc + "1912#section-2.2",
	},
	codeNameSilent: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Args:      "zone text, host text",
		Message:   "The servers of {zone} answer for the zone, but not for the records of {host}.",
		Brief:     "Name not answered",
		Meaning:   "Nobody can reach the name, although the domain is delegated correctly.",
		Remedy:    "Check the firewall in front of the servers, and their logs for queries of the name.",
		Reference: rfc + "1912#section-2.8",
	},
	codeCut: {
		Severity: finding.Info, Group: finding.Note, Weight: 18,
		Args: "sent number",
		Message: "The check ended at one of its own bounds ({sent} of 160 queries, 15 s, 8 name servers and 16 " +
			"addresses a zone, 12 queries an address, 3 aliases to other zones); the rest is reported.",
		Reference: rfc + "9520#section-2",
	},
	codeNotAsked: {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args:    "server text, address text, reason sentence",
		Message: "{server} at {address} was not queried.[ {reason}]",
	},
	codeAliasRefused: {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args:    "host text",
		Message: "The alias of {host} was not followed: its target is not public, or this service may not query it.",
	},
}

var whole = finding.Rows{
	codeHealthy: {
		State:   finding.OK,
		Args:    "host text, servers number, both flag",
		Message: "{host} is delegated correctly: {both?both|all}[ {servers}] of its name servers answer.",
		Brief:   "Delegated correctly",
	},
	codeSecure: {
		State: finding.OK,
		Args:  "host text, servers number, both flag",
		Message: "{host} is delegated correctly and signed: {both?both|all}[ {servers}] of its name servers answer, and " +
			"DNSSEC is valid.",
		Brief: "Correct and signed",
	},
	codeRegistry: {
		State: finding.Noted,
		Args:  "host text, signed flag",
		Message: "{host} is a registry's zone: it is delegated{signed? and signed}, but its name servers were not all " +
			"queried.",
		Brief: "Registry's zone",
	},
	codeUnknown: {
		State:   finding.Unknown,
		Args:    "host text, reason code",
		Message: "The delegation of {host} could not be found out: {reason}",
		Brief:   "Not found out",
		Meaning: "Try again. This does not mean that the delegation is wrong.",
	},
	codeTooMuch: {
		State: finding.Unknown,
		Args:  "host text, servers number, both flag",
		Message: "{host} is delegated correctly: {both?both|all}[ {servers}] of its name servers answer. Verifying its " +
			"DNSSEC takes more work than this check does.",
		Brief:   "DNSSEC not verified",
		Meaning: "Whether the signatures are valid is not known. Fewer keys and signatures are easier to verify.",
	},
}

// explanations are the reasons of servers, zones and signatures, and parts of other sentences.
var explanations = finding.Rows{
	reasonNotLookedUp: {
		Message: "Its address was not looked up: this check looks up at most four names in other zones."},
	reasonNoAddress:  {Message: "It has no address."},
	reasonNoGlue:     {Message: "The parent zone gives no address for it (glue), and it is inside the zone."},
	reasonPrivate:    {Message: "Its address is not public."},
	reasonTooMany:    {Message: "It was not queried: this check queries at most 16 addresses of a zone."},
	reasonCircle:     {Message: "Its address cannot be found: the zones of the name servers depend on each other."},
	reasonDeep:       {Message: "Its address was not looked up: too many zones depend on each other."},
	reasonNoBudget:   {Message: "Its address was not looked up: this check has sent as much as it may."},
	reasonNotFound:   {Message: "Its address could not be found: the servers of its zone do not answer for it."},
	reasonOverBudget: {Message: "It was not queried: this check has sent as much as it may."},
	reasonLame:       {Message: "It does not answer as a server of this zone (lame delegation)."},
	reasonNotJudged:  {Message: "No chain of trust leads to the zone, so its signatures were not verified."},
	reasonUnreached:  {Args: "zone text", Clause: "the servers of {zone} could not be reached."},
	reasonNotQueried: {Args: "zone text", Clause: "this service could not query the servers of {zone}."},

	soaRefresh: {Args: "refresh number", Clause: "refresh {refresh} s is under 20 minutes"},
	soaRetry:   {Args: "retry number, refresh number", Clause: "retry {retry} s is over refresh {refresh} s"},
	soaExpire:  {Args: "expire number", Clause: "expire {expire} s is under a week"},
	soaNegative: {
		Args: "minimum number", Clause: "minimum {minimum} s, for how long absences are kept, is over a day"},
}

// codeOf is the code of the finding for a reason: "signatureExpired" is DNSSEC_SIGNATURE_EXPIRED.
func codeOf(code dnssec.Code) string {
	var s strings.Builder
	s.WriteString("DNSSEC_")
	before := rune('_')
	for _, r := range string(code) {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			s.WriteByte('_')
		}
		s.WriteRune(unicode.ToUpper(r))
		before = r
	}
	return s.String()
}

// dnssecRows are the reasons as sentences, by the code of package dnssec, and the findings that report them.
func dnssecRows() finding.Rows {
	all := maps.Clone(dnssecFindings)
	for code, reason := range reasons {
		f := findingOf(code, reason)
		f.Remedy, f.Reference = reason.Remedy, reason.Reference
		all[codeOf(code)] = f
		all[string(code)] = finding.Row{Args: reason.Args, Message: reason.Message, Clause: lowerThe(reason.Message)}
	}
	return all
}

func lowerThe(sentence string) string {
	if rest, is := strings.CutPrefix(sentence, "The "); is {
		return "the " + rest
	}
	return sentence
}

// findingOf is the row of the finding for a reason, by the status that it leads to.
func findingOf(code dnssec.Code, reason finding.Row) finding.Row {
	switch status := code.Status(); {
	case status == dnssec.Bogus:
		return finding.Row{
			State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 99,
			Args:    "host text, reason code",
			Message: "{host} does not resolve for validating resolvers: {reason}",
			Brief:   "DNSSEC fails",
			Meaning: "Users of resolvers that validate, as most large ones do, cannot reach the name.",
		}
	case status == dnssec.Indeterminate:
		return finding.Row{
			Severity: finding.Info, Group: finding.Note, Weight: 15,
			Args:    "host text, reason code",
			Message: "DNSSEC of {host} was not verified: {reason}",
		}
	case code == dnssec.NoDS:
		return finding.Row{
			Severity: finding.Info, Group: finding.Safer, Weight: 30,
			Args:    "host text",
			Message: "{host} is not signed with DNSSEC, so forged answers cannot be detected.",
		}
	case status == dnssec.Insecure:
		return finding.Row{
			State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 57,
			Args:    "host text, reason code",
			Message: "Validating resolvers treat {host} as unsigned: {reason}",
			Brief:   "Treated as unsigned",
			Meaning: "The name works, but forged answers cannot be detected.",
		}
	case code == dnssec.SignatureExpiresSoon:
		return finding.Row{
			State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 79,
			Args: reason.Args, Message: reason.Message,
			Brief:   "Signature expires soon",
			Meaning: "After that, resolvers that validate cannot find the name.",
		}
	case code == dnssec.DenialContradicts:
		return finding.Row{
			State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 76,
			Args: reason.Args, Message: reason.Message,
			Brief:   "Contradicting denial",
			Meaning: "Some people cannot find the name.",
		}
	}
	return finding.Row{
		Severity: finding.Info, Group: finding.Safer, Weight: 22, Args: reason.Args, Message: reason.Message,
	}
}

var dnssecFindings = finding.Rows{
	codeServerBogus: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 78,
		Args:      "server text, address text, of text, reason code",
		Message:   "{server} at {address} gives answers of {of} that do not validate: {reason}",
		Brief:     "A server fails DNSSEC",
		Meaning:   "Users of resolvers that validate cannot reach the name if theirs asks this server.",
		Remedy:    "Check that the signed zone has reached this server.",
		Reference: rfc + "4035#section-5.3",
	},
	codeAside: {
		Severity: finding.Info, Group: finding.Safer, Weight: 21,
		Args: "reason code", Message: "This does not decide the result: {reason}",
		Remedy: "Remove what is not used.", Reference: rfc + "6781#section-4",
	},
}

// Remedies of several reasons.
const (
	remedyDS = "Have the DS record at the registrar replaced by that of the key that signs the zone, or removed if the " +
		"zone is no longer signed."
	remedySign = "Sign the zone anew, and check that the signer runs by itself and that all servers have its result."
	remedyDeny = "Sign the zone anew with its NSEC or NSEC3 records; software that makes them itself must know all names."
)

// reasons are the sentences for the reasons of package dnssec, with what to do about them: of data that is
// indeterminate, insecure and bogus, and warnings.
var reasons = map[dnssec.Code]finding.Row{
	dnssec.NoAnswer: {
		Args:      "zone text, type text, name text",
		Message:   "The servers of {zone} do not answer for {type} of {name}.",
		Reference: rfc + "4035#section-4.3",
	},
	dnssec.Truncated: {
		Args:      "zone text, type text, name text",
		Message:   "The answer of {zone} for {type} of {name} is truncated.",
		Reference: rfc + "2181#section-9",
	},
	dnssec.Referral: {
		Args:      "zone text, name text",
		Message:   "The answer of {zone} for {name} refers to another zone.",
		Reference: rfc + "4035#section-3.1.4",
	},
	dnssec.OutOfZone: {
		Args:      "name text, zone text",
		Message:   "{name} is not a name of {zone}.",
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.TypeNotValidated: {
		Args:      "type text",
		Message:   "Answers of type {type} are not validated.",
		Reference: rfc + "4035#section-3.1",
	},
	dnssec.AnchorUnmatched: {
		Args:      "zone text",
		Message:   "No trust anchor for {zone} names a key that {zone} publishes.",
		Reference: rfc + "4035#section-5",
	},
	dnssec.KeyUnusable: {
		Args:      "tag number, zone text",
		Message:   "Key {tag} of {zone} is of a size that this check does not verify.",
		Reference: rfc + "3110#section-2",
	},
	dnssec.SignatureBudget: {
		Args: "zone text, type text, name text",
		Message: "{zone} takes more signature verifications than this check performs; it stopped at {type} of " +
			"{name}.",
		Reference: rfc + "4035#section-5.3.3",
	},
	dnssec.HashBudget: {
		Args:      "zone text, type text, name text",
		Message:   "{zone} takes more NSEC3 hashes than this check performs; it stopped at {type} of {name}.",
		Reference: rfc + "9276#section-3.2",
	},

	dnssec.NoDS: {
		Args:      "zone text, name text",
		Message:   "{zone} proves that {name} has no DS record, so that {name} is not signed.",
		Remedy:    "Sign the zone, and have its DS record entered at the registrar; many providers do both on request.",
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.OptOut: {
		Args:      "zone text, name text",
		Message:   "The NSEC3 records of {zone} opt out: {name} may be a delegation without signatures.",
		Remedy:    "Enter a DS record for the zone, or sign without opt-out.",
		Reference: rfc + "5155#section-9.2",
	},
	dnssec.AlgorithmUnsupported: {
		Args: "tag number, name text, algorithm text",
		Message: "The DS record with key tag {tag} of {name} is of algorithm {algorithm}, which validators do " +
			"not support.",
		Remedy:    "Sign with an algorithm of RFC 8624, such as 13 (ECDSA P-256).",
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.DigestUnsupported: {
		Args: "tag number, name text, number number",
		Message: "The DS record with key tag {tag} of {name} is of digest type {number}, which validators do " +
			"not support.",
		Remedy:    "Use a DS record of digest type 2 (SHA-256).",
		Reference: rfc + "6840#section-5.2",
	},
	dnssec.IterationsHigh: {
		Args:      "zone text, number number",
		Message:   "{zone} uses NSEC3 with {number} iterations; validators treat more than 100 as unsigned.",
		Remedy:    "Use NSEC3 with 0 iterations and without a salt, or NSEC.",
		Reference: rfc + "9276#section-3.2",
	},

	dnssec.KeysMissing: {
		Args:      "zone text",
		Message:   "{zone} has a DS record at its parent but publishes no DNSKEY record.",
		Remedy:    remedyDS,
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.DSKeyMissing: {
		Args:      "zone text, tag number, algorithm text",
		Message:   "The DS record of {zone} names key {tag} of algorithm {algorithm}, which {zone} does not publish.",
		Remedy:    remedyDS,
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.DigestMismatch: {
		Args:      "zone text, tag number",
		Message:   "The digest in the DS record of {zone} is not that of key {tag}, which {zone} publishes.",
		Remedy:    remedyDS,
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.KeyRevoked: {
		Args:      "tag number, zone text",
		Message:   "Key {tag} of {zone} is revoked.",
		Remedy:    remedyDS,
		Reference: rfc + "5011#section-2.1",
	},
	dnssec.KeyNotZone: {
		Args:      "tag number, zone text",
		Message:   "Key {tag} of {zone} is not a zone key of protocol 3.",
		Remedy:    remedyDS,
		Reference: rfc + "4034#section-2.1",
	},
	dnssec.KeyMalformed: {
		Args:      "tag number, zone text, algorithm text",
		Message:   "Key {tag} of {zone} is not a key of algorithm {algorithm}.",
		Remedy:    remedyDS,
		Reference: rfc + "4034#section-2.1.4",
	},
	dnssec.KeysUnsigned: {
		Args:      "zone text",
		Message:   "The DNSKEY records of {zone} are not signed by a key that its DS records name.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.2",
	},
	dnssec.SignatureMissing: {
		Args:      "type text, name text",
		Message:   "The {type} records of {name} have no signature.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.SignatureExpired: {
		Args: "type text, name text, date text, off span, clock flag",
		Message: "The signature of the {type} records of {name} expired on {date}, {off} ago.{clock? A clock " +
			"that is wrong by minutes has this effect.|}",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.SignatureNotYetValid: {
		Args: "type text, name text, date text, off span, clock flag",
		Message: "The signature of the {type} records of {name} is valid from {date}, {off} from now.{clock? A " +
			"clock that is wrong by minutes has this effect.|}",
		Remedy:    "Check the clock of the signer; if it is right, wait or sign anew.",
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.SignatureInvalid: {
		Args:      "type text, name text, tag number",
		Message:   "The signature of the {type} records of {name} by key {tag} does not match them.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.3",
	},
	dnssec.SignatureKeyMissing: {
		Args: "type text, name text, tag number, algorithm text, zone text",
		Message: "The signature of the {type} records of {name} is by key {tag} of algorithm {algorithm}, " +
			"which {zone} does not publish.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.SignatureUnsupported: {
		Args: "type text, name text, algorithm text",
		Message: "The {type} records of {name} have no signature but of algorithm {algorithm}, which " +
			"validators do not support.",
		Remedy:    "Sign with an algorithm of RFC 8624, such as 13 (ECDSA P-256).",
		Reference: rfc + "6840#section-5.12",
	},
	dnssec.SignerWrong: {
		Args:      "type text, name text, zone text",
		Message:   "The signature of the {type} records of {name} is not by {zone}.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.LabelsWrong: {
		Args:      "type text, name text",
		Message:   "The signature of the {type} records of {name} has a count of labels that does not fit the name.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-5.3.1",
	},
	dnssec.RecordsMissing: {
		Args:      "type text, name text",
		Message:   "The answer has a signature of the {type} records of {name}, but not the records.",
		Remedy:    remedySign,
		Reference: rfc + "4035#section-3.1.1",
	},
	dnssec.WildcardUnproven: {
		Args: "type text, name text",
		Message: "The {type} records of {name} come from a wildcard, without proof that {name} itself does not " +
			"exist.",
		Remedy:    remedyDeny,
		Reference: rfc + "4035#section-5.3.4",
	},
	dnssec.AliasWrong: {
		Args:      "name text",
		Message:   "The CNAME record of {name} does not follow from the DNAME record.",
		Remedy:    remedySign,
		Reference: rfc + "6672#section-5.3.1",
	},
	dnssec.DenialMissing: {
		Args:      "zone text, type text, name text",
		Message:   "{zone} is signed and denies {type} of {name} without NSEC or NSEC3 records.",
		Remedy:    remedyDeny,
		Reference: rfc + "4035#section-5.4",
	},
	dnssec.DenialIncomplete: {
		Args:      "zone text, type text, name text",
		Message:   "The NSEC or NSEC3 records of {zone} do not prove that {type} of {name} does not exist.",
		Remedy:    remedyDeny,
		Reference: rfc + "4035#section-5.4",
	},
	dnssec.DenialWrongSide: {
		Args: "type text, name text",
		Message: "The record that denies {type} of {name} is of the wrong side of a zone cut, or above a DNAME " +
			"record.",
		Remedy:    remedyDeny,
		Reference: rfc + "6840#section-4.1",
	},
	dnssec.TypeExists: {
		Args:      "zone text, type text, name text",
		Message:   "{zone} denies {type} of {name}, but its own NSEC or NSEC3 record lists the type or an alias.",
		Remedy:    remedyDeny,
		Reference: rfc + "4035#section-5.4",
	},
	dnssec.NameDenied: {
		Args:      "zone text, name text, type text",
		Message:   "{zone} answers that {name} exists without {type} records, but its own records deny the name.",
		Remedy:    remedyDeny,
		Reference: rfc + "4035#section-5.4",
	},
	dnssec.NameExists: {
		Args:      "type text, name text",
		Message:   "The answer for {type} of {name} is NXDOMAIN, but the zone's own records prove that {name} exists.",
		Remedy:    remedyDeny,
		Reference: rfc + "5155#section-8.4",
	},
	dnssec.NotDelegated: {
		Args:      "zone text, name text",
		Message:   "The records of {zone} that deny a DS record prove that {name} is not delegated.",
		Remedy:    remedyDeny,
		Reference: rfc + "6840#section-4.4",
	},

	dnssec.SignatureExpiresSoon: {
		Args:      "type text, name text, date text, off span",
		Message:   "The signature of the {type} records of {name} expires on {date}, {off} from now.",
		Remedy:    remedySign,
		Reference: rfc + "6781#section-4.4.2",
	},
	dnssec.TTLAboveOriginal: {
		Args:      "type text, name text, number number",
		Message:   "The {type} records of {name} have a TTL of {number} s, more than the original TTL that is signed.",
		Reference: rfc + "4035#section-5.3.3",
	},
	dnssec.IterationsNotZero: {
		Args:      "zone text, number number",
		Message:   "{zone} uses NSEC3 with {number} iterations; it ought to be 0.",
		Remedy:    "Use NSEC3 with 0 iterations and without a salt, or NSEC.",
		Reference: rfc + "9276#section-3.1",
	},
	dnssec.AlgorithmDeprecated: {
		Args: "tag number, zone text, algorithm text",
		Message: "Key {tag} of {zone} is of algorithm {algorithm}, which must not be used; some validators " +
			"treat the zone as not signed.",
		Remedy:    "Roll over to algorithm 13 (ECDSA P-256).",
		Reference: rfc + "9905#section-2",
	},
	dnssec.AlgorithmUnsigned: {
		Args: "zone text, algorithm text",
		Message: "The DS records of {zone} name algorithm {algorithm}, but no key of it that they name signs " +
			"the DNSKEY records.",
		Reference: rfc + "6840#section-5.11",
	},
	dnssec.DigestDeprecated: {
		Args: "tag number, zone text, number number",
		Message: "The DS record with key tag {tag} of {zone} is of digest type {number} (SHA-1), which must " +
			"not be used.",
		Remedy:    "Use a DS record of digest type 2 (SHA-256).",
		Reference: rfc + "8624#section-3.3",
	},
	dnssec.DigestIgnored: {
		Args: "tag number, zone text",
		Message: "The DS record with key tag {tag} of {zone} is ignored, because others have a stronger digest " +
			"than SHA-1.",
		Reference: rfc + "4509#section-3",
	},
	dnssec.KeyShort: {
		Args:      "tag number, zone text, number number",
		Message:   "Key {tag} of {zone} has {number} bits; RSA keys ought to have 2048.",
		Remedy:    "Roll over to a key of 2,048 bits, or to algorithm 13 (ECDSA P-256).",
		Reference: rfc + "6781#section-3.4.2",
	},
	dnssec.DenialContradicts: {
		Args:      "zone text, type text, name text",
		Message:   "A record of {zone} denies {type} of {name}, which exists; resolvers that cache it lose the name.",
		Remedy:    remedyDeny,
		Reference: rfc + "8198#section-4",
	},
}
