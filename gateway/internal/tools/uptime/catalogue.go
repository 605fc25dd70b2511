package uptime

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. Most of its findings are those of package webview and of failures.
const (
	codeUp              = "UP"
	codeSlow            = "UP_SLOW"
	codeDown            = "DOWN"
	codeNoAddress       = "NO_ADDRESS"
	codeNoName          = "NAME_NOT_FOUND"
	codeChallengedError = "CHALLENGED_WITH_ERROR"
	codeOneFamilyDown   = "ONE_FAMILY_DOWN"
	codeFamilyDown      = "FAMILY_DOWN"
	codeAddressesDown   = "SOME_ADDRESSES_DOWN"
	codeAddressDown     = "ADDRESS_DOWN"
	codeRedirects       = "REDIRECTS_FAIL"
	codeNotFollowed     = "REDIRECTS_NOT_FOLLOWED"
	codeAddressesDiffer = "ADDRESSES_DIFFER"
	codeDiffers         = "ANSWERS_DIFFER"
	codeNoIPv4          = "NO_IPV4"
	codeUnlooked        = "FAMILY_NOT_LOOKED_UP"
	codeUnchecked       = "FAMILY_NOT_CHECKED"

	// Those of steps only.
	codeSilent  = "NO_ANSWER_YET"
	codeAnswers = "ANSWERS_SO_FAR"

	// Why a site is down, beside failures.
	downStatus   = "IT_ANSWERS"
	downFamilies = "ANSWERS_OVER_NO_FAMILY"

	// What to do about it.
	adviceUnreached = "CHECK_SERVER_AND_FIREWALL"
	adviceRefused   = "START_WEB_SERVER"
	adviceHangs     = "SERVER_HANGS"
	adviceTLS       = "CHECK_TLS"
	adviceLog       = "CHECK_LOG"
	adviceError     = "CHECK_ERROR"
	adviceEach      = "CHECK_EACH_FAMILY"

	// What is wrong with an answer, in the fields reason.
	saidStatus    = "SITE_ANSWERED"
	saidChallenge = "SITE_CHALLENGES"
	saidOdd       = "SITE_ANSWERED_WITH_LOCATIONS"
	saidRedirect  = "REDIRECT_FAILED"
	saidBlocked   = "REDIRECT_BLOCKED"
	saidHello     = "SERVER_HELLO_INTOLERANT"
	overFamily    = "OVER_FAMILY"
	atAddresses   = "AT_ADDRESSES"
	saidShortage  = "FAMILY_SHORTAGE"
	saidNoFamily  = "NO_ADDRESS_OF_FAMILY"
	saidUnlooked  = "FAMILY_LOOKUP_FAILED"
)

var rows = finding.Join(
	webview.Rows.Only(webview.CodeSlow, webview.CodeChallenge, webview.CodeServerError, webview.CodeClientError,
		webview.CodeRefused, webview.CodeRefusedCert, webview.CodeHello),
	webview.FailureRows().Without(codeNoAddress), // which this tool words for a site
	webview.StatusRows, webview.NoteRows, webview.HTTP3Rows, webview.RepairRows, conclusions, problems, reasons, advice,
).WithClauses(fault.Rows)

var conclusions = finding.Rows{
	codeUp: {
		State: finding.OK, Args: "host text, answer text, families list",
		Message: "{host} is up: it answers {answer} over {families}.",
		Brief:   "Up",
		Meaning: "The site answered just now, from our server. It may differ elsewhere or later.",
	},
	codeSlow: {
		State: finding.Warned, Args: "host text, answer text, took duration",
		Message: "{host} is up but slow: it answers {answer} after {took}.",
		Brief:   "Up, but slow",
		Meaning: "Visitors wait that long too. Check the load and the log of the server.",
	},
	codeDown: {
		State: finding.Failed, Args: "host text, reason code, advice sentence, means sentence",
		Message: "{host} is down: {reason}.",
		Brief:   "Down",
		Meaning: "[{means}][{advice}]",
	},
	codeChallengedError: {
		State: finding.Unknown, Args: "host text, answer text, vendor text",
		Message: "Whether {host} is up is not known: {vendor} answers {answer} with a bot challenge.",
		Brief:   "Bot challenge",
		Meaning: "{vendor} asks visitors to prove that they are human, which this service cannot do. Open the site in " +
			"a browser to see whether it works.",
	},
	codeOneFamilyDown: {
		State: finding.Warned, Args: "host text, up list, down list",
		Message: "{host} answers over {up}, but not over {down}.",
		Brief:   "One family down",
		Meaning: "Some visitors wait or do not get through. " + remedyAddress,
	},
	codeAddressesDown: {
		State: finding.Warned, Args: "host text, addresses list",
		Message: "{host} answers, but not at {addresses}.",
		Brief:   "An address is down",
		Meaning: "Some visitors wait or do not get through. " + remedyAddress,
	},
	codeRedirects: {
		State: finding.Warned, Args: "host text, reason code",
		Message: "{host} answers, but no page loads: {reason}.",
		Brief:   "Redirects fail",
		Meaning: "Visitors see an error. Correct that redirect; the redirect check shows each step.",
	},
	codeNotFollowed: {
		State: finding.Unknown, Args: "host text",
		Message: "{host} answers, but this check did not follow its redirects to the end.",
		Brief:   "Not finished",
		Meaning: "Open the site in a browser, or check the URL that the redirects lead to.",
	},
	codeAddressesDiffer: {
		State: finding.Warned, Args: "host text",
		Message: "{host} answers differently at some of its addresses.",
		Brief:   "Answers differ",
		Meaning: "What visitors see depends on the address that they reach. Give all servers the same content and settings.",
	},
	codeSilent: {
		State: finding.Unknown, Args: "host text", Message: "No answer so far from {host}; still trying.",
		Brief: "No answer so far",
	},
	codeAnswers: {
		State: finding.Noted, Args: "host text, answer text", Message: "{host} answers {answer} so far; still checking.",
		Brief: "Answers so far",
	},
}

const remedyAddress = "Repair the server there, or remove its address from the DNS."

var problems = finding.Rows{
	codeNoAddress: { // A lookup explains more: of the two, its sentence is that of a report.
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 94,
		Args:    "host text",
		Message: "{host} has no address in the DNS.",
		Brief:   "No address",
		Meaning: "No website can be reached by this name. Add A and AAAA records if it should have one; a name for mail " +
			"only needs none.",
		Remedy: "Add A and AAAA records if the name should have a website.",
	},
	codeFamilyDown: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 75,
		Args: "of text, family text, reason sentence", Message: "{of} does not work over {family}. {reason}",
		Remedy: remedyAddress,
	},
	codeAddressDown: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Args: "of text, address text, reason sentence", Message: "{of} does not work at {address}. {reason}",
		Remedy: remedyAddress,
	},
	codeDiffers: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args: "of text, address text, reason sentence", Message: "{of} answers differently at {address}. {reason}",
	},
	codeNoIPv4: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Args: "host text", Message: "{host} has no IPv4 address, so visitors without IPv6 cannot reach it.",
		Remedy: "Add an A record.",
	},
	codeUnlooked: {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args: "host text, family text", Message: "It is not known whether {host} has {family} addresses: the lookup failed.",
	},
	codeUnchecked: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "of text, by text, reason sentence", Message: "{of} was not checked over {by}. {reason}",
	},
}

// advice are sentences on what to do first about a site that is down.
var advice = finding.Rows{
	adviceUnreached: {Message: "Check that the server runs and that no firewall drops the packets."},
	adviceRefused: {Message: "No program listens on this port, or a firewall rejects the connection. Start the web " +
		"server."},
	adviceHangs: {Message: "Probably it is overloaded, or the program behind it hangs. Check its load and its log."},
	adviceTLS:   {Message: "The server is reachable, but TLS fails. Check its TLS settings."},
	adviceLog: {Message: "The program behind the server may have crashed, or another kind of server listens there. " +
		"Check its log."},
	adviceError: {Message: "Visitors see this error too. Look for it in the server's log."},
	adviceEach:  {Message: "The findings say what fails over each of them."},
}

// reasons are parts of other sentences, and what the fields reason say.
var reasons = finding.Rows{
	downStatus:   {Args: "answer text", Clause: "it answers {answer}"},
	downFamilies: {Clause: "it answers neither over IPv4 nor over IPv6"},

	saidStatus: {Args: "answer text", Message: "The server answered {answer}."},
	saidChallenge: {
		Args: "answer text, vendor text",
		Message: "The server answered {answer}. {vendor} asks visitors to prove that they are human, which this service " +
			"cannot do. The site itself may be fine.",
	},
	saidOdd: {
		Args:    "answer text",
		Message: "The server answered {answer} with conflicting Location headers, so browsers show an error.",
		Clause:  "its answer has conflicting Location headers",
	},
	saidRedirect: {
		Args:    "failure sentence",
		Message: "A redirect could not be followed[: {failure}]{failure?|.}",
		Clause:  "a redirect leads to a URL that does not answer",
	},
	saidBlocked: {
		Message: "The site redirects to a URL that this service does not visit, because it is not public or " +
			"contains a user name.",
		Clause: "a redirect leads to a URL that is not public or contains a user name",
	},
	saidHello:   {Message: "The server answers only short TLS hellos, and current browsers send longer ones."},
	overFamily:  {Args: "by text, said sentence", Message: "Over {by}: {said}"},
	atAddresses: {Args: "addresses list, said sentence", Message: "At {addresses}: {said}"},

	saidShortage: {Args: "by text", Message: "This service cannot make connections at the moment over {by}."},
	saidNoFamily: {Args: "host text, by text", Message: "{host} has no {by} address."},
	saidUnlooked: {
		Args: "host text, by text", Message: "It is not known whether {host} has {by} addresses: the lookup failed."},
}
