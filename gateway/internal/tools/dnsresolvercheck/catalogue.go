package dnsresolvercheck

import (
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codeAgree           = "RESOLVERS_AGREE"
	codeAgreeAbsent     = "RESOLVERS_AGREE_ON_ABSENCE"
	codePartial         = "SOME_RESOLVERS_FAILED"
	codeVariation       = "ANSWERS_VARY"
	codeMixedPresence   = "MISSING_AT_SOME_RESOLVERS"
	codeConflict        = "RESOLVERS_CONFLICT"
	codeChange          = "CHANGE_IN_PROGRESS"
	codeOneAnswered     = "ONLY_ONE_ANSWERED"
	codeNotCompared     = "NOTHING_TO_COMPARE"
	codeUnresolvable    = "UNRESOLVABLE"
	codeNobodyAnswered  = "NO_RESOLVER_ANSWERED"
	codeDNSSEC          = "DNSSEC_FAILS"
	codeDNSSECSome      = "DNSSEC_FAILS_AT_SOME_RESOLVERS"
	codeUnreachable     = "NAME_SERVERS_UNREACHABLE"
	codeUnreachableSome = "NAME_SERVERS_UNREACHABLE_FOR_SOME"
	codeOwnDiffer       = "NAME_SERVERS_DIFFER"
	codeOwnOther        = "NAME_SERVERS_ANSWER_DIFFERENTLY"
	codeFiltered        = "NAME_FILTERED"
	codeResolverFailed  = "PUBLIC_RESOLVER_FAILED"
	codeNotAsked        = "RESOLVER_NOT_ASKED"
	codeDenial          = "DENIAL_CONTRADICTS"

	// Sentences of the summary that are neither a conclusion nor a finding.
	codeFilteredHere      = "NAME_MAY_BE_FILTERED"
	codeNoneUsable        = "NO_USABLE_ANSWER"
	codeOnly              = "ONLY_THESE_ANSWERED"
	codeDNSSECSummary     = "DNSSEC_FAILURE_EXPLAINED"
	codeUnreachableByAll  = "NO_RESOLVER_REACHES_SERVERS"
	codeUnreachableBySome = "SOME_RESOLVERS_REACH_NO_SERVER"
	codeOlder             = "OLDER_ANSWER_KEPT"
	codeOlderThanOwn      = "OLDER_THAN_OWN_SERVERS"
	codeSomeOlder         = "SOME_OLDER_THAN_OWN_SERVERS"
	codeOwnFailed         = "OWN_SERVERS_FAILED"
	codeOwnAnswered       = "OWN_SERVERS_ANSWERED"
	codeOwnUnsigned       = "OWN_SERVERS_NEED_SIGNATURES"
	codeOwnReachable      = "OWN_SERVERS_REACHABLE_FROM_HERE"
	codeOwnBalanced       = "OWN_SERVERS_BALANCE_LOAD"
	codeOwnSame           = "OWN_SERVERS_SAY_THE_SAME"
	codeOwnAsSome         = "SOME_SAY_THE_SAME_AS_OWN_SERVERS"
	codeOwnOtherAnswer    = "OWN_SERVERS_SAY_OTHERWISE"
	codeOwnNotAll         = "NOT_ALL_SAY_THE_SAME_AS_OWN_SERVERS"

	// How a name is absent.
	codeNoRecords     = "HAS_NO_RECORDS"
	codeNoName        = "DOES_NOT_EXIST"
	codeAbsenceVaries = "ABSENCE_FOR_DIFFERENT_REASONS"

	// Why a name server of the domain has no answer.
	codeServerNotFound  = "SERVER_ADDRESS_NOT_FOUND"
	codeServerNotPublic = "AUTHORITY_ADDRESS_NOT_PUBLIC"
	codeServerNoAddress = "AUTHORITY_WITHOUT_ADDRESS"
	codeServerLame      = "SERVER_" + codeLame
	codeNotSent         = "QUERY_NOT_SENT"
)

const (
	extendedErrors = "https://www.rfc-editor.org/rfc/rfc8914"

	remedySign = "Sign the zone again, or make the DS record at the registry match one of the zone's keys."

	messageDNSSEC = "{domain} fails DNSSEC validation at {all?all four resolvers|}[{resolvers}]: {errors}."

	messageUnreachable = "The name servers of {domain} are out of reach for {all?all four resolvers|}[{resolvers}]: " +
		"{errors}."

	messageNoAnswer = "No resolver could answer{own?, although the domain's own name servers did|}" +
		"{neither?, and neither could the domain's own name servers|}."

	argsFailure = "domain text, all flag, resolvers list, errors codes"
)

var rows = finding.Join(conclusions, problems, explanations, resolverReasons, serverReasons)

var conclusions = finding.Rows{
	codeAgree: {
		State:   finding.OK,
		Args:    "domain text, type text",
		Message: "All four resolvers return the same {type} records for {domain}.",
		Brief:   "All agree",
		Meaning: "Users of all four resolvers get the same answer, so a recent change has spread.",
	},
	codePartial: {
		State:   finding.Warned,
		Args:    "of text, type text, absence code",
		Message: "The resolvers that answered [say that {absence}][return the same {type} records for {of}].",
		Brief:   "Some failed",
		Meaning: "Users of the resolvers that failed may not reach the domain. Try again to see whether it lasts.",
	},
	codeVariation: {
		State: finding.Noted,
		Args:  "domain text, type text, changing flag",
		Message: "The resolvers return different {type} records for {domain}{changing?: a change seems to be in progress|" +
			", as is usual for names that are served from several places (CDN, load balancing)}.",
		Brief:   "Answers vary",
		Meaning: "If the domain is served from one place only, compare the answers with its zone.",
	},
}

var problems = finding.Rows{
	codeAgreeAbsent: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:    "absence code",
		Message: "All four resolvers say that {absence}.",
		Brief:   "No such records",
		Meaning: "No resolver returns such a record. If there should be one, add it to the zone.",
	},
	codeMixedPresence: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args: "domain text, type text, with list, without list, changing flag",
		Message: "{with} {with:returns|return} {type} records for {domain}; {without} {without:does|do} " +
			"not{changing?: a change seems to be in progress|}.",
		Brief:   "Missing for some",
		Meaning: "Only some people can find the domain. " + remedyVersions,
	},
	codeConflict: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 75,
		Args: "domain text, type text, changing flag",
		Message: "The resolvers return different {type} records for {domain}, even when asked again a second " +
			"later{changing?: a change seems to be in progress|}.",
		Brief:   "Resolvers conflict",
		Meaning: "People get different answers, depending on their resolver. " + remedyVersions,
		Remedy:  remedyVersions,
	},
	codeOwnDiffer: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 62,
		Args: "type text, others list, first text",
		Message: "The domain's own servers do not have the same {type} records: {others} {others:differs|differ} from " +
			"{first}.",
		Brief:   "Name servers differ",
		Meaning: "People get one answer or the other, depending on the server that is asked. " + remedySerial,
		Remedy:  remedySerial, Reference: "https://www.rfc-editor.org/rfc/rfc1034#section-4.3.5",
	},
	codeOwnOther: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 15,
		Args:    "agreed sentence, resolvers list",
		Message: "[{agreed} ]The domain's own name servers answer differently from {resolvers}.",
		Brief:   "Servers differ",
		Meaning: "After a change, wait until the resolvers forget the older answer. Servers that answer by location " +
			"may differ for good.",
	},
	codeChange: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 19,
		Args: "domain text, type text, older list, time seconds",
		Message: "The {type} records of {domain} are being changed: {older} may still hold the older answer, for at most " +
			"{time}.",
		Brief:   "Change in progress",
		Meaning: "No action is needed. Wait until then.",
	},
	codeOneAnswered: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 18,
		Args:    "only list",
		Message: "Of the four resolvers only {only} answered.",
		Brief:   "Only one answered",
		Meaning: "Users of the other resolvers may not reach the domain. Try again to see whether it lasts.",
	},
	codeNotCompared: {
		State: finding.Unknown, Severity: finding.Warn, Group: finding.Note, Weight: 18,
		Args:    "only list",
		Message: "Only {only} answered, so there is nothing to compare its answer with.",
		Brief:   "Only one answered",
		Meaning: "Try again to see whether the other resolvers answer.",
	},
	codeUnresolvable: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args: "own flag, neither flag", Message: messageNoAnswer,
		Brief:   "Does not resolve",
		Meaning: "Nobody can reach the domain by its name. " + remedyUnresolvable,
		Remedy:  remedyUnresolvable,
	},
	codeNobodyAnswered: {
		State: finding.Unknown, Severity: finding.Warn, Group: finding.Note, Weight: 17,
		Args: "own flag, neither flag", Message: messageNoAnswer,
		Brief:   "No answer",
		Meaning: "Try again. If the other checks fail too, this service may have lost its connection.",
	},
	codeDNSSEC: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Args: argsFailure, Message: messageDNSSEC,
		Brief:   "DNSSEC fails",
		Meaning: "Users of resolvers that validate cannot reach the domain. " + remedySign,
		Remedy:  remedySign, Reference: extendedErrors,
	},
	codeDNSSECSome: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 80,
		Args: argsFailure, Message: messageDNSSEC, Remedy: remedySign, Reference: extendedErrors,
	},
	codeUnreachable: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Args: argsFailure, Message: messageUnreachable,
		Brief:   "Servers unreachable",
		Meaning: "Nobody can look the domain up. " + remedyReach,
		Remedy:  remedyReach, Reference: extendedErrors,
	},
	codeUnreachableSome: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args: argsFailure, Message: messageUnreachable,
		Remedy:    "Check that firewalls let port 53 through over UDP and TCP, from everywhere.",
		Reference: extendedErrors,
	},
	codeDenial: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 68,
		Args: "domain text, record text",
		Message: "The zone of {domain} denies by its own record what it has: “{record}”. Resolvers that answer from such " +
			"records do not find it.",
		Remedy:    "Sign the zone again, so that its NSEC or NSEC3 records match its names.",
		Reference: "https://www.rfc-editor.org/rfc/rfc8198#section-5",
	},
	codeFiltered: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 19,
		Args: "domain text, resolvers list, others list, values list, more rest",
		Message: "{resolvers} {resolvers:appears|appear} to block {domain}[; {others} {others:returns|return} " +
			"{values+more}].",
		Brief: "Blocked by some",
		Meaning: "Users of {resolvers} cannot reach it, most likely because a filter list has it. If the name is " +
			"yours, ask the operator to remove it.",
		Reference: extendedErrors,
	},
	codeResolverFailed: {
		Severity: finding.Warn, Group: finding.Note, Weight: 15,
		Args: "resolver text, reason code", Message: "{resolver} {reason}.",
	},
	codeNotAsked: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "resolvers list",
		Message: "{resolvers} could not be asked: this service cannot make connections at the moment.",
	},
}

const (
	remedyVersions = "Check that all name servers of the domain have the same version of the zone."
	remedySerial   = "Check that the changed zone has reached all of them: the serial number in the SOA record must " +
		"increase with every change."
	remedyUnresolvable = "Check that the domain's name servers answer, and that its DNSSEC signatures are valid."
	remedyReach        = "Check that the name servers run, that firewalls let port 53 through over UDP and TCP, and " +
		"that the registry lists the right ones."
)

// explanations are the further sentences of the summary.
var explanations = finding.Rows{
	codeFilteredHere: {Args: "resolvers list", Message: "{resolvers} may be filtering this name."},
	codeNoneUsable:   {Message: "None of the four resolvers gave a usable answer."},
	codeOnly:         {Args: "only list", Message: "Only {only} answered."},
	codeDNSSECSummary: {
		Args: "domain text, resolvers list, errors codes, all flag, validated list, unvalidated list",
		Message: "{domain} fails DNSSEC validation[ at {resolvers}]: {errors}{all?. None of the four resolvers returns its " +
			"records|}[; {validated} gave a validated answer][; {unvalidated} answered without validation].",
	},
	codeUnreachableByAll: {
		Args: "domain text, errors codes", Message: "No resolver can reach the name servers of {domain}: {errors}.",
	},
	codeUnreachableBySome: {
		Args:    "domain text, resolvers list, errors codes",
		Message: "{resolvers} cannot reach the name servers of {domain}: {errors}.",
	},
	codeOlder: {
		Args: "older list, time seconds", Message: "{older} may still hold the older answer, for at most {time}.",
	},
	codeOlderThanOwn: {
		Args: "older list, time seconds",
		Message: "The domain's own servers already give a different answer: {older} may still hold the older one, for at " +
			"most {time}.",
	},
	codeSomeOlder: {
		Args: "same list, older list, time seconds",
		Message: "{same} {same:answers|answer} as the domain's own servers do; {older} may still hold the older " +
			"answer, for at most {time}.",
	},
	codeOwnFailed:   {Message: "The domain's own servers gave this service no usable answer either."},
	codeOwnAnswered: {Message: "The domain's own servers answered this service."},
	codeOwnUnsigned: {
		Message: "The domain's own servers do answer: what needs repair is its signatures, or its DS record at the registry.",
	},
	codeOwnReachable: {
		Message: "The domain's own servers answered this service, so they may be reachable from some networks only.",
	},
	codeOwnBalanced: {
		Message: "The domain's own servers gave this service different answers, as load-balanced servers do.",
	},
	codeOwnSame:   {Message: "The domain's own servers say the same."},
	codeOwnAsSome: {Args: "same list", Message: "{same} {same:answers|answer} as the domain's own servers do."},
	codeOwnOtherAnswer: {
		Args: "place flag",
		Message: "The domain's own servers gave this service a different answer{place?: after a change, or because they " +
			"answer by location|}.",
	},
	codeOwnNotAll: {
		Args:    "same list, other list",
		Message: "{same} {same:answers|answer} as the domain's own servers do; {other} {other:does|do} not.",
	},

	codeNoRecords: {Args: "domain text, type text", Clause: "{domain} has no {type} records"},
	codeNoName:    {Args: "domain text", Clause: "{domain} does not exist"},
	codeAbsenceVaries: {
		Args: "domain text, type text, gone list, empty list",
		Clause: "{domain} has no {type} records. They give different reasons: the name does not exist ({gone}), or it " +
			"exists without such records ({empty})",
	},

	"EDE_6":  {Clause: "signatures do not verify (EDE 6)"},
	"EDE_7":  {Clause: "signature expired (EDE 7)"},
	"EDE_8":  {Clause: "signature not yet valid (EDE 8)"},
	"EDE_9":  {Clause: "no DNSKEY matches the DS record (EDE 9)"},
	"EDE_10": {Clause: "signatures are missing (EDE 10)"},
	"EDE_11": {Clause: "no DNSKEY is a zone key (EDE 11)"},
	"EDE_12": {Clause: "the proof that something is absent is missing (EDE 12)"},
	"EDE_22": {Clause: "none of them answers (EDE 22)"},
	"EDE_23": {Clause: "network error (EDE 23)"},
}

// resolverReasons say what went wrong at a resolver, by the code of the lookup.
var resolverReasons = finding.Rows{
	dnsclient.CodeServFail:    {Clause: "failed to resolve the name (SERVFAIL)"},
	dnsclient.CodeRefused:     {Clause: "refused the query (REFUSED)"},
	dnsclient.CodeFormErr:     {Clause: "could not understand the query (FORMERR)"},
	dnsclient.CodeNotImp:      {Clause: "does not support this kind of query (NOTIMP)"},
	dnsclient.CodeBadResp:     {Clause: "gave an invalid answer"},
	dnsclient.CodeTimeout:     {Clause: "did not answer in time"},
	dnsclient.CodeConnRefused: {Clause: "could not be reached"},
}

// serverReasons say why a name server of the domain has no usable answer: the code of the lookup after SERVER_.
var serverReasons = finding.Rows{
	codeServerLame:                        {Message: "It does not answer as a server of this zone (lame delegation)."},
	"SERVER_" + dnsclient.CodeServFail:    {Message: "It failed to answer."},
	"SERVER_" + dnsclient.CodeRefused:     {Message: "It refuses to answer for this name."},
	"SERVER_" + dnsclient.CodeFormErr:     {Message: "It could not understand the query."},
	"SERVER_" + dnsclient.CodeNotImp:      {Message: "It does not support this kind of query."},
	"SERVER_" + dnsclient.CodeBadResp:     {Message: "Its answer is invalid."},
	"SERVER_" + dnsclient.CodeTimeout:     {Message: "It did not answer in time."},
	"SERVER_" + dnsclient.CodeConnRefused: {Message: "It could not be reached."},
	codeNotSent:                           {Message: "This service cannot make connections at the moment."},
	codeServerNotFound:                    {Message: "Its address could not be found."},
	codeServerNotPublic:                   {Message: "Its address is not public, or this service may not query it."},
	codeServerNoAddress:                   {Message: "It has no address."},
}
