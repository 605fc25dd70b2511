package dnsdelegation

import (
	"maps"

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
	codeNotPublic     = "ADDRESS_NOT_PUBLIC"
	codeSingle        = "SINGLE_SERVER"
	codeOneNetwork    = "SERVERS_IN_ONE_NETWORK"
	codeSerials       = "SERIALS_DIFFER"
	codeApexAlias     = "CNAME_AT_APEX"
	codeAliasBeside   = "CNAME_BESIDE_DATA"
	codeTCP           = "TCP_FAILS"
	codeEDNS          = "EDNS_FAILS"
	codeOption        = "EDNS_OPTION_FAILS"
	codeContradicts   = "NXDOMAIN_CONTRADICTS"
	codeEmptyDenied   = "EMPTY_NAME_DENIED"
	codeRecursion     = "RECURSION_OFFERED"
	codeWildcard      = "WILDCARD"
	codeTTLShort      = "TTL_SHORT"
	codeTTLLong       = "TTL_LONG"
	codeSOA           = "SOA_VALUE"
	codeNameMissing   = "NAME_NOT_FOUND"
	codeNameSilent    = "NAME_NOT_ANSWERED"
	codeCut           = "CHECK_CUT"
	codeNotAsked      = "SERVER_NOT_QUERIED"
	codeAliasRefused  = "ALIAS_NOT_FOLLOWED"
)

// The codes of conclusions that no finding gives.
const (
	codeHealthy = "DELEGATION_OK"
	codeSecure  = "DELEGATION_SECURE"
	codeUnknown = "NOT_FOUND_OUT"
)

const rfc = "https://www.rfc-editor.org/rfc/rfc"

// entries are all findings. The arguments of a message are the zone's name for a sentence, and what the message needs
// beside it.
var entries = map[string]finding.Entry{
	codeNotDelegated: {Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Message: "%[2]s is not delegated: the servers of %[1]s %[3]s.",
		Remedy: "Register the domain, or have its name servers entered at the registrar. whois-lookup shows whether it is " +
			"registered and whether it is on hold (clientHold, serverHold), which takes it out of the zone.",
		Reference: rfc + "1034#section-4.2"},
	codeNoAnswer: {Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Message:   "None of the name servers of %[1]s answers: %[2]s.",
		Remedy:    "Start the name servers, and let port 53 through over UDP and TCP from everywhere.",
		Reference: rfc + "1912#section-2.8"},
	codeAllLame: {Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Message: "%[1]s is delegated to servers that do not serve it: %[2]s %[3]s.",
		Remedy: "Set the zone up on these servers, or have the name servers of its present provider entered at the " +
			"registrar.",
		Reference: rfc + "1912#section-2.8"},
	codeNoAddress: {Severity: finding.Fail, Group: finding.Broken, Weight: 99,
		Message:   "None of the name servers of %[1]s has an address that can be queried: %[2]s.",
		Remedy:    "Have glue records entered at the registrar, or use name servers whose names have public addresses.",
		Reference: rfc + "1034#section-4.2.1"},
	codeAliasLoop: {Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Message: "The aliases of %[2]s lead back to %[3]s.", Remedy: "Let the last alias lead to a name with addresses.",
		Reference: rfc + "1034#section-3.6.2"},
	codeAliasDangling: {Severity: finding.Fail, Group: finding.Broken, Weight: 88,
		Message: "%[2]s is an alias of %[3]s, which does not exist.",
		Remedy: "Remove the alias, or let it lead to a name that exists. Where others can register the target, they take " +
			"the name over.",
		Reference: rfc + "1034#section-3.6.2"},
	codeSilent: {Severity: finding.Warn, Group: finding.Broken, Weight: 72,
		Message:   "%[2]s, a name server of %[1]s, does not answer at %[3]s.",
		Remedy:    "Start the server, let port 53 through, or remove it from the NS records of the zone and its parent.",
		Reference: rfc + "1912#section-2.8"},
	codeLame: {Severity: finding.Warn, Group: finding.Broken, Weight: 73,
		Message:   "%[2]s at %[3]s is named as a server of %[1]s and does not serve the zone (lame delegation).",
		Remedy:    "Set the zone up on the server, or remove it from the NS records of the zone and its parent.",
		Reference: rfc + "1912#section-2.8"},
	codeRefuses: {Severity: finding.Warn, Group: finding.Broken, Weight: 73,
		Message:   "%[2]s at %[3]s is named as a server of %[1]s and refuses to answer for the zone (REFUSED).",
		Remedy:    "Set the zone up on the server, or remove it from the NS records of the zone and its parent.",
		Reference: rfc + "1912#section-2.8"},
	codeFails: {Severity: finding.Warn, Group: finding.Broken, Weight: 71,
		Message:   "%[2]s at %[3]s fails to answer for %[1]s (%[4]s).",
		Remedy:    "The server's log says why: an expired secondary zone and a zone file with errors are usual.",
		Reference: rfc + "8499#section-7"},
	codeHostNoAddress: {Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Message:   "%[2]s, a name server of %[1]s, has no address.",
		Remedy:    "Add an A or AAAA record for the name, or remove the NS record.",
		Reference: rfc + "1912#section-2.8"},
	codeNSDiffer: {Severity: finding.Warn, Group: finding.Safer, Weight: 55,
		Message:   "%[1]s has other name servers in its own zone than at its parent: %[2]s.",
		Remedy:    "Enter the same name servers at the registrar and in the NS records of the zone.",
		Reference: rfc + "1034#section-4.2.2"},
	codeNSOfServers: {Severity: finding.Warn, Group: finding.Safer, Weight: 54,
		Message:   "The name servers of %[1]s do not give the same NS records.",
		Remedy:    "Check that the zone has reached all of its servers.",
		Reference: rfc + "1034#section-4.2.2"},
	codeNSAlias: {Severity: finding.Warn, Group: finding.Safer, Weight: 58,
		Message:   "%[2]s, a name server of %[1]s, is an alias (CNAME), which the name of a name server must not be.",
		Remedy:    "Give the name A or AAAA records, or name the target in the NS record.",
		Reference: rfc + "2181#section-10.3"},
	codeGlueMissing: {Severity: finding.Warn, Group: finding.Broken, Weight: 69,
		Message:   "The parent of %[1]s gives no address for %[2]s, which is inside the zone (missing glue).",
		Remedy:    "Have the address of the name server entered at the registrar.",
		Reference: rfc + "9471"},
	codeGlueWrong: {Severity: finding.Warn, Group: finding.Broken, Weight: 68,
		Message:   "The parent of %[1]s gives other addresses for %[2]s than its own zone: %[3]s in place of %[4]s.",
		Remedy:    "Have the address of the name server changed at the registrar.",
		Reference: rfc + "1912#section-2.3"},
	codeNotPublic: {Severity: finding.Warn, Group: finding.Broken, Weight: 67,
		Message:   "%[2]s, a name server of %[1]s, has the address %[3]s, which is not public.",
		Remedy:    "Remove the address, or give the server a public one.",
		Reference: rfc + "1918#section-5"},
	codeSingle: {Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Message:   "%[1]s has one name server alone: where that fails, the domain does.",
		Remedy:    "Add a second name server in another network.",
		Reference: rfc + "2182#section-5"},
	codeOneNetwork: {Severity: finding.Info, Group: finding.Safer, Weight: 25,
		Message:   "All name servers of %[1]s are in one network (%[2]s).",
		Remedy:    "Add a name server in another network and place.",
		Reference: rfc + "2182#section-3.1"},
	codeSerials: {Severity: finding.Warn, Group: finding.Safer, Weight: 52,
		Message: "The name servers of %[1]s have different versions of the zone (serial numbers %[2]s).",
		Remedy: "Look again in some minutes: a change takes its time. After that, check the transfers to the secondary " +
			"servers.",
		Reference: rfc + "1982"},
	codeApexAlias: {Severity: finding.Warn, Group: finding.Broken, Weight: 76,
		Message:   "%[1]s itself is an alias (CNAME), although it must have SOA and NS records, which no alias may.",
		Remedy:    "Replace the alias with A and AAAA records, or with the ALIAS or flattening of the provider.",
		Reference: rfc + "1912#section-2.4"},
	codeAliasBeside: {Severity: finding.Warn, Group: finding.Broken, Weight: 66,
		Message: "%[2]s is an alias (CNAME) and has other records too (%[3]s): which of them is found depends on the " +
			"resolver.",
		Remedy:    "Remove the alias or the other records.",
		Reference: rfc + "1034#section-3.6.2"},
	codeTCP: {Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Message:   "%[2]s at %[3]s does not answer for %[1]s over TCP, which long answers need.",
		Remedy:    "Let port 53 through over TCP.",
		Reference: rfc + "7766#section-5"},
	codeEDNS: {Severity: finding.Warn, Group: finding.Safer, Weight: 48,
		Message:   "%[2]s at %[3]s does not answer for %[1]s with EDNS, without which there is no DNSSEC.",
		Remedy:    "Update the server, and let UDP messages of 1,232 octets through.",
		Reference: rfc + "6891#section-7"},
	codeOption: {Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Message:   "%[2]s at %[3]s does not ignore an EDNS option that it does not know.",
		Remedy:    "Update the server, or the firewall before it.",
		Reference: rfc + "6891#section-6.1.2"},
	codeContradicts: {Severity: finding.Warn, Group: finding.Broken, Weight: 75,
		Message: "The servers of %[1]s say that %[2]s does not exist for %[3]s, although it has other records: resolvers " +
			"that keep the denial find none of them.",
		Remedy:    "Answer NODATA (NOERROR without records) for a type that an existing name lacks.",
		Reference: rfc + "2308#section-2.1"},
	codeEmptyDenied: {Severity: finding.Warn, Group: finding.Broken, Weight: 74,
		Message: "The servers of %[1]s say that %[2]s does not exist, although %[3]s below it does: resolvers that take " +
			"that at its word do not find it.",
		Remedy:    "Answer NODATA for a name that only has names below it.",
		Reference: rfc + "8020#section-2"},
	codeRecursion: {Severity: finding.Warn, Group: finding.Safer, Weight: 42,
		Message:   "%[2]s at %[3]s, a name server of %[1]s, offers recursion to strangers.",
		Remedy:    "Switch recursion off on authoritative servers: attackers use it for amplification and to plant answers.",
		Reference: rfc + "5358#section-4"},
	codeWildcard: {Severity: finding.Info, Group: finding.Note, Weight: 12,
		Message: "%[1]s answers for every name below it (wildcard).", Reference: rfc + "4592"},
	codeTTLShort: {Severity: finding.Info, Group: finding.Note, Weight: 10,
		Message: "The %[2]s records of %[3]s may be kept for %[4]d s only, so that resolvers ask often.",
		Remedy:  "Use at least some minutes.", Reference: rfc + "1912#section-2.2"},
	codeTTLLong: {Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "The %[2]s records of %[3]s may be kept for %[4]d days: a change takes that long to be seen everywhere.",
		Remedy:  "Use at most a week.", Reference: rfc + "1912#section-2.2"},
	codeSOA: {Severity: finding.Info, Group: finding.Note, Weight: 8,
		Message: "The SOA record of %[1]s has an unusual value: %[2]s.", Reference: rfc + "1912#section-2.2"},
	codeNameMissing: {Severity: finding.Warn, Group: finding.Note, Weight: 35,
		Message: "%[1]s is delegated; %[2]s does not exist in it.", Remedy: "Add records for the name, if it is needed.",
		Reference: rfc + "2308#section-2.1"},
	codeNameSilent: {Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Message:   "The servers of %[1]s answer for the zone, and do not answer for the records of %[2]s.",
		Remedy:    "Look at the firewall before the servers, and at what they log for queries of the name.",
		Reference: rfc + "1912#section-2.8"},
	codeCut: {Severity: finding.Info, Group: finding.Note, Weight: 20,
		Message: "The check ended at one of its own bounds (%[2]d of 160 queries, 15 s, 8 name servers and 16 addresses a " +
			"zone, 12 queries an address, 3 aliases to other zones); the rest is reported.",
		Reference: rfc + "9520#section-2"},
	codeNotAsked: {Severity: finding.Info, Group: finding.Note, Weight: 6,
		Message: "%[2]s at %[3]s was not queried. %[4]s"},
	codeAliasRefused: {Severity: finding.Info, Group: finding.Note, Weight: 7,
		Message: "The alias of %[2]s was not followed: its target is not public, or this service may not query it."},
}

var catalogue = finding.Catalogue{Conclusions: conclusions(), Findings: withDNSSEC()}

func withDNSSEC() map[string]finding.Entry {
	all := dnssecEntries()
	all[codeAside] = finding.Entry{Severity: finding.Info, Group: finding.Safer, Weight: 21, Message: "%[2]s",
		Remedy: "Remove what is not used.", Reference: rfc + "6781#section-4"}
	maps.Copy(all, entries)
	return all
}

// conclusions are the fixed ones, and one for each finding that is more than a note: its message.
func conclusions() map[string]finding.Outcome {
	all := map[string]finding.Outcome{
		codeHealthy: {State: finding.OK, Message: "%s is delegated correctly: all of its name servers answer for it (%s)."},
		codeSecure: {State: finding.OK,
			Message: "%s is delegated correctly and signed: all of its name servers answer for it (%s), and DNSSEC is valid."},
		codeUnknown: {State: finding.Unknown, Message: "The delegation of %s could not be found out: %s"},
	}
	for _, code := range unverified {
		all[codeOf(code)] = finding.Outcome{State: finding.Unknown, Message: "%s is delegated correctly: all of its name " +
			"servers answer for it (%s). Its DNSSEC takes more work to verify than this check does."}
	}
	for code, e := range withDNSSEC() {
		switch {
		case e.Severity == finding.Fail && e.Group == finding.Broken:
			all[code] = finding.Outcome{State: finding.Failed, Message: "%s"}
		case e.Severity != finding.Info:
			all[code] = finding.Outcome{State: finding.Warned, Message: "%s"}
		}
	}
	return all
}
