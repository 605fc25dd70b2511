package redirectchecker

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. The others are those of package webview.
const (
	codeDirect     = "NO_REDIRECT"
	codeRedirected = "REDIRECTED"
	codeToHTTP     = "HTTPS_TO_HTTP"
	codeMany       = "MANY_REDIRECTS"
	codeRepaired   = "LOCATION_REPAIRED"

	// Conclusions on a chain that leads to an answer.
	codeViaHTTP         = "REDIRECTED_VIA_HTTP"
	codeViaUserName     = "REDIRECTED_VIA_USER_NAME"
	codeOften           = "REDIRECTED_OFTEN"
	codeEndsPlain       = "ENDS_UNENCRYPTED"
	codeEndsSlowly      = "ENDS_SLOWLY"
	codeEndsChallenged  = "ENDS_AT_CHALLENGE"
	codeEndsAtError     = "ENDS_AT_ERROR"
	codeEndsAtFault     = "ENDS_AT_SERVER_ERROR"
	codeEndsRefused     = "ENDS_REFUSED"
	codeEndsConflicting = "ENDS_WITH_LOCATION_CONFLICT"

	// Conclusions on a chain that ended where a finding of the same kind may also be about a step on the way.
	codeEndedAtUserName = "ENDED_AT_USER_NAME"
	codeEndedAtConflict = "ENDED_AT_LOCATION_CONFLICT"

	// The sentences of the summary.
	sumNone       = "NO_REDIRECT_FOLLOWED"
	sumOne        = "ONE_REDIRECT_FOLLOWED"
	sumFollowed   = "REDIRECTS_FOLLOWED"
	sumAnswers    = "LAST_URL_ANSWERS"
	sumLoop       = "NEXT_URL_WAS_VISITED"
	sumTooMany    = "REDIRECTS_ONCE_MORE"
	sumNoLocation = "LOCATION_MISSING_OR_BLANK"
	sumConflict   = "LOCATIONS_NAMED"
	sumInvalid    = "LOCATION_NOT_VALID"
	sumScheme     = "LOCATION_OF_OTHER_SCHEME"
	sumDeadline   = "OUT_OF_TIME"
	sumNotVisited = "NEXT_URL_NOT_VISITED"
	sumUserName   = "NEXT_URL_WITH_USER_NAME"
	sumNotPublic  = "NEXT_URL_NOT_PUBLIC"

	// The status texts of a hop that was not visited.
	hopNotPublic    = "HOP_NOT_PUBLIC"
	hopWithUserName = "HOP_WITH_USER_NAME" // #nosec G101 -- a code

	// How the chain went.
	wayDirect     = "ANSWERS_WITHOUT_REDIRECT"
	wayRedirected = "LEADS_TO_ANSWER"
	wayUnfinished = "LEADS_TO_NO_PAGE"
)

var rows = finding.Join(
	webview.Rows.Only(webview.CodePlain, webview.CodeSlow, webview.CodeChallenge, webview.CodeClientError,
		webview.CodeRefused, webview.CodeServerError, webview.CodeHello),
	webview.FailureRows(), webview.StatusRows, webview.NoteRows, webview.RepairRows, conclusions, problems, summaries,
).WithClauses(fault.Rows)

// How a chain went, with a redirect, without one, and either way.
const (
	direct     = "{site} answers {answer} without a redirect"
	redirected = "{redirects} {redirects:redirect leads|redirects lead} from {site} to {url}, which answers {answer}"
	answered   = "[{redirects} {redirects:redirect leads|redirects lead} from ]{site}[ to {url}, which] answers {answer}" +
		"{url?| without a redirect}"

	directArgs     = "site text, answer text"
	redirectedArgs = "redirects number, site text, url text, answer text"
)

var conclusions = finding.Rows{
	codeDirect:     {State: finding.OK, Args: directArgs, Message: direct + ".", Brief: "No redirect"},
	codeRedirected: {State: finding.OK, Args: redirectedArgs, Message: redirected + ".", Brief: "Redirected"},
	codeViaHTTP: {
		State: finding.Warned, Args: "way code",
		Message: "{way}, but a redirect leads back to unencrypted HTTP.",
		Brief:   "Redirects over HTTP",
		Meaning: "Anyone on the way can change that redirect. Redirect to https URLs only.",
	},
	codeViaUserName: {
		State: finding.Warned, Args: "way code",
		Message: "{way}, but a redirect has a user name in its URL.",
		Brief:   "User name in redirect",
		Meaning: "Browsers may warn about such a URL. Leave the user name out of the Location.",
	},
	codeOften: {
		State: finding.Warned, Args: "way code",
		Message: "{way}. Each redirect costs time.",
		Brief:   "Many redirects",
		Meaning: "Redirect straight to the last URL.",
	},
	codeEndsPlain: {
		State: finding.Warned, Args: "way code",
		Message: "{way}; the page is not encrypted.",
		Brief:   "Not encrypted",
		Meaning: "Anyone on the way can read and change the page. Redirect every http URL to https.",
	},
	codeEndsSlowly: {
		State: finding.Warned, Args: "way code, took duration",
		Message: "{way}, but only after {took}.",
		Brief:   "Slow",
		Meaning: "Visitors wait for all redirects before they see anything.",
	},
	codeEndsChallenged: {
		State: finding.Warned, Args: "way code, vendor text",
		Message: "{way}: a bot challenge of {vendor}.",
		Brief:   "Bot challenge",
		Meaning: "{vendor} asks visitors to prove that they are human, which this service cannot do. The page itself " +
			"may be fine.",
	},
	codeEndsAtError: {
		State: finding.Warned, Args: redirectedArgs + ", means sentence", Message: answered + ".",
		Brief:   "Error status",
		Meaning: "[{means}]{means?|Visitors see an error. Check the path that the redirects lead to.}",
	},
	codeEndsRefused: {
		State: finding.Warned, Args: "way code, signIn flag, means sentence",
		Message: "{way}{signIn?: visitors must sign in|, perhaps only to automated checks}.",
		Brief:   "{signIn?Sign-in required|Request refused}",
		Meaning: "[{means}]{means?|Open the URL in a browser to see whether visitors are refused too.}",
	},
	codeEndsAtFault: {
		State: finding.Failed, Args: redirectedArgs + ", means sentence", Message: answered + ".",
		Brief:   "Server error",
		Meaning: "[{means}]{means?|Visitors see an error. Look for it in the server's log.}",
	},
	codeEndsConflicting: {
		State: finding.Failed, Args: "way code",
		Message: "{way}, and browsers show an error because of conflicting Location headers.",
		Brief:   "Conflicting Location",
		Meaning: "Send one Location header.",
	},
	webview.CodeRefusedCert: {
		State: finding.Failed, Args: "way code, host text, defect code, repair code",
		Message: "{way}. Browsers refuse the certificate of {host}: {defect}.",
		Brief:   "Certificate refused",
		Meaning: "Visitors see a warning instead of the page. {repair}.",
	},
	codeEndedAtUserName: {
		State: finding.Unknown, Args: "host text",
		Message: "{host} redirects to a URL with a user name in it, which this service does not visit.",
		Brief:   "Not followed",
		Meaning: "Leave the user name out of the Location.",
	},
	codeEndedAtConflict: {
		State: finding.Failed, Args: "host text",
		Message: "{host} sends conflicting Location headers in a redirect, and browsers stop there.",
		Brief:   "Conflicting Location",
		Meaning: "Visitors see an error. Send one Location header.",
	},

	wayDirect:     {Args: directArgs, Clause: direct},
	wayRedirected: {Args: redirectedArgs, Clause: redirected},
	wayUnfinished: {Args: "site text", Clause: "The redirects of {site} do not end at a page"},
}

var problems = finding.Rows{
	codeToHTTP: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 57,
		Args: "host text", Message: "A redirect of {host} leads from HTTPS back to unencrypted HTTP.",
		Remedy: "Redirect to https URLs only.",
	},
	codeMany: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Args: "host text, redirects number", Message: "{host} needs {redirects} redirects to reach its page, and each " +
			"costs time.",
		Remedy: "Redirect straight to the last URL.",
	},
	codeRepaired: {
		Severity: finding.Info, Group: finding.Safer, Weight: 20,
		Args:      "host text",
		Message:   "A redirect of {host} leads to an invalid URL. Browsers repair it; other clients may not.",
		Remedy:    "Percent-encode the Location, with two slashes before the host and no backslash.",
		Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.2",
	},
}

// summaries are the sentences of the summary and of hops that were not visited.
var summaries = finding.Rows{
	sumFollowed: {Args: "followed number", Message: "{followed} redirects were followed."},
	sumNone:     {Message: "No redirect was followed."},
	sumOne:      {Message: "One redirect was followed."},
	sumAnswers: {
		Args: "host text, answer text, client flag, conflicting flag",
		Message: "{host} answers {answer}.{client? The page itself then sends browsers elsewhere, but that is not followed " +
			"here.|}{conflicting? It sends conflicting Location headers, and browsers show an error instead of such an " +
			"answer.|}",
	},
	sumLoop: {Message: "The next redirect leads back to a URL that was already visited: a loop."},
	sumTooMany: {Args: "host text, limit number", Message: "{host} redirects once more, but at most {limit} are " +
		"followed."},
	sumNoLocation: {
		Args: "host text", Message: "{host} redirects without a destination: there is no Location, or it is blank."},
	sumConflict: {
		Args: "host text, count number",
		Message: "{host} names {count} conflicting destinations (Location) in one redirect. Browsers stop there and " +
			"show an error, and so does this check.",
	},
	sumInvalid: {
		Args:    "site text, problem sentence, followed sentence",
		Message: "{site} redirects to something that is not a valid URL.[ {problem}][ {followed}]",
	},
	sumScheme: {
		Args: "host text, scheme text",
		Message: "{host} redirects to {scheme?a URL of the scheme |a URL of another scheme}[{scheme}], which is " +
			"neither http nor https.",
	},
	sumDeadline:   {Message: "Then this check ran out of time."},
	sumNotVisited: {Args: "reason sentence", Message: "The next destination was not visited. {reason}"},
	sumUserName: {
		Args: "host text, followed sentence",
		Message: "{host} redirects to a URL with a user name in it, which is not followed. Nothing was sent to it." +
			"[ {followed}]",
	},
	sumNotPublic: {
		Args: "followed sentence",
		Message: "The next destination is not a public address that this service may visit. Nothing was sent to it." +
			"[ {followed}]",
	},
	hopNotPublic:    {Message: "Not a public address that this service may visit. Nothing was sent to it."},
	hopWithUserName: {Message: "Not visited, because the redirect has a user name in its URL. Nothing was sent to it."},
}
