package emaildnshealth

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

var rows = finding.Join(conclusionRows, noteRows, lookupRows, mxRows, tlsaRows, spfRows, spfTermRows,
	spfSuggestionRows, dmarcRows, reportURIRows, dkimRows, mtaStsRows, tlsRptRows, bimiRows).WithClauses(fault.Rows)

// issueCodes are the codes of issues whose finding has a more precise one.
var issueCodes = map[string]string{
	codeNotFound: "DOMAIN_NOT_FOUND",

	"SPF_MISSING_SILENT":          "SPF_MISSING",
	"SPF_MISSING_NULL_MX":         "SPF_MISSING",
	"SPF_NAME_MATCHES_NONE":       "SPF_NAME_INVALID",
	"SPF_REDIRECT_NAME_INVALID":   "SPF_NAME_INVALID",
	"SPF_NAME_NOT_PUBLIC":         "SPF_TARGET_NOT_PUBLIC",
	"SPF_REDIRECT_NOT_PUBLIC":     "SPF_TARGET_NOT_PUBLIC",
	"SPF_REDIRECT_WITHOUT_RECORD": "SPF_TARGET_WITHOUT_RECORD",

	"DMARC_MISSING_NULL_MX":          "DMARC_MISSING",
	"DMARC_UNREADABLE":               "DMARC_MISSING",
	"DMARC_UNREADABLE_NULL_MX":       "DMARC_MISSING",
	"DMARC_SUBDOMAIN_POLICY_INVALID": "DMARC_SUBDOMAIN_POLICY_WEAKER",
	"DMARC_TEST_MODE_IDLE":           "DMARC_TEST_MODE",
	"DMARC_REPORTS_NEVER_AUTHORIZED": "DMARC_REPORTS_NOT_AUTHORIZED",

	"DKIM_ED25519_KEY_INVALID": "DKIM_KEY_INVALID",
	"DKIM_WILDCARD_REVOKED":    "DKIM_WILDCARD",
	"DKIM_WILDCARD_SEARCHED":   "DKIM_WILDCARD",
	"DKIM_WILDCARD_ALIAS":      "DKIM_WILDCARD",
	"DKIM_ALIAS_DEAD_SEARCHED": "DKIM_ALIAS_DEAD",
	"DKIM_SEARCH_INCONCLUSIVE": "DKIM_SEARCH_INCOMPLETE",

	"MTASTS_ID_MISSING":          "MTASTS_ID",
	"MTASTS_MX_LINE_ABSENT":      "MTASTS_KEY_ABSENT",
	"MTASTS_MX_NOT_COVERED_YET":  "MTASTS_MX_NOT_COVERED",
	"TLSRPT_NO_USABLE_ADDRESS":   "TLSRPT_NO_ADDRESS",
	"TLSA_LOOKUP_STOPS_DELIVERY": "TLSA_LOOKUP_FAILED",
	"MAIL_TLSA_MATCHES_NOTHING":  "TLSA_MATCHES_NOTHING",
	"MTASTS_HELLO_INTOLERANT":    "HELLO_INTOLERANT",
}

// Parts of several rows.
const (
	couldNot   = " could not be looked up: {failure}."
	tryAgain   = " Try again later{repair?; if it persists, repair the name servers}."
	reasonArgs = "failure code, repair flag"
)

// notFound is the row of all tools, with its reference as those of this tool are written.
func notFound() finding.Row {
	row := fault.Rows[codeNotFound]
	row.Reference = "RFC 8020 section 2"
	return row
}

// conclusionRows are the conclusions, and what they are put together from.
var conclusionRows = finding.Rows{
	codeNotFound: notFound(),
	codeDelivery: {
		State: finding.Failed, Args: "domain text, worst sentence",
		Message: "Mail to {domain} may not arrive. {worst}",
		Brief:   "Mail may not arrive",
		Meaning: "Some senders find no mail server, or refuse to deliver to it. Fix that first.",
	},
	codeAnyone: {
		State: finding.Warned, Args: "domain text",
		Message: "Anyone can send mail as {domain} (SPF ends in +all).",
		Brief:   "Anyone can send",
		Meaning: "Forged mail passes SPF, and DMARC with it. List your own senders, and end the record in -all.",
	},
	codeForgeable: {
		State: finding.Warned, Args: "domain text, reason code, silent flag",
		Message: "Mail from {domain} can be forged: {reason}.",
		Brief:   "Mail can be forged",
		Meaning: "Receivers deliver mail that others send in the name of this domain. {silent?If it takes and sends no " +
			"mail, publish a null MX record, the SPF record v=spf1 -all, and a DMARC record with p=reject|List all " +
			"genuine senders in SPF first, then raise the DMARC policy to quarantine or reject}.",
	},
	codeFaulty: {
		State: finding.Warned,
		Args:  "domain text, check text, effect sentence, worst sentence, others number",
		Message: "The[ {check}] setup of {domain} needs attention. {worst}" +
			"[ {others} more {others:finding is|findings are} below.]",
		Brief:   "Records need attention",
		Meaning: "[{effect}]",
	},
	"EFFECT_MX":            {Message: "Some mail to the domain may arrive late, or not at all."},
	"EFFECT_SPF":           {Message: "Receivers may not know your servers, and reject your mail or mark it as spam."},
	"EFFECT_DMARC":         {Message: "Some forged mail may get through, or reports may not reach you."},
	"EFFECT_DKIM":          {Message: "Receivers may not be able to verify signatures of your mail."},
	"EFFECT_MTA_STS":       {Message: "Senders may deliver mail to you over connections that are not protected."},
	"EFFECT_TLS_REPORTING": {Message: "You will not learn when senders fail to use TLS."},
	codeNotVerified: {
		State: finding.Unknown, Args: "domain text, unanswered list",
		Message: "The {unanswered} {unanswered:record|records} of {domain} could not be looked up.",
		Brief:   "Not all looked up",
		Meaning: "A failed lookup does not tell us whether records exist. Try again later.",
	},
	codeNoMail: {
		State: finding.OK, Args: "domain text, silence code",
		Message: "{domain} {silence}.",
		Brief:   "No mail, as published",
		Meaning: "The records say so, so nothing is missing.",
	},
	codeNoMailOpen: {
		State: finding.Noted, Args: "domain text, silence code",
		Message: "{domain} {silence}, but does not tell receivers to reject mail in its name.",
		Brief:   "No mail, but forgeable",
		Meaning: "An SPF record with only -all and a DMARC record with p=reject make receivers reject such mail.",
	},
	codeWell: {
		State: finding.OK, Args: "domain text, searched flag, selectors list, missing list",
		Message: "Mail for {domain} is set up well.[ {missing} {missing:is|are} missing.]" +
			"[ DKIM: {selectors:a key is|keys are} published at {selectors}; {selectors:whether it is|which are} in use " +
			"cannot be seen from outside.]",
		Brief:   "Set up well",
		Meaning: "{searched?Enter the DKIM selector of your mail to check the key in use.}",
	},

	"FORGED_BY_DMARC_MISSING": {Clause: "no DMARC policy tells receivers to reject forged mail"},
	"FORGED_BY_DMARC_POLICY":  {Clause: "the DMARC policy lets receivers deliver it"},
	"FORGED_BY_SPF":           {Clause: "SPF lets anyone send"},

	"ACCEPTS_NO_MAIL":           {Clause: "accepts no mail (null MX)"},
	"NEITHER_SENDS_NOR_ACCEPTS": {Clause: "neither sends nor accepts mail"},
	"SENDS_NO_MAIL":             {Clause: "sends no mail"},
}

// noteRows are about a domain that keeps out of mail, and about checks that have no meaning then.
var noteRows = finding.Rows{
	"KEEPS_OUT_OF_MAIL": {
		Args:    "domain text",
		Message: "{domain} neither sends nor accepts mail, and all of its records say so.",
	},
	"KEEPS_OUT_WITHOUT_DMARC": {
		Args:    "domain text",
		Message: "{domain} neither sends nor accepts mail. A DMARC record with p=reject would complete that.",
	},
	"ONLY_ACCEPTS": {Args: "domain text", Message: "{domain} sends no mail: its SPF record authorizes nobody."},
	"ONLY_SENDS": {
		Args:    "domain text",
		Message: "{domain} accepts no mail (null MX). If it sends none either, publish the SPF record v=spf1 -all.",
	},
	"NOT_FOR_NULL_MX":   {Message: "The domain accepts no mail (null MX), so this does not apply."},
	"NOT_FOR_NO_DOMAIN": {Message: "The domain does not exist."},
}

// lookupRows are reasons why a lookup failed; SHORTAGE_HERE is among those of package fault.
var lookupRows = finding.Rows{
	"LOOKUPS_TOO_MANY":       {Clause: "the records lead to more lookups than one run makes"},
	"LOOKUP_ANSWER_TOO_LONG": {Clause: "the answers are larger than this service reads"},
	"LOOKUP_NAME_NOT_PUBLIC": {Clause: "it is not a name in the public DNS"},
	"LOOKUP_RESOLVER_BROKEN": {Clause: "this service's own resolver does not work"},
	"LOOKUP_NOT_ANSWERED":    {Clause: "its name servers did not answer in time"},
	"LOOKUP_SERVFAIL":        {Clause: "its name servers or its DNSSEC signatures failed (SERVFAIL)"},
	"LOOKUP_FAILED":          {Args: "rcode text", Clause: "the name servers failed ({rcode})"},
}

const (
	sectionMX      = "RFC 5321 section 5.1"
	sectionNullMX  = "RFC 7505 section 3"
	sectionReverse = "RFC 8601 section 2.7.3"
	sectionDANE    = "RFC 7672 section 2.2"

	arrivesAnyway = " Mail to the domain arrives anyway, but many receivers reject what such a server sends. "
)

// mxRows are about the mail exchanges and their addresses.
var mxRows = finding.Rows{
	"MX_NULL_WITH_OTHERS": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85,
		Message: "A null MX record must be the only one. Remove it, or all the others.", Reference: sectionNullMX,
	},
	"MX_HOST_WITHOUT_ADDRESS": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85, Args: "exchange text",
		Message: "The exchange {exchange} has no address, so no mail arrives there. Give it one, or remove the " +
			"MX record.",
		Reference: sectionMX,
	},
	"MX_ADDRESS_NOT_PUBLIC": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85, Args: "exchange text",
		Message:   "The exchange {exchange} has an address that cannot be reached from the internet. Remove it.",
		Reference: sectionMX,
	},
	"MX_ADDRESS_LITERAL": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85, Args: "exchange text",
		Message: "The exchange {exchange} is an address, and MX records take names only. Give the host a name " +
			"with that address.",
		Reference: "RFC 1035 section 3.3.9",
	},
	"MX_NAME_INVALID": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85, Args: "exchange text, problem text",
		Message:   "The exchange {exchange} {problem}, so senders cannot find it. Use a public hostname.",
		Reference: sectionMX,
	},
	"MX_NAME_NOT_PUBLIC": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 85, Args: "exchange text, problem text",
		Message:   "The exchange {exchange} {problem}, so senders cannot find it. Use a public hostname.",
		Reference: sectionMX,
	},
	"DNS_CONTRADICTS": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 75, Args: "domain text",
		Message: "The DNS denies that {domain} exists when asked for MX, and not when asked for its addresses. " +
			"Let the name servers answer NOERROR without records.",
		Reference: "RFC 4074 section 4.2",
	},
	"MX_MISSING": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 48, Args: "domain text",
		Message: "{domain} has no MX record and no address, so no mail arrives there. Publish an MX record if " +
			`it should receive mail, and the null MX record "0 ." if not.`,
		Reference: sectionMX,
	},
	"MX_NO_IPV4": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 48,
		Message:   "No exchange has an IPv4 address, and many senders have only IPv4. Give one of them an A record.",
		Reference: sectionMX,
	},
	"MX_CNAME": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "exchange text",
		Message: "The exchange {exchange} is an alias (CNAME), which an exchange must not be. Name the host " +
			"that the alias leads to.",
		Reference: "RFC 2181 section 10.3",
	},
	"MX_IMPLICIT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "domain text",
		Message: "Mail for {domain} goes to the web server itself, because there is no MX record. Publish the null " +
			"MX record if the domain takes no mail, and otherwise an MX record that names its mail server.",
		Remedy:    "Publish this record if the domain takes no mail.",
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: `{domain}. IN MX 0 .`},
		Reference: sectionMX,
	},
	"MX_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "domain text, addresses flag, " + reasonArgs,
		Message: "The {addresses?addresses|MX records} of {domain}" + couldNot + tryAgain,
		Clause:  "The {addresses?addresses|MX records} of {domain}" + couldNot, Reference: sectionMX,
	},
	"MX_HOST_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "exchange text, failure code",
		Message: "The addresses of {exchange}" + couldNot, Reference: sectionMX,
	},
	"MX_TOO_MANY": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "exchanges number, most number",
		Message: "The domain has {exchanges} mail exchanges; only the first {most} were looked up. Few senders " +
			"try them all.",
		Reference: sectionMX,
	},
	"MX_NULL": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The null MX record says that the domain accepts no mail.", Reference: sectionNullMX,
	},
	"MX_ADDRESS_WITHOUT_NAME": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "addresses text",
		Message: "These addresses have no name in the reverse DNS (PTR): {addresses}." + arrivesAnyway + "If " +
			"one of them sends mail too, ask the provider that gave you the address to publish its name.",
		Reference: "RFC 1912 section 2.1",
	},
	"MX_ADDRESS_NAME_NOT_CONFIRMED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "addresses text",
		Message: "These addresses have a name in the reverse DNS (PTR) that does not lead back to them: " +
			"{addresses}." + arrivesAnyway + "If one of them sends mail too, give that name an address record " +
			"with the address.",
		Reference: sectionReverse,
	},
	"MX_ADDRESS_NAME_UNKNOWN": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: "addresses text",
		Message: "The names in the reverse DNS (PTR) of these addresses, or whether the names lead back to " +
			"them, could not be looked up: {addresses}. That matters only where the servers send mail too.",
		Reference: sectionReverse,
	},

	"MX_SUMMARY": {
		Args:    "usable number, exchanges number",
		Message: "{usable} of {exchanges} mail exchanges have an address; no mail server was contacted.",
	},
	"MX_SUMMARY_IMPLICIT": {
		Message: "The domain has no MX record, so senders fall back on its own address; no mail server was " +
			"contacted.",
	},
	"MX_SUMMARY_MISSING": {
		Message: "The domain has neither MX records nor an address, so it cannot receive mail.",
	},
	"MX_SUMMARY_NULL": {Message: "The domain accepts no mail (null MX)."},
	"MX_SUMMARY_CONTRADICTORY": {
		Message: "The domain says both that it accepts no mail and where to deliver it.",
	},
}

// tlsaRows are about the TLSA records of the exchanges, and clauses on why one cannot be used.
var tlsaRows = finding.Rows{
	"MAIL_TLSA_MATCHES_NOTHING": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 75, Args: "server text",
		Message: "No certificate can match the TLSA records of {server}, so senders that check DANE do not " +
			"deliver there. Publish the digest of the server's public key.",
		Reference: sectionDANE,
	},
	"TLSA_NOT_SIGNED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "server text",
		Message: "The TLSA records of {server} are not signed with DNSSEC, so senders ignore them. Sign the " +
			"zone that they are in.",
		Reference: sectionDANE,
	},
	"TLSA_UNUSABLE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "parameters text, server text, problem code",
		Message: "The TLSA record {parameters} of {server} cannot be used: {problem}. Publish 3 1 1 with the " +
			"SHA-256 digest of the server's public key.",
		Reference: "RFC 7672 section 3.1",
	},
	"TLSA_ZERO": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "parameters text, server text",
		Message: "The TLSA record {parameters} of {server} is all zeros, which no certificate matches. Publish " +
			"the digest of the server's public key, or remove the record.",
		Reference: "RFC 6698 section 2.1.3",
	},
	"TLSA_LOOKUP_FAILED": {
		Severity: finding.Info, Group: finding.Note, Weight: 6, Args: "server text, failure code",
		Message: "The TLSA records of {server}" + couldNot + " Senders ask for them only where the exchange's " +
			"zone is signed with DNSSEC.",
		Reference: "RFC 7672 section 2.1.1",
	},
	"TLSA_LOOKUP_STOPS_DELIVERY": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "server text, failure code",
		Message: "The TLSA records of {server}" + couldNot + " Its zone is signed, so senders that check DANE " +
			"do not deliver there while that lasts. Try again later; if it persists, repair the name servers.",
		Reference: "RFC 7672 section 2.1.1",
	},
	"TLSA_NOT_AUTHENTICATED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "server text",
		Message: "Whether the TLSA records of {server} are signed is not known, because this service's resolver " +
			"does not validate DNSSEC. Without DNSSEC senders ignore them.",
		Reference: sectionDANE,
	},
	"DANE_MX_NOT_SIGNED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "server text, domain text",
		Message: "The TLSA records of {server} are signed with DNSSEC, but the MX records of {domain} are not, " +
			"so an attacker on the path can name another exchange. Sign the domain's zone too.",
		Reference: "RFC 7672 section 2.2.1",
	},

	"TLSA_USAGE_FOR_WEB": {
		Args:   "usage number",
		Clause: "usage {usage} relies on public authorities, and mail senders follow only usages 2 and 3",
	},
	"TLSA_USAGE_UNKNOWN":    {Args: "usage number", Clause: "usage {usage} does not exist"},
	"TLSA_SELECTOR_UNKNOWN": {Args: "selector number", Clause: "selector {selector} does not exist"},
	"TLSA_MATCHING_UNKNOWN": {Args: "matching number", Clause: "matching type {matching} does not exist"},
	"TLSA_NO_DATA":          {Clause: "it has no data"},
	"TLSA_DATA_INCOMPLETE":  {Clause: "its data is not a complete certificate or public key"},
	"TLSA_DIGEST_LENGTH": {
		Args:   "digest text, expected number, octets number",
		Clause: "a {digest} digest has {expected} octets, and this one has {octets}",
	},
}

const (
	sectionSPFLimits = "RFC 7208 section 4.6.4"
	sectionSPFLength = "RFC 7208 section 3.4"

	// theTerm names a term, and the record that it stands in if that is not the domain's own.
	theTerm       = "The term {term}[ in the record of {owner}] "
	theTermArgs   = "term text, owner text"
	leadsToNoName = "leads to \"{name}\", which cannot be a name: each label must have 1 to 63 characters. "
)

// spfRows are about the SPF record. The clauses are the errors of terms in its tree.
var spfRows = finding.Rows{
	"SPF_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55, Args: "receiver text",
		Message: "There is no SPF record, so receivers cannot tell who may send. Publish a TXT record that " +
			"lists every server that sends the domain's mail.",
		Remedy: "{receiver?Publish this record, which lets the servers that receive the mail send it too. Add " +
			"every other sender (include:…, ip4:…), then end it with -all.}",
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: `[{receiver}. IN TXT "v=spf1 mx ~all"]`},
		Reference: "RFC 7208 section 3",
	},
	"SPF_MISSING_SILENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55, Args: "domain text",
		Message: "There is no SPF record, so receivers cannot tell who may send. Publish a TXT record that " +
			"lists every server that sends the domain's mail.",
		Remedy:    "Publish this record if the domain sends no mail; otherwise name the senders before -all.",
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: `{domain}. IN TXT "v=spf1 -all"`},
		Reference: "RFC 7208 section 3",
	},
	"SPF_MISSING_NULL_MX": {
		Severity: finding.Fail, Group: finding.Note, Weight: 15, Args: "domain text",
		Message: "There is no SPF record, so receivers cannot tell who may send. The domain accepts no mail; if " +
			"it sends none either, publish a TXT record that says so.",
		Remedy:    "Publish this record if the domain sends no mail; otherwise name the senders before -all.",
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: `{domain}. IN TXT "v=spf1 -all"`},
		Reference: "RFC 7208 section 3",
	},
	"SPF_ALLOWS_ALL": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 58, Args: theTermArgs,
		Message:   theTerm + "lets anyone send mail as this domain. Name the senders instead.",
		Reference: "RFC 7208 section 5.1",
	},
	"SPF_SEVERAL_RECORDS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text, records number",
		Message: "{domain} has {records} SPF records, so receivers use none of them. Merge them into one.",
		Clause:  "several SPF records", Reference: "RFC 7208 section 4.5",
	},
	"SPF_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text, record text",
		Message: `{domain} has a TXT record that is not recognized as SPF: "{record}". It must begin with ` +
			"v=spf1 and a space.",
		Reference: "RFC 7208 section 4.5",
	},
	"SPF_NOT_ASCII": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text",
		Message: "The SPF record of {domain} has characters outside ASCII. Retype it: such characters often " +
			"come from a word processor.",
		Reference: "RFC 7208 section 3.1",
	},
	"SPF_RECORD_UNREADABLE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text, octets number",
		Message: "The SPF record of {domain} has {octets} octets and was not read. Shorten it to 450.",
		Clause:  "too long to be read", Reference: sectionSPFLength,
	},
	"SPF_TOO_MANY_TERMS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text, most number",
		Message: "The SPF record of {domain} has more than {most} terms. Shorten it.", Reference: sectionSPFLength,
	},
	"SPF_SYNTAX": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs + ", problem code",
		Message:   theTerm + "{problem}. One such term makes the whole record invalid.",
		Reference: "RFC 7208 section 4.6",
	},
	"SPF_MODIFIER_TWICE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text",
		Message:   "The SPF record of {domain} has redirect or exp more than once. Keep one.",
		Reference: "RFC 7208 section 6",
	},
	"SPF_LOOP": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs + ", domain text",
		Message: theTerm + "leads back to {domain} in an endless loop. Remove it.",
		Clause:  "a loop", Reference: sectionSPFLimits,
	},
	"SPF_NAME_INVALID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs + ", name text",
		Message: theTerm + leadsToNoName + "That makes the whole record invalid. Correct or remove it.",
		Clause:  "not a possible name", Reference: "RFC 7208 section 5.2",
	},
	"SPF_REDIRECT_NAME_INVALID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs + ", name text",
		Message:   theTerm + leadsToNoName + "That makes the whole record invalid. Correct or remove it.",
		Reference: "RFC 7208 section 6.1",
	},
	"SPF_NAME_MATCHES_NONE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: theTermArgs + ", name text",
		Message: theTerm + leadsToNoName + "It matches no sender, and some receivers treat the whole record as " +
			"invalid. Correct or remove it.",
		Reference: "RFC 7208 section 4.8",
	},
	"SPF_TARGET_NOT_PUBLIC": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs,
		Message: theTerm + "does not name a domain in the public DNS, which makes the whole record invalid. " +
			"Correct or remove it.",
		Clause: "not a name in the public DNS", Reference: "RFC 7208 section 5.2",
	},
	"SPF_REDIRECT_NOT_PUBLIC": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs,
		Message: theTerm + "does not name a domain in the public DNS, which makes the whole record invalid. " +
			"Correct or remove it.",
		Reference: "RFC 7208 section 6.1",
	},
	"SPF_NAME_NOT_PUBLIC": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: theTermArgs,
		Message:   theTerm + "does not name a domain in the public DNS, so it matches nobody. Correct or remove it.",
		Reference: "RFC 7208 section 4.8",
	},
	"SPF_TARGET_WITHOUT_RECORD": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs,
		Message: theTerm + "names a domain without an SPF record, which makes the whole record invalid. Correct " +
			"or remove it.",
		Clause: "no SPF record", Reference: "RFC 7208 section 5.2",
	},
	"SPF_REDIRECT_WITHOUT_RECORD": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs,
		Message: theTerm + "names a domain without an SPF record, which makes the whole record invalid. Correct " +
			"or remove it.",
		Reference: "RFC 7208 section 6.1",
	},
	"SPF_TOO_MANY_EXCHANGES": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: theTermArgs + ", exchanges number",
		Message: theTerm + "leads to {exchanges} mail exchanges, and receivers reject more than 10. Replace it " +
			"with ip4 and ip6 terms.",
		Clause: "more than ten exchanges", Reference: sectionSPFLimits,
	},
	"SPF_TOO_MANY_LOOKUPS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "lookups number, more flag",
		Message: "The record needs {more?at least }{lookups} lookups, and receivers make at most 10. Remove " +
			"includes that are no longer used, or replace a and mx with ip4 and ip6.",
		Reference: sectionSPFLimits,
	},
	"SPF_TOO_MANY_VOID_LOOKUPS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "lookups number",
		Message: "{lookups} of the lookups find nothing, and receivers allow at most 2. Remove the terms whose " +
			"names do not exist.",
		Reference: sectionSPFLimits,
	},
	"SPF_NEUTRAL_ALL": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Message:   "The record ends in ?all, which says nothing about other senders. Use -all or ~all.",
		Reference: "RFC 7208 section 8.2",
	},
	"SPF_NETWORK_BROAD": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: theTermArgs,
		Message:   theTerm + "lets a large part of the internet send mail. Name only the networks that need to.",
		Reference: "RFC 7208 section 10.1.1",
	},
	"SPF_NO_ALL": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "domain text",
		Message:   "The SPF record of {domain} does not say what to do with other senders. End it with -all or ~all.",
		Reference: "RFC 7208 section 4.7",
	},
	"SPF_MODIFIER_UNKNOWN": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: theTermArgs + ", mechanism text",
		Message: theTerm + "has an equals sign where a colon belongs, and is ignored. Write {mechanism} with a " +
			"colon.",
		Reference: "RFC 7208 section 4.6.1",
	},
	"SPF_PTR": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: theTermArgs,
		Message:   theTerm + "is slow and unreliable and should not be used. Replace it with ip4, ip6 or a terms.",
		Reference: "RFC 7208 section 5.5",
	},
	"SPF_RECORD_TOO_LONG": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "domain text, octets number",
		Message: "The SPF record of {domain} has {octets} octets, which do not fit in a plain DNS answer of " +
			"512. Shorten it or move parts into an include.",
		Reference: sectionSPFLength,
	},
	"SPF_REDIRECT_IGNORED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "domain text",
		Message:   "The SPF record of {domain} has both all and redirect, so redirect is ignored. Remove one.",
		Reference: "RFC 7208 section 6.1",
	},
	"SPF_TERMS_AFTER_ALL": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "domain text, term text",
		Message: "In the SPF record of {domain} the term {term} comes after all and is never reached. Move it " +
			"to the front or remove it.",
		Reference: "RFC 7208 section 5.1",
	},
	"SPF_NETWORK_NOT_PUBLIC": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: theTermArgs,
		Message:   theTerm + "names addresses that are not public, so no mail comes from them. It can be removed.",
		Reference: "RFC 7208 section 5.6",
	},
	"SPF_RECORD_LONG": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "domain text, octets number",
		Message:   "The SPF record of {domain} has {octets} octets; up to 450 are sure to fit in a plain DNS answer.",
		Reference: sectionSPFLength,
	},
	"SPF_VOID_LOOKUP": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: theTermArgs,
		Message: theTerm + "names something that does not exist. Remove it, or publish what it names.",
		Clause:  "nothing found (void lookup)", Reference: sectionSPFLimits,
	},
	"SPF_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6,
		Args:      "domain text, " + theTermArgs + ", " + reasonArgs,
		Message:   "[The SPF record of {domain}][The term {term}][ in the record of {owner}]" + couldNot + tryAgain,
		Reference: "RFC 7208 section 2.6.6",
	},
	"SPF_NOT_FINISHED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6,
		Message:   "The record leads to more lookups than one run makes, so part of it was not checked. Simplify it.",
		Reference: "RFC 7208 section 11.1",
	},
	"SPF_MACRO_NOT_FOLLOWED": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: theTermArgs,
		Message: "What the term {term}[ in the record of {owner}] looks up is different for each mail, so it " +
			"was not followed. It counts as one lookup.",
		Reference: "RFC 7208 section 7",
	},

	"SPF_SUMMARY": {Args: "ending code, lookups number", Message: "{ending}. It uses {lookups} of 10 DNS lookups."},
	"SPF_SUMMARY_COSTLY": {
		Args:    "ending code, lookups number",
		Message: "{ending}. It needs {lookups} DNS lookups, of which receivers make at most 10.",
	},
	"SPF_SUMMARY_UNKNOWN": {Message: "The SPF record could not be looked up."},
	"SPF_SUMMARY_MISSING": {Message: "The domain has no SPF record."},
	"SPF_SUMMARY_SEVERAL": {
		Message: "There are several SPF records, so receivers use none of them.",
	},
	"SPF_SUMMARY_NO_SENDER": {
		Message: "The domain sends no mail: its SPF record authorizes nobody.",
	},
	"SPF_ENDS_IN_PASS":     {Clause: "SPF lets anyone send (+all)"},
	"SPF_ENDS_IN_FAIL":     {Clause: "SPF rejects all other senders (-all)"},
	"SPF_ENDS_IN_SOFTFAIL": {Clause: "SPF marks all other senders as suspicious (~all)"},
	"SPF_ENDS_IN_NEUTRAL":  {Clause: "SPF says nothing about other senders (?all)"},
	"SPF_ENDS_OPEN":        {Clause: "SPF says nothing about other senders (no all term)"},
	"SPF_ENDS_OPEN_ELSEWHERE": {
		Args:   "owner text",
		Clause: "SPF leads to the record of {owner}, which has no all term",
	},
	"SPF_ENDS_UNREADABLY": {Clause: "The end of the SPF record could not be read"},
}

// spfTermRows are clauses on what is wrong with a term.
var spfTermRows = finding.Rows{
	"SPF_TERM_IGNORED":          {Clause: "ignored: all comes before it"},
	"SPF_ALL_WITH_VALUE":        {Clause: "takes no value"},
	"SPF_NEEDS_DOMAIN":          {Clause: "needs a colon and a domain after it"},
	"SPF_NEEDS_IPV4":            {Clause: "needs an IPv4 address"},
	"SPF_NEEDS_IPV6":            {Clause: "needs an IPv6 address"},
	"SPF_PREFIX_LENGTH":         {Clause: "has a prefix length that does not exist"},
	"SPF_NO_MECHANISM":          {Args: "meant text", Clause: "is not an SPF mechanism[; write {meant}]"},
	"SPF_CHARACTERS":            {Clause: "has characters that SPF does not allow"},
	"SPF_PERCENT_AT_END":        {Clause: "ends in a lone % sign"},
	"SPF_PERCENT_WITHOUT_MACRO": {Clause: "has a % sign that does not begin a macro"},
	"SPF_MACRO_OPEN":            {Clause: "has a macro without its closing brace"},
	"SPF_MACRO_UNKNOWN":         {Clause: "has a macro that does not exist"},
	"SPF_DOMAIN_MISSING":        {Clause: "has no domain"},
	"SPF_DOMAIN_END":            {Clause: "does not end in a domain name"},
}

// theTerms lists terms of a record.
const (
	theTerms     = "{terms}[ and {more} more]."
	theTermsArgs = "terms text, more number"
)

// spfSuggestionRows say what was changed in a record that is suggested in place of another.
var spfSuggestionRows = finding.Rows{
	"SPF_INCLUDES_EXPANDED": {
		Args: theTermsArgs,
		Message: "Expanded to the current networks: " + theTerms + " Their operators may change them without " +
			"notice, and mail from new ones will then fail. Check often, or remove the include if nobody sends " +
			"through it any more.",
	},
	"SPF_HOSTS_REPLACED": {
		Args:    theTermsArgs,
		Message: "Replaced with addresses: " + theTerms + " Update the record whenever these addresses change.",
	},
	"SPF_PTR_LEFT_OUT": {
		Args: theTermsArgs,
		Message: "Left out: " + theTerms + " Senders that are let in only by their reverse name must be added as ip4 " +
			"or ip6.",
	},
	"SPF_VOID_LEFT_OUT": {
		Args:    theTermsArgs,
		Message: "Left out because they find nothing: " + theTerms + " If a name is misspelled, correct it instead.",
	},
	"SPF_IDLE_LEFT_OUT": {Args: theTermsArgs, Message: "Left out because its record lets nobody in: " + theTerms},
	"SPF_COVERED_LEFT_OUT": {
		Args:    theTermsArgs,
		Message: "Left out because other terms already let in or refuse the same senders: " + theTerms,
	},
	"SPF_AFTER_ALL_LEFT_OUT": {Args: theTermsArgs, Message: "Left out because all comes before it: " + theTerms},
	"SPF_NETWORKS_MERGED":    {Message: "Networks that overlap or adjoin are merged into one."},
	"SPF_PARTS_FIRST": {
		Message: "Publish the records of the parts first. If a name is taken, use another one in both places.",
	},
}

const (
	sectionDMARC         = "RFC 9989 section 4.7"
	sectionDMARCWalk     = "RFC 9989 section 4.10"
	sectionDMARCExternal = "RFC 9990, Verifying External Destinations; RFC 7489 section 7.1"
	sectionDMARCRetired  = "RFC 9989 appendix C"

	dmarcMissing = "There is no DMARC record, so receivers do not know what to do with forged mail. Publish " +
		"v=DMARC1; p=none; rua=mailto:… at _dmarc.{domain} and raise the policy once the reports look right."
	dmarcRemedy = "Publish this record{silent?: the domain neither sends nor receives mail, so receivers may reject all " +
		"mail in its name.|. Once all genuine mail passes, raise p to quarantine, then to reject.}" +
		"{receiver? The mailbox must exist.}"
	dmarcPaste      = `_dmarc.{domain}. IN TXT "v=DMARC1; p={silent?reject|none}[; rua=mailto:dmarc@{receiver}]"`
	dmarcUnreadable = "There is no DMARC record that receivers can read, so they do not know what to do with forged " +
		"mail. Correct the one that is there."
)

// dmarcRows are about the DMARC record, whose owner is the domain that publishes it.
var dmarcRows = finding.Rows{
	"DMARC_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55,
		Args:      "domain text, receiver text, silent flag",
		Message:   dmarcMissing,
		Remedy:    dmarcRemedy,
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: dmarcPaste},
		Reference: sectionDMARC,
	},
	"DMARC_MISSING_NULL_MX": {
		Severity: finding.Fail, Group: finding.Note, Weight: 15,
		Args:      "domain text, receiver text, silent flag",
		Message:   dmarcMissing,
		Remedy:    dmarcRemedy,
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: dmarcPaste},
		Reference: sectionDMARC,
	},
	"DMARC_UNREADABLE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55,
		Message: dmarcUnreadable, Reference: sectionDMARC,
	},
	"DMARC_UNREADABLE_NULL_MX": {
		Severity: finding.Fail, Group: finding.Note, Weight: 15,
		Message: dmarcUnreadable, Reference: sectionDMARC,
	},
	"DMARC_LEADING_BLANK": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "owner text, record text",
		Message: `_dmarc.{owner} has a TXT record that is not recognized as DMARC: "{record}". Remove the space ` +
			"before v=DMARC1.",
		Reference: sectionDMARC,
	},
	"DMARC_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "owner text, record text, capitals flag",
		Message: `_dmarc.{owner} has a TXT record that is not recognized as DMARC: "{record}". {capitals?The ` +
			"value of v must be DMARC1, in capitals.|It must begin with v=DMARC1 and a semicolon.}",
		Reference: sectionDMARC,
	},
	"DMARC_MISPLACED": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "domain text",
		Message:   "There is a DMARC record at {domain} itself, where nobody looks. Move it to _dmarc.{domain}.",
		Reference: sectionDMARCWalk,
	},
	"DMARC_POLICY_INVALID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50,
		Message: "A value of p, sp or np is not one of none, quarantine and reject, so no policy is applied. " +
			"Correct it.",
		Reference: sectionDMARC,
	},
	"DMARC_SEVERAL_RECORDS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "owner text",
		Message:   "_dmarc.{owner} has several DMARC records, so receivers use none of them. Keep one.",
		Reference: sectionDMARCWalk,
	},
	"DMARC_POLICY_ABSENT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 48,
		Message: "The record has no p tag and counts as p=none; receivers that follow RFC 7489 may ignore the " +
			"whole record. Add p=quarantine or p=reject.",
		Reference: sectionDMARC,
	},
	"DMARC_POLICY_NONE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 48, Args: "tag text, owner text, domain text",
		Message: "The policy is none, so forged mail is delivered like any other. Once the reports look right, " +
			"[raise {tag} to quarantine and then reject in the record at _dmarc.{owner}, or publish a record at " +
			"_dmarc.{domain}]{tag?|use p=quarantine and then p=reject}.",
		Reference: sectionDMARC,
	},
	"DMARC_TEST_MODE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Args: "owner text, domain text, rejects flag, quarantines flag",
		Message: "The record at _dmarc.{owner} says t=y, so receivers apply its policy[ to names below " +
			"{domain}] one step milder{rejects?, quarantine instead of reject}{quarantines?, none instead of " +
			"quarantine}. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over.",
		Reference: sectionDMARC,
	},
	"DMARC_TEST_MODE_IDLE": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "owner text",
		Message:   "The record at _dmarc.{owner} says t=y, which has no effect on the policy none. Remove it.",
		Reference: sectionDMARC,
	},
	"DMARC_BACKSLASH": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "The record has a backslash, which often comes from escaping semicolons that need no escaping. " +
			"Remove it.",
		Reference: sectionDMARC,
	},
	"DMARC_SUBDOMAIN_POLICY_WEAKER": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Args: "domain text, policy text, stricter text, removable flag, owner text",
		Message: "Names below {domain} have the weaker policy {policy}, so mail from them can be forged. Raise " +
			"{stricter?p|sp}[, or add sp={stricter},]{removable?, or remove it,} in the record at _dmarc.{owner}.",
		Reference: sectionDMARC,
	},
	"DMARC_SUBDOMAIN_POLICY_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "domain text, owner text",
		Message: "Names below {domain} have the weaker policy none, so mail from them can be forged: the record " +
			"at _dmarc.{owner} has a policy that is not valid. Correct it.",
		Reference: sectionDMARC,
	},
	"DMARC_NONEXISTENT_POLICY_WEAKER": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Args: "domain text, policy text, removable flag, owner text",
		Message: "Names below {domain} that do not exist have the weaker policy {policy}, so mail from them can " +
			"be forged. Raise np{removable?, or remove it,} in the record at _dmarc.{owner}.",
		Reference: sectionDMARC,
	},
	"DMARC_PCT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "The tag pct was retired by RFC 9989: new receivers apply the policy to all mail, those that " +
			"follow RFC 7489 to that share only. Remove it, or use t=y while you test.",
		Reference: sectionDMARCRetired,
	},
	"DMARC_REPORTS_NOT_AUTHORIZED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "host text, owner text",
		Message: "{host} does not say that it accepts reports about {owner}, so none are sent there. It must " +
			"publish a TXT record v=DMARC1 at {owner}._report._dmarc.{host}.",
		Reference: sectionDMARCExternal,
	},
	"DMARC_REPORTS_NEVER_AUTHORIZED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "host text, owner text",
		Message: "{host} cannot say that it accepts reports about {owner}, because the name that would say so " +
			"cannot exist in the public DNS.",
		Reference: sectionDMARCExternal,
	},
	"DMARC_REPORTS_REDIRECTED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Args: "host text, owner text, elsewhere text, name text",
		Message: "{host} wants reports about {owner} sent on to {elsewhere}, another host, so none are sent to " +
			"either. Its record at {name} may only name addresses at {host} itself.",
		Reference: sectionDMARCExternal,
	},
	"DMARC_REPORT_URI_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "address text, tag text, problem code",
		Message:   `The address "{address}" in {tag} {problem}, so no reports go there. Write mailto:name@example.com.`,
		Reference: sectionDMARC,
	},
	"DMARC_REPORT_URI_SCHEME": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "address text, tag text",
		Message:   `The address "{address}" in {tag} is not a mailto URI, the only kind that receivers must support.`,
		Reference: sectionDMARC,
	},
	"DMARC_SYNTAX": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "part text",
		Message:   `"{part}" is not a tag with a value and is ignored. Write tag=value pairs, separated by semicolons.`,
		Reference: sectionDMARC,
	},
	"DMARC_TAG_TWICE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "tag text",
		Message:   "The tag {tag} appears more than once. Keep one: receivers differ in which one they read.",
		Reference: sectionDMARC,
	},
	"DMARC_VALUE_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "tag text, used text, allowed text",
		Message: "The value of {tag} is not valid[, so {used} is used. Use one of {allowed}.]{used?| and is " +
			"ignored. Use 0, 1, d or s.}",
		Reference: sectionDMARC,
	},
	"DMARC_FO_WITHOUT_RUF": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The tag fo has no effect without ruf.", Reference: sectionDMARC,
	},
	"DMARC_NO_REPORTS": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "owner text",
		Message: "No aggregate reports are requested. Add rua=mailto:… to the record at _dmarc.{owner} to see " +
			"who sends in your name.",
		Reference: sectionDMARC,
	},
	"DMARC_POLICY_NOT_SECOND": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The p tag does not come right after v=DMARC1. RFC 9989 allows that, but receivers that follow " +
			"RFC 7489 may not. Move it there.",
		Reference: "RFC 7489 section 6.3",
	},
	"DMARC_PSD": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "domain text",
		Message: "The record says psd=y: {domain} is a public suffix, and names one label below it are " +
			"organizations of their own.",
		Reference: sectionDMARC,
	},
	"DMARC_REPORT_SIZE": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "tag text",
		Message:   "The size limit after the exclamation mark in {tag} was retired by RFC 9989. Remove it.",
		Reference: sectionDMARCRetired,
	},
	"DMARC_RFC7489_ALIGNMENT": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "listed text, organization text",
		Message: "Receivers that still follow RFC 7489 take {listed} as the organizational domain, by the " +
			"public suffix list; others take {organization}, so relaxed alignment may differ.",
		Reference: "RFC 7489 section 3.2",
	},
	"DMARC_RFC7489_DIFFERS": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "domain text, listed text, owner text",
		Message: "Receivers that still follow RFC 7489 look at {domain} and then, by the public suffix list, at " +
			"{listed}, and do not use the record of {owner}. Publish one at {domain} too.",
		Reference: "RFC 7489 section 3.2",
	},
	"DMARC_SP_IGNORED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "tags list, owner text, domain text, followed text",
		Message: "The {tags:tag|tags} {tags} {tags:has|have} no effect in the record at _dmarc.{owner}: names " +
			"below {domain} follow the record at _dmarc.{followed}.",
		Reference: sectionDMARC,
	},
	"DMARC_TAG_RETIRED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "tag text, default text",
		Message:   "The tag {tag} was retired by RFC 9989. Remove it[: {default} is the default].",
		Reference: sectionDMARCRetired,
	},
	"DMARC_TAG_UNKNOWN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "tag text",
		Message: "The tag {tag} does not exist in DMARC and is ignored.", Reference: sectionDMARC,
	},
	"DMARC_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "owner text, " + reasonArgs,
		Message: "_dmarc.{owner}" + couldNot + tryAgain, Reference: "RFC 9989 section 4.10.1",
	},
	"DMARC_DESTINATION_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "host text, owner text, failure code",
		Message: "Whether {host} accepts reports about {owner}" + couldNot, Reference: sectionDMARCExternal,
	},
	"DMARC_TOO_MANY_ADDRESSES": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "tag text, most number",
		Message: "The tag {tag} has more than {most} addresses; the others were not read.", Reference: sectionDMARC,
	},
	"DMARC_TOO_MANY_DESTINATIONS": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "domains number, most number",
		Message:   "Reports go to {domains} other domains; only the first {most} were asked whether they accept them.",
		Reference: sectionDMARCExternal,
	},
	"DMARC_WALK_INCOMPLETE": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: "domain text",
		Message: "The organizational domain could not be determined, because a name above {domain} could not be " +
			"looked up.",
		Reference: sectionDMARCWalk,
	},

	"DMARC_SUMMARY": {
		Args: "policy text, owner text, applied text",
		Message: "The policy for mail that fails is {policy}, from the record of {owner}.[ It is being tested " +
			"(t=y), so receivers apply {applied}.]",
	},
	"DMARC_SUMMARY_SEVERAL": {
		Message: "There are several DMARC records, so receivers use none of them.",
	},
	"DMARC_SUMMARY_UNKNOWN": {Message: "The DMARC record could not be looked up."},
	"DMARC_SUMMARY_MISSING": {Message: "Neither the domain nor its parents have a DMARC record."},
	"DMARC_SUMMARY_UNREADABLE": {
		Message: "There is a TXT record for DMARC, but receivers do not recognize it.",
	},
}

// reportURIRows are clauses on what is wrong with an address that reports go to.
var reportURIRows = finding.Rows{
	"REPORT_URI_CHARACTERS":        {Clause: "has spaces or characters that a URI cannot have"},
	"REPORT_URI_INVALID":           {Clause: "is not a URI"},
	"REPORT_URI_WITHOUT_MAILTO":    {Clause: "does not begin with mailto:"},
	"REPORT_URI_WITHOUT_HOST":      {Clause: "is not a URI with a host"},
	"REPORT_URI_WITHOUT_ADDRESS":   {Clause: "has no address behind mailto:"},
	"REPORT_URI_SEVERAL_ADDRESSES": {Clause: "is not one mail address"},
	"REPORT_URI_WITHOUT_DOMAIN":    {Clause: "has no domain behind the @ sign"},
	"REPORT_URI_OTHER_SCHEME":      {Clause: "is neither mailto nor https"},
}

const (
	sectionDKIM        = "RFC 6376 section 3.6.2.1"
	sectionDKIMKey     = "RFC 6376 section 3.6.1"
	sectionDKIMRecords = "RFC 6376 section 3.6.2.2"
	sectionDKIMTags    = "RFC 6376 section 3.2"
	sectionDKIMBits    = "RFC 8301 section 3.2"

	deadAlias = "{name} is an alias (CNAME) of {target}, where there is no key. Ask the service that you send with to " +
		"publish it there, or remove the alias if you no longer use that service."
)

// dkimRows are about the DKIM key of a selector, and about the search for keys without one.
var dkimRows = finding.Rows{
	"DKIM_HASH": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message:   "The h tag does not allow sha256, the only hash that may still be used. Add it, or remove the tag.",
		Reference: "RFC 8301 section 3.1",
	},
	"DKIM_KEY_ABSENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message:   "The record has no p tag and therefore no key. Add p= with the public key.",
		Reference: sectionDKIMKey,
	},
	"DKIM_KEY_INVALID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "problem code",
		Message:   "The p tag {problem}, so no signature verifies. Copy the whole public key again.",
		Reference: sectionDKIMKey,
	},
	"DKIM_ED25519_KEY_INVALID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "octets number",
		Message: "An Ed25519 key is 32 octets in base64, without any wrapping; this one has {octets}. Publish " +
			"the bare key.",
		Reference: "RFC 8463 section 4.2",
	},
	"DKIM_KEY_REVOKED": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message: "The p tag is empty: the key was revoked, and signatures with this selector fail. Sign with " +
			"another selector.",
		Reference: sectionDKIMKey,
	},
	"DKIM_KEY_TOO_SHORT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "bits number",
		Message:   "The key has {bits} bits, and verifiers reject keys under 1024 bits. Publish a 2048-bit key.",
		Reference: sectionDKIMBits,
	},
	"DKIM_KEY_TYPE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "type text",
		Message:   "The key type {type} does not exist, so verifiers ignore the key. Use rsa or ed25519.",
		Reference: sectionDKIMKey,
	},
	"DKIM_NAME_TOO_LONG": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "characters number",
		Message: "The selector and the domain make a name of {characters} characters, and DNS names have at " +
			"most 253. Use a shorter selector.",
		Reference: "RFC 1035 section 2.3.4",
	},
	"DKIM_SERVICE_TYPE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message:   "The s tag says that the key is not for mail. Use s=email, or remove the tag.",
		Reference: sectionDKIMKey,
	},
	"DKIM_SEVERAL_RECORDS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "records number",
		Message:   "The selector has {records} key records, and which one is used is undefined. Keep one.",
		Reference: sectionDKIMRecords,
	},
	"DKIM_SYNTAX": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "part text",
		Message: `The record has ["{part}"]{part?|a backslash}, which is not a tag with a value, so verifiers ` +
			"may reject the whole record. Correct it.",
		Reference: sectionDKIMTags,
	},
	"DKIM_TAG_TWICE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45, Args: "tag text",
		Message:   "The tag {tag} appears more than once, which makes the record invalid. Keep one.",
		Reference: sectionDKIMTags,
	},
	"DKIM_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message: "If a record has a v tag, it must come first and say DKIM1. Correct it.", Reference: sectionDKIMKey,
	},
	"DKIM_KEY_MISSING": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35, Args: "name text",
		Message: "There is no key at {name}. Check the selector, or publish the key there.", Reference: sectionDKIM,
	},
	"DKIM_TEST_MODE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Message: "The record says t=y, so verifiers treat signed mail like unsigned mail. Remove it when the " +
			"test is over.",
		Reference: sectionDKIMKey,
	},
	"DKIM_ALIAS_DEAD": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "name text, target text",
		Message: deadAlias, Reference: sectionDKIM,
	},
	"DKIM_EXTRA_RECORDS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "The selector has other TXT records besides the key, and which one is used is undefined. " +
			"Remove them.",
		Reference: sectionDKIMRecords,
	},
	"DKIM_KEY_LONG": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "bits number",
		Message: "The key has {bits} bits, and verifiers need not support keys over 4096 bits. Publish a " +
			"2048-bit key.",
		Reference: sectionDKIMBits,
	},
	"DKIM_KEY_SHORT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "bits number",
		Message: "The key has {bits} bits. Publish a 2048-bit key.", Reference: sectionDKIMBits,
	},
	"DKIM_NOT_A_KEY": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "record text",
		Message:   `The selector has a TXT record that is not a DKIM key: "{record}". Publish v=DKIM1; p=… there.`,
		Reference: sectionDKIMKey,
	},
	"DKIM_WILDCARD": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "Every selector answers with this record, so it says nothing about the one asked for. Remove " +
			"the wildcard record, or publish keys at their own selectors.",
		Reference: sectionDKIM,
	},
	"DKIM_WILDCARD_REVOKED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message:   "Every selector answers that its key was revoked, which is how a domain says that it signs no mail.",
		Reference: sectionDKIM,
	},
	"DKIM_ED25519": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message:   "Not every receiver verifies Ed25519. Sign with an RSA key at another selector too.",
		Reference: "RFC 8463 section 5",
	},
	"DKIM_STRICT_DOMAIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The record says t=s: the key may not sign for subdomains.", Reference: sectionDKIMKey,
	},
	"DKIM_TAG_RETIRED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message:   "The tag g was retired by RFC 6376; old verifiers may still narrow the key to it. Remove it.",
		Reference: "RFC 6376 appendix E",
	},
	"DKIM_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "name text, " + reasonArgs,
		Message: "The key at {name}" + couldNot + tryAgain,
		Clause:  "The key at {name}" + couldNot, Reference: sectionDKIM,
	},

	"DKIM_SELECTOR_NEEDED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "tried number, selectors list",
		Message: "[We tried {tried} common selectors and found {selectors:a key|keys} at {selectors}. Which keys " +
			"are in use cannot be seen from outside.]{selectors?|Keys cannot be listed from outside.} Enter the " +
			"selector, which is the s= value in the DKIM-Signature header of a mail from the domain.",
		Reference: sectionDKIM,
	},
	"DKIM_FOUND_UNUSABLE": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "selector text, issue sentence",
		Message: "At the selector {selector}: {issue}", Reference: sectionDKIMKey,
	},
	"DKIM_ALIAS_DEAD_SEARCHED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "name text, target text",
		Message: deadAlias, Reference: sectionDKIM,
	},
	"DKIM_WILDCARD_SEARCHED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Every selector answers with the same record, even one that nobody uses, so a key counts as " +
			"found only if it differs from that.",
		Reference: sectionDKIM,
	},
	"DKIM_WILDCARD_ALIAS": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "target text",
		Message:   "Every selector, even one that nobody uses, is an alias (CNAME) of {target}, where there is no key.",
		Reference: sectionDKIM,
	},
	"DKIM_SEARCH_INCOMPLETE": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args:      "selectors number, unanswered number, failure code",
		Message:   "Of the {selectors} selectors that large senders use, {unanswered}" + couldNot,
		Reference: sectionDKIM,
	},
	"DKIM_SEARCH_INCONCLUSIVE": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Message: "Whether every selector answers with a key could not be looked up, so those that were found " +
			"may say nothing.",
		Reference: sectionDKIM,
	},

	"DKIM_KEY_NOT_BASE64": {Clause: "is not valid base64"},
	"DKIM_KEY_INCOMPLETE": {Clause: "does not hold a complete RSA key"},
	"DKIM_KEY_OTHER_TYPE": {Clause: "holds a key that is not RSA, though k says rsa"},

	"DKIM_SUMMARY": {Args: "type text, bits number", Message: "DKIM key of type {type} with {bits} bits."},
	"DKIM_SUMMARY_SEARCHED": {
		Args: "selectors list",
		Message: "[{selectors:A key is|Keys are} published at {selectors}. A selector is needed to check the " +
			"key in use.]{selectors?|A selector is needed to check a DKIM public key.}",
	},
	"DKIM_SUMMARY_NAME_TOO_LONG": {Message: "The selector is too long for this domain."},
	"DKIM_SUMMARY_MISSING": {
		Args:    "alias flag",
		Message: "There is no DKIM key at this selector{alias?: it is an alias that leads nowhere}.",
	},
	"DKIM_SUMMARY_REVOKED":  {Message: "The DKIM key at this selector was revoked."},
	"DKIM_SUMMARY_UNUSABLE": {Message: "The DKIM record at this selector cannot be used."},
}

const (
	sectionSTSRecord = "RFC 8461 section 3.1"
	sectionSTSPolicy = "RFC 8461 section 3.2"
	sectionSTSFetch  = "RFC 8461 section 3.3"
	sectionSTSModes  = "RFC 8461 section 5"

	mxNotCovered = "The policy does not name the exchange {exchange}, so senders refuse to deliver there. Add an mx " +
		"line for it."
	sectionSTSMatch = "RFC 8461 section 4.1"
)

// mtaStsRows are about the MTA-STS record and the policy file.
var mtaStsRows = finding.Rows{
	"MTASTS_MX_NOT_COVERED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 75, Args: "exchange text",
		Message: mxNotCovered, Reference: sectionSTSMatch,
	},
	"MTASTS_MX_NOT_COVERED_YET": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 50, Args: "exchange text",
		Message: mxNotCovered, Reference: sectionSTSMatch,
	},
	"MTASTS_CERTIFICATE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "reason sentence",
		Message: "{reason} Senders accept the policy only over a valid certificate: renew it, or have it name " +
			"this host.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_HOST_ABSENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "host text",
		Message: "{host} has no address, so there is no policy. Serve it at " +
			"https://{host}/.well-known/mta-sts.txt, or remove the TXT record.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_ID": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "id text",
		Message: `The id "{id}" is not valid. Use up to 32 letters and digits.`, Reference: sectionSTSRecord,
	},
	"MTASTS_ID_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message: "The record has no id. Add one, such as id=20260101000000, and change it whenever the policy " +
			"changes.",
		Reference: sectionSTSRecord,
	},
	"MTASTS_KEY_ABSENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "key text",
		Message: "The policy has no {key}. Add that line.", Reference: sectionSTSPolicy,
	},
	"MTASTS_MX_LINE_ABSENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message: "The policy has no mx line. Add one for every mail exchange.", Reference: sectionSTSPolicy,
	},
	"MTASTS_MAX_AGE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "age text, most number",
		Message:   `The max_age "{age}" is not a number of seconds up to {most}. Correct it.`,
		Reference: sectionSTSPolicy,
	},
	"MTASTS_MEDIA_TYPE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message:   "The policy is not served as text/plain, so senders may refuse it. Set its Content-Type.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_MODE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "mode text",
		Message: `The mode "{mode}" does not exist. Use enforce, testing or none.`, Reference: sectionSTSPolicy,
	},
	"MTASTS_PATTERN": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "pattern text",
		Message: `The mx pattern "{pattern}" is not a hostname. An asterisk may only stand for the whole first ` +
			"label, as in *.example.com.",
		Reference: sectionSTSPolicy,
	},
	"MTASTS_POLICY_ABSENT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "status number",
		Message:   "The policy's address answers with status {status}, but only 200 counts. Serve the file there.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_POLICY_REDIRECT": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "status number",
		Message: "The policy's address answers with a redirect ({status}), which senders do not follow. Serve " +
			"the file there.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_POLICY_SYNTAX": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "number number, line text",
		Message:   `Line {number} of the policy, "{line}", is not a key, a colon and a value. Correct it.`,
		Reference: sectionSTSPolicy,
	},
	"MTASTS_POLICY_TOO_LONG": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message:   "The policy is longer than 64 KiB, which is all that senders read. Shorten it.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_POLICY_UNREACHABLE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "reason sentence",
		Message: "The policy could not be fetched[: {reason}]{reason?|.}", Reference: sectionSTSFetch,
	},
	"MTASTS_POLICY_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "version text",
		Message: `The policy has the version "{version}". It must be STSv1.`, Reference: sectionSTSPolicy,
	},
	"MTASTS_RECORD_SYNTAX": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "part text",
		Message: `"{part}" is not a tag with a value. Write v=STSv1; id=…;`, Reference: sectionSTSRecord,
	},
	"MTASTS_SEVERAL_RECORDS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "records number",
		Message:   "There are {records} MTA-STS records, so senders act as if there were no policy. Keep one.",
		Reference: sectionSTSRecord,
	},
	"MTASTS_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "record text",
		Message: `The TXT record "{record}" is not recognized as MTA-STS. It must begin with v=STSv1; in ` +
			"exactly this spelling.",
		Reference: sectionSTSRecord,
	},
	"MTASTS_HELLO_INTOLERANT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 40, Args: "host text",
		Message: "{host} answers only short TLS hellos, and current clients send longer ones. Update the server or the " +
			"firewall before it.",
		Reference: sectionSTSFetch,
	},
	"MTASTS_KEY_TWICE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "key text",
		Message:   "The policy has the key {key} more than once; only the first counts. Keep one.",
		Reference: sectionSTSPolicy,
	},
	"MTASTS_MAX_AGE_SHORT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message:   "The max_age is under a day, so the policy offers little protection. Use weeks, such as 1209600.",
		Reference: sectionSTSPolicy,
	},
	"MTASTS_TESTING": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "The mode is testing: senders report failures but deliver anyway. Use enforce once the reports " +
			"look right.",
		Reference: sectionSTSModes,
	},
	"MTASTS_VERSION_NOT_FIRST": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message:   "The policy does not begin with version: STSv1, as senders expect. Move that line to the top.",
		Reference: sectionSTSPolicy,
	},
	"MTASTS_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "domain text, receiver text",
		Message: "Without MTA-STS an attacker on the path can make senders deliver without encryption. Publish " +
			"a policy file and a TXT record at _mta-sts.{domain}.",
		Remedy: "[Serve the policy file at https://mta-sts.{receiver}/.well-known/mta-sts.txt first, then " +
			"publish this record. Change its id whenever the policy changes.]",
		Paste:     finding.Paste{Kind: finding.PasteDNS, Text: `[_mta-sts.{receiver}. IN TXT "v=STSv1; id=1"]`},
		Reference: sectionSTSRecord,
	},
	"MTASTS_NONE": {
		Severity: finding.Info, Group: finding.Note, Weight: 8,
		Message: "The mode is none: senders behave as if there were no policy.", Reference: sectionSTSModes,
	},
	"MTASTS_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "domain text, " + reasonArgs,
		Message: "_mta-sts.{domain}" + couldNot + tryAgain,
		Clause:  "_mta-sts.{domain}" + couldNot, Reference: sectionSTSRecord,
	},
	"MTASTS_HOST_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "host text, failure code",
		Message: "{host}" + couldNot, Reference: sectionSTSFetch,
	},
	"MTASTS_NOT_FINISHED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "reason sentence",
		Message:   "The policy could not be fetched[: {reason}]{reason?| before this run ran out of time.}",
		Reference: sectionSTSFetch,
	},
	"MTASTS_TOO_MANY_PATTERNS": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "most number",
		Message: "The policy has more than {most} mx lines; the others were not read.", Reference: sectionSTSPolicy,
	},

	"MTASTS_SUMMARY": {
		Args:    "mode text",
		Message: "The MTA-STS policy covers every mail exchange, in mode {mode}.",
	},
	"MTASTS_SUMMARY_OFF":      {Message: "The MTA-STS policy is switched off (mode none)."},
	"MTASTS_SUMMARY_FAULTY":   {Message: "The MTA-STS policy has errors."},
	"MTASTS_SUMMARY_UNUSABLE": {Message: "The MTA-STS record has no policy that senders can use."},
	"MTASTS_SUMMARY_UNKNOWN":  {Message: "MTA-STS could not be checked completely."},
	"MTASTS_SUMMARY_MISSING":  {Message: "The domain has no MTA-STS record."},
	"MTASTS_SUMMARY_SEVERAL": {
		Message: "There are several MTA-STS records, so senders use none of them.",
	},
}

const sectionTLSRPT = "RFC 8460 section 3"

// tlsRptRows are about the record that requests reports of failed TLS.
var tlsRptRows = finding.Rows{
	"TLSRPT_NO_ADDRESS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 25,
		Message:   "The record has no rua tag, so it requests no reports. Add rua=mailto:… or rua=https://….",
		Reference: sectionTLSRPT,
	},
	"TLSRPT_NO_USABLE_ADDRESS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 25,
		Message:   "None of the addresses in rua can be used. Use mailto:name@example.com or an https URL.",
		Reference: sectionTLSRPT,
	},
	"TLSRPT_SEVERAL_RECORDS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 25, Args: "records number",
		Message:   "There are {records} TLS reporting records, so senders use none of them. Keep one.",
		Reference: sectionTLSRPT,
	},
	"TLSRPT_VERSION": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 25, Args: "record text",
		Message: `The TXT record "{record}" is not recognized as TLS reporting. It must begin with v=TLSRPTv1; ` +
			"in exactly this spelling.",
		Reference: sectionTLSRPT,
	},
	"TLSRPT_SYNTAX": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "part text",
		Message:   `"{part}" is not a tag with a value. Write tag=value pairs, separated by semicolons.`,
		Reference: sectionTLSRPT,
	},
	"TLSRPT_URI_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "address text, problem code",
		Message: `The address "{address}" {problem}, so no reports go there. Use mailto:name@example.com or an ` +
			"https URL.",
		Reference: sectionTLSRPT,
	},
	"TLSRPT_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "domain text, receiver text",
		Message: "You will not learn when senders fail to use TLS. Publish v=TLSRPTv1; rua=mailto:… at " +
			"_smtp._tls.{domain}.",
		Remedy: "{receiver?Publish this record. The mailbox must exist.}",
		Paste: finding.Paste{Kind: finding.PasteDNS,
			Text: `[_smtp._tls.{receiver}. IN TXT "v=TLSRPTv1; rua=mailto:tls-reports@{receiver}"]`},
		Reference: sectionTLSRPT,
	},
	"TLSRPT_LOOKUP_FAILED": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "domain text, " + reasonArgs,
		Message: "_smtp._tls.{domain}" + couldNot + tryAgain,
		Clause:  "_smtp._tls.{domain}" + couldNot, Reference: sectionTLSRPT,
	},
	"TLSRPT_TOO_MANY_ADDRESSES": {
		Severity: finding.Warn, Group: finding.Note, Weight: 6, Args: "most number",
		Message: "The record has more than {most} addresses; the others were not read.", Reference: sectionTLSRPT,
	},

	"TLSRPT_SUMMARY":     {Args: "addresses number", Message: "TLS reports go to {addresses} addresses."},
	"TLSRPT_SUMMARY_ONE": {Message: "TLS reports go to one address."},
	"TLSRPT_SUMMARY_NONE": {
		Message: "The TLS reporting record names no address that can be used.",
	},
	"TLSRPT_SUMMARY_MISSING": {Message: "The domain has no TLS reporting record."},
	"TLSRPT_SUMMARY_SEVERAL": {
		Message: "There are several TLS reporting records, so senders use none of them.",
	},
}

const sectionBIMI = "draft-brand-indicators-for-message-identification"

// bimiRows are about the logo, which neither delivery nor forgery depends on.
var bimiRows = finding.Rows{
	"BIMI_DMARC_NOT_ENFORCED": {
		Severity: finding.Fail, Group: finding.Note, Weight: 3,
		Message: "Mail programs show a logo only if DMARC makes receivers act on forged mail. Publish " +
			"p=quarantine or p=reject, and no sp=none.",
		Reference: sectionBIMI,
	},
	"BIMI_EVIDENCE_INVALID": {
		Severity: finding.Fail, Group: finding.Note, Weight: 3, Args: "address text, problem code",
		Message:   `The address of the mark certificate, "{address}", {problem}. Use an https address.`,
		Reference: sectionBIMI,
	},
	"BIMI_LOGO_INVALID": {
		Severity: finding.Fail, Group: finding.Note, Weight: 3, Args: "address text, problem code",
		Message:   `The address of the logo, "{address}", {problem}. Use an https address of an SVG file.`,
		Reference: sectionBIMI,
	},
	"BIMI_NO_LOGO": {
		Severity: finding.Fail, Group: finding.Note, Weight: 3,
		Message:   "The record names no logo, so none is shown. Set l= to the https address of an SVG file.",
		Reference: sectionBIMI,
	},
	"BIMI_TAG_TWICE": {
		Severity: finding.Fail, Group: finding.Note, Weight: 3, Args: "tag text",
		Message: "The tag {tag} appears more than once. Keep one.", Reference: sectionBIMI,
	},
	"BIMI_LOGO_FORMAT": {
		Severity: finding.Warn, Group: finding.Note, Weight: 3,
		Message:   "The address of the logo does not end in .svg or .svgz, and no other format is shown.",
		Reference: sectionBIMI,
	},
	"BIMI_SYNTAX": {
		Severity: finding.Warn, Group: finding.Note, Weight: 3, Args: "part text",
		Message:   `"{part}" is not a tag with a value. Write tag=value pairs, separated by semicolons.`,
		Reference: sectionBIMI,
	},
	"BIMI_DECLINED": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message: "The record asks for no logo to be shown: its l tag is empty.", Reference: sectionBIMI,
	},
	"BIMI_NO_EVIDENCE": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message: "The record names no mark certificate (a=), without which Gmail and Apple Mail, among others, " +
			"show no logo.",
		Reference: sectionBIMI,
	},

	"BIMI_URL_NOT_ONE":    {Clause: "is not a single URL"},
	"BIMI_URL_NOT_HTTPS":  {Clause: "does not begin with https://"},
	"BIMI_URL_NOT_PUBLIC": {Clause: "names no public host"},

	"BIMI_SUMMARY": {
		Message: "The domain offers a logo, with a certificate for it; neither was fetched.",
	},
	"BIMI_SUMMARY_NO_EVIDENCE": {
		Message: "The domain offers a logo, without a certificate for it.",
	},
	"BIMI_SUMMARY_NOT_SHOWN": {
		Message: "The domain offers a logo that mail programs do not show.",
	},
	"BIMI_SUMMARY_DECLINED": {Message: "The domain asks for no logo to be shown beside its mail."},
	"BIMI_SEVERAL_RECORDS": {
		Args:    "records number",
		Message: "There are {records} BIMI records, so mail programs use none of them. Keep one.",
	},
	"BIMI_VERSION": {
		Args: "record text",
		Message: `The TXT record "{record}" is not recognized as BIMI. It must begin with v=BIMI1; in exactly ` +
			"this spelling.",
	},
	"BIMI_LOOKUP_FAILED": {Args: "name text, failure code", Message: "{name}" + couldNot},
}
