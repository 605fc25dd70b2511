package fault

import "diagnostics/gateway/internal/tool/finding"

// Rows are the rows that several tools and parts of this service use: failures, and faults of a certificate.
//
// A row about a target that has no Clause gets it from its Message, with "it" in place of the host.
var Rows = withClauses(finding.Join(adviceRows, inputRows, nameInputRows, policyRows, requestRows,
	ofNoTarget("Limit reached", "", limitRows), ofNoTarget("Not checked", notAboutTarget, hereRows),
	ofTargets(nameRows), ofTargets(connectionRows), ofTargets(handshakeRows), ofTargets(answerRows), redirectRows,
	ofBounds(boundRows), ofNoTarget("Not verified", "", verifiedRows), http3Rows, ofTargets(starttlsRows),
	providerNames, ofNoTarget("Data source failed", notAboutTarget, providerRows),
	ofNoTarget("Worker unavailable", notAboutTarget, workerRows),
	ofNoTarget("Place unavailable", notAboutTarget, placeRows), certificateRows))

// adviceRows describe a valid input, after a sentence about one that is not.
var adviceRows = finding.Rows{
	"ENTER_HOSTNAME": {Message: "Enter a valid public hostname, such as example.com."},
	"ENTER_ADDRESS":  {Message: "Enter a public IP address."},
	"ENTER_URL": {
		Message: "Enter a full URL that starts with http:// or https://, such as https://example.com/."},
	"ENTER_DOMAIN":        {Message: "Enter a public domain name, such as example.com."},
	"ENTER_REGISTRATION":  {Message: "Enter a public domain name or IP address, such as example.com."},
	"ENTER_HOST_AND_PORT": {Message: "Enter a host and a port, such as example.com:443."},
	"ENTER_PORT":          {Message: "Use a port from 1 to 65535."},
	"ENTER_ASN":           {Message: "Enter an AS number, such as AS15169."},
	"ENTER_NETWORK":       {Message: "Enter an AS number, such as AS15169, or a public IP address."},
	"ENTER_ADDRESS_AND_PORT": {
		Message: "Enter the address in brackets and a port, such as \\[2606:4700:4700::1111\\]:443."},
	"ENTER_DOMAIN_OR_REVERSE": {Args: "reverse text",
		Message: "Enter a public domain name, such as example.com; the records of this address are under {reverse}."},
}

// inputRows are about the input and the options of a tool.
var inputRows = finding.Rows{
	"INPUT_NOT_UTF8": {Message: "The input must be valid UTF-8 text."},
	"INPUT_TOO_LONG": {Message: "The input must be at most 2,048 characters long."},
	"INPUT_HAS_CONTROL_CHARACTERS": {
		Message: "The input must not contain control characters such as line breaks or tabs."},
	"INPUT_NOT_EMPTY": {Message: "This tool shows your own address and takes no input; leave the input empty."},

	"OPTION_TOO_LONG": {Args: "option text, most number",
		Message: "The option {option} must be at most {most} characters long."},
	"OPTION_NOT_LISTED": {Args: "option text, values text", Message: "The option {option} must be one of {values}."},
	"OPTION_NOT_FLAG":   {Args: "option text", Message: "The option {option} must be true or false."},
	"OPTION_OUT_OF_RANGE": {Args: "option text, least number, most number",
		Message: "The option {option} must be a whole number from {least} to {most}."},
	"OPTION_INVALID": {Args: "option text, allowed text", Message: "The option {option} must be {allowed}."},

	"OPTION_PORT_WITHOUT_PROTOCOL": {Message: "The option port needs the protocol udp or tcp."},
	"ADDRESS_OF_OTHER_FAMILY": {Args: "host text, family text",
		Message: "{host} is not an {family} address; choose the family auto."},
	"PLACE_OF_PLACE":  {Message: "A place that is asked by another does not ask a third."},
	"TOOL_ONLY_HERE":  {Message: "This tool has no option place: its answer is about your own request."},
	"NO_OTHER_PLACES": {Message: "This service has no places to choose from."},
	"TOOL_OFF":        {Message: "This tool is switched off on this service."},
	"TOOL_NEEDS_WORKER": {Message: "This tool needs the diagnostics worker, which is not enabled on this service. " +
		"The browser's ping and packet-loss tools work without it."},
	"TOOL_WITHOUT_WORKER": {Message: "This tool needs the diagnostics worker, which is not enabled here."},
}

// nameInputRows are about a host, an address, a URL or an AS number that was entered, or that a redirect names.
var nameInputRows = finding.Rows{
	"NAME_MISSING": {Args: "advice sentence", Message: "The hostname is missing.[ {advice}]"},
	"NAME_INVALID": {Args: "name text, problem text, advice sentence", Message: "{name} {problem}.[ {advice}]"},
	"NAME_NOT_PUBLIC": {Args: "name text, problem text, advice sentence",
		Message: "{name} {problem}.[ {advice}]"},
	"NAME_UNREGISTRABLE": {Args: "name text, label text, advice sentence",
		Message: "{name} has an underscore at the start or the end of {label}, which no registry allows.[ {advice}]"},
	"ADDRESS_NOT_PUBLIC": {Args: "address text, problem text, source text, advice sentence",
		Message: "{address} is {problem} ({source}).[ {advice}]"},
	"REVERSE_NAME_NOT_PUBLIC": {Args: "name text, problem text, source text, advice sentence",
		Message: "{name} is the reverse name of {problem} ({source}).[ {advice}]"},
	"NAME_IS_ADDRESS": {Args: "name text, advice sentence", Message: "{name} is an IP address.[ {advice}]"},
	"NAME_IS_URL":     {Args: "advice sentence", Message: "Leave out the scheme and the path of the URL.[ {advice}]"},
	"NAME_IS_MAILBOX": {Args: "advice sentence", Message: "Leave out everything up to the @ sign.[ {advice}]"},
	"NAME_HAS_PORT":   {Args: "advice sentence", Message: "Leave out the port.[ {advice}]"},
	"NOT_AN_IPV6_ADDRESS": {Args: "input text, advice sentence",
		Message: "{input} is not an IPv6 address.[ {advice}]"},
	"NOT_AN_ADDRESS": {Args: "input text, advice sentence",
		Message: "[{input}]{input?|An empty text} is not an IP address in its usual form.[ {advice}]"},

	"NOT_AN_ASN": {Args: "input text, advice sentence",
		Message: "[{input}]{input?|An empty text} is not an AS number.[ {advice}]"},
	"NOT_AN_ASN_OR_ADDRESS": {Args: "input text, advice sentence",
		Message: "[{input}]{input?|An empty text} is neither an AS number nor an IP address.[ {advice}]"},
	"ASN_AMBIGUOUS": {Args: "asn number",
		Message: "{asn} may be an AS number or an IP address in decimal. Write AS{asn}, or the address with its dots."},
	"ASN_NOT_PUBLIC": {Args: "asn number, problem text, source text, advice sentence",
		Message: "AS{asn} is {problem} ({source}).[ {advice}]"},

	"PORT_MISSING": {Args: "advice sentence", Message: "The port is missing.[ {advice}]"},
	"NOT_A_PORT": {Args: "input text, advice sentence",
		Message: "[{input}]{input?|An empty text} is not a port.[ {advice}]"},
	"BRACKET_NOT_CLOSED": {Args: "advice sentence", Message: "The closing bracket is missing.[ {advice}]"},
	"BRACKETS_WITHOUT_IPV6": {Args: "advice sentence",
		Message: "Only an IPv6 address goes in brackets.[ {advice}]"},
	"BRACKETS_WITHOUT_PORT": {Args: "advice sentence",
		Message: "Only a port can follow the closing bracket.[ {advice}]"},

	"URL_WITHOUT_SCHEME": {Args: "advice sentence", Message: "The URL has no scheme.[ {advice}]"},
	"URL_SCHEME": {Args: "scheme text, advice sentence",
		Message: "Only http and https URLs can be checked, not {scheme}.[ {advice}]"},
	"URL_WITHOUT_SLASHES": {Args: "scheme text, advice sentence",
		Message: "Write two slashes after {scheme}: in a URL.[ {advice}]"},
	"URL_WITHOUT_HOST": {Args: "advice sentence", Message: "The URL has no host.[ {advice}]"},
	"URL_HOST_BACKSLASH": {Args: "advice sentence",
		Message: "The host of a URL must not contain a backslash.[ {advice}]"},
	"URL_HOST_ENCODED": {Args: "advice sentence",
		Message: "The host of a URL cannot be percent-encoded.[ {advice}]"},
	"URL_IPV6_WITHOUT_BRACKETS": {Args: "advice sentence",
		Message: "An IPv6 address in a URL goes in brackets.[ {advice}]"},
	"URL_USER_NAME":         {Message: "A URL must not contain a user name or password."},
	"URL_CONTROL_CHARACTER": {Message: "The URL contains a control character."},
	"URL_PATH_BACKSLASH":    {Message: "The path of the URL has a backslash, which must be written as / or %5C."},
	"URL_PATH_PERCENT":      {Message: "The path of the URL has a percent sign that must be written as %25."},
	"URL_NOT_REQUESTABLE":   {Message: "The URL cannot be requested."},

	"LOCATION_TOO_LONG": {Args: "most number", Message: "The destination of the redirect is longer than {most} bytes."},
	"LOCATION_EMPTY":    {Message: "The redirect names no destination."},
	"LOCATIONS_DIFFER":  {Message: "The answer has conflicting Location headers."},
}

// policyRows refuse a target. None names an address: a name's answer may be a private one, and showing it would map a
// private network.
var policyRows = finding.Rows{
	"TARGET_NOT_PUBLIC": {State: finding.Failed, Brief: "Not public", Args: "host text",
		Message: "[{host} leads to an address that is not public, which nobody outside its network can reach.]" +
			"{host?|The target is not at a public address. Enter a public hostname or address.}",
		Clause: "it is not at a public address"},
	"TARGET_IS_HERE": {State: finding.Unknown, Brief: "Not checked",
		Message: "The target is this service's own address, which it does not check.",
		Clause:  "it is this service's own address, which this service does not check"},
	"TARGET_IS_PART": {State: finding.Unknown, Brief: "Not checked",
		Message: "The target is a part of this service, which it does not check."},
	"TARGET_DENIED": {State: finding.Unknown, Brief: "Not allowed here",
		Message: "The operator of this service does not allow this target."},
	"TARGET_ALIAS_NOT_PUBLIC": {State: finding.Failed, Brief: "Not public",
		Message: "The target is an alias of a name that is not public.",
		Clause:  "it is an alias of a name that is not public"},
	"SERVER_NAME_NOT_PUBLIC": {Message: "Its name is not a public hostname."},
}

// requestRows refuse a request before it reaches a tool.
var requestRows = finding.Rows{
	"NOT_FOUND":      {Message: "There is nothing at this address."},
	"FOREIGN_ORIGIN": {Message: "Requests from other websites are not accepted."},
	"CLIENT_DENIED":  {Message: "The operator of this service does not accept requests from your network."},
	"TOKEN_REQUIRED": {Message: "A valid bearer token is required."},
	"METHOD_NOT_ALLOWED": {Args: "allowed text",
		Message: "This address does not accept that method. Use {allowed}."},
	"REQUEST_MEDIA_TYPE":      {Message: "Send the request as application/json in UTF-8."},
	"REQUEST_BODY_COMPRESSED": {Message: "Send the request body uncompressed."},
	"REQUEST_BODY_TOO_LARGE":  {Message: "The request body is larger than 4,096 bytes."},
	"REQUEST_BODY_SLOW":       {Message: "The request body did not arrive in time."},
	"REQUEST_BODY_UNREADABLE": {Message: "The request body could not be read."},
	"REQUEST_BODY_NOT_OBJECT": {
		Message: `The request body must be one JSON object, such as \{"input": "example.com"}.`},
	"REQUEST_BODY_NOT_UTF8":    {Message: "The request body must be UTF-8."},
	"REQUEST_HEADERS_TOO_MANY": {Message: "The request has more than 100 header fields."},
	"REQUEST_FAILED":           {Message: "The request failed."},
	"REQUEST_UNCLEAR":          {Message: "The request could not be understood."},
	"FIELD_INPUT":              {Message: `The field "input" is required and must be a string.`},
	"FIELD_OPTIONS":            {Message: `The field "options" must be an object, if present.`},
	"FIELD_CLIENT": {
		Message: `The field "client" is required: a pseudonym of letters, digits, "-" and "_".`},
	"FIELD_GROUP": {
		Message: `The field "group" must be a pseudonym of letters, digits, "-" and "_", if present.`},
	"FIELD_BUDGET":  {Message: `The field "budgetMs" must be a positive number of milliseconds, if present.`},
	"SAMPLE_NUMBER": {Message: "The parameter n must be a whole number from 0 to 999999999."},
}

// limitRows tell a client that a limit of this service is reached. They never name an address, because the client may
// have entered a name.
var limitRows = finding.Rows{
	"TOO_MANY_REQUESTS": {Brief: "Too many requests", Args: "wait wait",
		Message: "Too many requests.[ Try again in {wait}.]"},
	"TARGET_BUSY": {Args: "wait wait",
		Message: "Too many requests are going to this target at the moment.[ Try again in {wait}.]"},
	"ADDRESS_SHARE_USED": {Args: "wait wait",
		Message: "Too many of your requests went to this server's address.[ Try again in {wait}.]"},
	"ADDRESS_BUSY": {Args: "wait wait",
		Message: "Too many requests are going to this server's address at the moment.[ Try again in {wait}.]"},
	"TOO_MANY_PORTS": {Args: "wait wait",
		Message: "You have tried too many different ports on this server's address.[ Try again in {wait}.]"},
	"REGISTRATIONS_BUSY": {Args: "wait wait",
		Message: "Too many registrations are being looked up at the moment.[ Try again in {wait}.]"},
	"SERVICE_BUSY": {Brief: "Busy", Message: "The service is busy. Please try again in a moment."},
	"TOO_MANY_RUNS": {Brief: "Too many at once",
		Message: "Too many of your diagnostics are running at once. Wait until one has finished."},
	"NETWORK_TOO_MANY_RUNS": {Brief: "Too many at once",
		Message: "Too many diagnostics from your network are running at once. Wait until one has finished."},
	"TOO_MUCH_MEMORY": {
		Message: "Your running diagnostics need too much memory. Wait until some have finished and you have read " +
			"their answers."},
	"NETWORK_TOO_MUCH_MEMORY": {
		Message: "The diagnostics running from your network need too much memory. Wait until some have finished."},
	"CHECK_TOO_EXPENSIVE": {Brief: "Too costly to check",
		Message: "This check took more processor time than one check may (0.5 s), so it was ended."},
	"CHECK_SENDS_TOO_MUCH": {
		Message: "This check may not send any more: its next step could exceed the limit for one check (128 KB)."},
	"CHECK_READS_TOO_MUCH": {Message: "The servers of this check have sent far more than it reads (6 MiB)."},
	"SITEMAPS_TOO_LARGE": {
		Message: "The sitemaps of this check have together reached the limit on what is read (4 MiB)."},
	"REVOCATION_TOO_LARGE": {Message: "The answers of the authority are too long."},
	"URL_TOO_LONG": {
		Message: "The URL is longer than 4,096 characters; a URL that long is sent only to the server that " +
			"chose it."},
	"CHECK_OUT_OF_TIME": {Brief: "Not finished in time",
		Message: "The diagnostic did not finish in time. Please try again later."},
}

const lookup = "The lookup of [{name}]{name?|the network's announcement} "

// hereRows are what this service itself lacks. They say nothing about a target.
var hereRows = finding.Rows{
	"NO_IPV4_HERE": {Brief: "No IPv4 here", Args: "only flag",
		Message: "This service has no IPv4 connection{only?, and the target has only IPv4 addresses}."},
	"NO_IPV6_HERE": {Brief: "No IPv6 here", Args: "only flag",
		Message: "This service has no IPv6 connection{only?, and the target has only IPv6 addresses}."},
	"NO_FAMILY_HERE":   {Message: "This service has no connection for its address family."},
	"NO_INTERNET_HERE": {Message: "This service has no connection to the internet at the moment."},
	"SHORTAGE_HERE": {Message: "This service cannot make connections at the moment. Please try again in a few seconds.",
		Clause: "this service cannot make connections at the moment"},
	"OVERLOADED_HERE": {Brief: "Busy",
		Message: "This service is overloaded at the moment. Please try again in a few seconds.",
		Clause:  "this service is overloaded at the moment"},
	"RESTARTING":     {Brief: "Restarting", Message: "This service is restarting. Please try again in a few seconds."},
	"INTERNAL_ERROR": {Brief: "Our fault", Message: "Something went wrong on our side. Please try again later."},

	"RESOLVER_TIMEOUT": {Brief: "Our resolver is silent", Args: "name text",
		Message: lookup + "got no answer: this service's own resolver did not respond."},
	"RESOLVER_UNREACHABLE": {Brief: "Our resolver is down", Args: "name text",
		Message: lookup + "failed: this service's own resolver cannot be reached."},
	"RESOLVER_INVALID": {Brief: "Our resolver fails", Args: "name text",
		Message: lookup + "failed: this service's own resolver gives invalid answers."},
	"RESOLVER_FAILED": {Brief: "Our resolver fails", Args: "name text, rcode text",
		Message: lookup + "failed: this service's own resolver answered {rcode}."},

	"DEPENDENCY_TIMEOUT":    {Message: "A service that this one depends on could not be found in time."},
	"DEPENDENCY_NOT_FOUND":  {Message: "A service that this one depends on could not be found."},
	"DEPENDENCY_NO_ADDRESS": {Message: "A service that this one depends on has no address."},
}

const remedyNotFound = "Check the spelling. If the name is yours, check that the domain is registered and that its " +
	"zone contains the name."

// Meanings that several failures share.
const (
	meaningBlocked = "A router or firewall on the way turns the connection away. Check the address and the firewalls in " +
		"front of it."
	meaningSilent = "The server is down, or a firewall drops what is sent to it. Check that it runs and that the " +
		"firewall lets this port through."
	meaningOther = "Another kind of server may listen on this port. Check the host and the port."
	meaningHangs = "The server accepts connections but does not answer: it is overloaded, or the program behind it " +
		"hangs."
	meaningCut = "The program behind the server may have crashed, or a firewall cuts the connection. Check the " +
		"server's log."
	meaningNameServers = "Nobody can look the name up while this lasts. Check that its name servers run and that no " +
		"firewall blocks DNS."
)

const remedyBogus = "Sign the zone again, or make the DS record at the registry match one of the zone's keys. To see " +
	"where the chain breaks, run DNS delegation and DNSSEC."

// nameRows are about the names of targets in the DNS.
var nameRows = finding.Rows{
	"NAME_NOT_FOUND": {
		State: finding.Failed, Weight: 95,
		Args:    "host text",
		Message: "{host} does not exist.",
		Brief:   "Does not exist",
		Meaning: "No website or mail can work at this name. " + remedyNotFound,
		Remedy:  remedyNotFound, Reference: "https://www.rfc-editor.org/rfc/rfc8020",
	},
	"NO_ADDRESS": {Brief: "No address", Weight: 94, Args: "host text, family text",
		Message: "{host} has no [{family} ]address.",
		Meaning: "{family?Check the host over the other family, or add such an address to the DNS|Nothing can connect to " +
			"this name. Add A and AAAA records if it should have a website; a name for mail only needs none}."},
	"DNSSEC_FAILED": {
		Brief: "DNSSEC fails", Weight: 93, Args: "host text, remark text, number number, text text",
		Message: "{host} fails DNSSEC validation[: {remark} (extended DNS error {number})][, “{text}”].",
		Meaning: "Users of resolvers that validate cannot reach it. " + remedyBogus,
		Remedy:  remedyBogus, Reference: "https://www.rfc-editor.org/rfc/rfc4035#section-5.5",
	},
	"NAME_SERVERS_SILENT": {Brief: "Name servers silent", Weight: 89, Args: "name text",
		Message: "The name servers of {name} did not answer.",
		Meaning: meaningNameServers},
	"NAME_SERVERS_INVALID": {Brief: "Invalid DNS answer", Weight: 89, Args: "name text",
		Message: "The name servers of {name} gave an invalid answer.",
		Meaning: meaningNameServers},
	"NAME_SERVERS_FAILED": {Brief: "Name servers fail", Weight: 89, Args: "name text, rcode text",
		Message: "The name servers of {name} failed ({rcode}).",
		Meaning: meaningNameServers},
}

// connectionRows are about connections to a target.
var connectionRows = finding.Rows{
	"CONNECTION_REFUSED": {Brief: "Connection refused", Args: "host text, port number", Message: "{host} refused the " +
		"connection[ on port {port}].",
		Meaning: "The host is there, but nothing listens on this port, or a firewall refuses the connection. " +
			"Check the port and that the service runs."},
	"CONNECTION_RESET": {Brief: "Connection reset", Args: "host text", Message: "{host} reset the connection.",
		Meaning: meaningCut},
	"CONNECTION_BLOCKED": {Brief: "Connection blocked", Args: "host text",
		Message: "{host} cannot be reached: the connection is blocked on the way.",
		Meaning: meaningBlocked},
	"NO_ROUTE": {Brief: "No route", Args: "host text", Message: "{host} cannot be reached: there is no route to its " +
		"address.",
		Meaning: meaningBlocked},
	"HOST_UNREACHABLE": {Brief: "Unreachable", Args: "host text, port number",
		Message: "{host} {port?could not|cannot} be reached[ on port {port}].",
		Meaning: meaningBlocked},
	"CONNECT_TIMEOUT": {Brief: "No connection", Args: "host text, seconds number", Message: "{host} did not accept a " +
		"connection in time.",
		Clause:  "no connection within {seconds} seconds",
		Meaning: meaningSilent},
	"NO_CONNECTION": {Brief: "No connection", Weight: 97,
		Args:    "host text, seconds number",
		Message: "{host} accepts no connection within {seconds} seconds.",
		Clause:  "no connection within {seconds} seconds",
		Remedy:  "Check that the server runs and that no firewall drops the packets.",
		Meaning: meaningSilent},
	"PORT_SILENT": {Brief: "No answer", Args: "host text, port number",
		Message: "{host} did not answer on port {port}.",
		Meaning: meaningSilent},
}

// handshakeRows are about handshakes of TLS with a target.
var handshakeRows = finding.Rows{
	"TLS_TIMEOUT": {Brief: "TLS handshake stuck", Args: "host text, port number",
		Message: "{host}[ accepted the connection on port {port} but] did not {port?complete a|finish the} " +
			"TLS handshake in time.",
		Meaning: "The server accepts connections but does not finish the handshake: it is overloaded, or another kind of " +
			"server listens on this port."},
	"TLS_PLAIN_HTTP": {Brief: "Plain HTTP, not TLS", Args: "host text",
		Message: "{host} answers in plain HTTP on this port, not TLS. Use http:// in the URL."},
	"TLS_NOT_SPOKEN": {Brief: "No TLS", Args: "host text, port number, here flag",
		Message: "{host} does not use TLS[ on port {port}]{here? on this port}.",
		Meaning: meaningOther},
	"TLS_REFUSED": {Brief: "TLS refused", Args: "host text, port number, alert text, explanation code",
		Message: "{host} refused the TLS handshake[ on port {port}][ ({alert})][: {explanation}]."},
	"TLS_BROKEN_OFF": {Brief: "TLS broken off", Args: "host text", Message: "{host} closed the connection during the " +
		"TLS handshake.",
		Meaning: meaningCut},
	"TLS_NOT_BEGUN": {Brief: "No TLS", Args: "host text, port number",
		Message: "{host} closed the connection on port {port} instead of starting a TLS handshake.",
		Meaning: meaningOther},
	"TLS_NOT_UNDERSTOOD": {Brief: "TLS not understood", Args: "host text",
		Message: "{host} sent a TLS handshake that this service does not understand.",
		Meaning: meaningOther},
	"TLS_NOT_COMPLETED": {Brief: "TLS not completed", Args: "host text, port number",
		Message: "{host} began a TLS handshake on port {port} that cannot be completed; its certificate cannot be read."},
	"TLS_ANONYMOUS": {Brief: "No certificate", Args: "host text, port number, suite text",
		Message: "{host} chose {suite} on port {port}, with which a server shows no certificate."},
	"CERTIFICATE_UNREADABLE": {Brief: "Certificate unreadable", Args: "host text", Message: "The certificate of " +
		"{host} cannot be read."},
	"CERTIFICATE_INVALID": {Brief: "Certificate not valid", Weight: 92,
		Args:    "host text, defect code",
		Message: "The certificate of {host} is not valid: {defect}.", Remedy: "Install a valid certificate for this name."},
}

// answerRows are about answers of a target.
var answerRows = finding.Rows{
	"ANSWER_TIMEOUT": {Brief: "No answer in time", Args: "host text", Message: "{host} accepted the connection but " +
		"did not answer in time.",
		Meaning: meaningHangs},
	"ANSWER_INVALID": {Brief: "Invalid answer", Args: "host text, port number", Message: "{host} sent an invalid " +
		"answer[ on port {port}].",
		Meaning: meaningOther},
	"ANSWER_NOT_HTTP": {Brief: "Not HTTP", Args: "host text", Message: "{host} did not answer with valid HTTP.",
		Meaning: meaningOther},
	"ANSWER_UNUSABLE": {Brief: "Unusable answer", Args: "host text", Message: "{host} did not send a usable HTTP " +
		"answer.",
		Meaning: meaningOther},
	"ANSWER_RESET": {Brief: "Connection reset", Args: "host text", Message: "{host} reset the connection without " +
		"an answer.",
		Meaning: meaningCut},
	"ANSWER_MISSING": {Brief: "Connection closed", Args: "host text", Message: "{host} closed the connection " +
		"without an answer.",
		Meaning: meaningCut},
	"WANTS_TLS": {Brief: "Expects TLS", Args: "host text", Message: "{host} expects TLS on this port. Use " +
		"https:// in the URL."},
	"HTTP2_BROKEN_OFF": {Brief: "HTTP/2 broken off", Args: "host text", Message: "{host} closed the HTTP/2 " +
		"connection without an answer.",
		Meaning: meaningCut},
	"HTTP2_KEEPS_CLOSING": {Brief: "HTTP/2 broken off", Args: "host text",
		Message: "{host} keeps closing its HTTP/2 connections without an answer.",
		Meaning: meaningCut},
	"BODY_TIMEOUT": {Brief: "Body not in time", Args: "host text",
		Message: "[{host} did not send its whole answer]{host?|The body did not arrive} in time.",
		Clause:  "{host?it did not send its whole answer|the body did not arrive} in time"},
	"BODY_ENCODING":   {Brief: "Unknown encoding", Message: "The body uses a content encoding that was not requested."},
	"BODY_CORRUPT":    {Brief: "Body corrupt", Message: "The compressed body is corrupt."},
	"BODY_BROKEN_OFF": {Brief: "Body broken off", Message: "The connection closed before the body was complete."},
}

// boundRows are about answers that go beyond a bound of this service, which is no fault of a target.
var boundRows = finding.Rows{
	"TLS_TOO_LONG": {Brief: "TLS handshake too long", Args: "host text, port number",
		Message: "{host} sent a TLS handshake of more than 128 KiB[ on port {port}]."},
	"ANSWER_IN_PIECES": {Brief: "Unusable answer", Args: "host text", Message: "{host} sent its answer in too many " +
		"tiny pieces."},
	"HEADERS_TOO_LONG": {Brief: "Headers too long", Args: "host text", Message: "{host} sent response headers of " +
		"more than 64 KiB."},
	"HEADERS_TOO_MANY_LINES": {Brief: "Too many headers", Args: "host text",
		Message: "{host} sent response headers of more than 1,000 lines."},
	"HTTP2_HEADERS": {Brief: "HTTP/2 headers broken", Args: "host text",
		Message: "{host} sent HTTP/2 headers that are broken or longer than 64 KiB."},
	"QUIC_TOO_MUCH": {Brief: "Unusable answer", Args: "host text",
		Message: "{host} sent far more over QUIC than an answer takes."},
}

const httpSpec = "https://www.rfc-editor.org/rfc/rfc9110.html"

// redirectRows are about redirects of a target. Without host they are about "the target".
var redirectRows = finding.Rows{
	"REDIRECT_LOOP": {State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 91,
		Brief:   "Redirect loop",
		Args:    "host text",
		Message: "The redirects[ of {host}] form a loop{host?, so no page loads}.",
		Clause:  "its redirects form a loop",
		Meaning: "Often a cookie, a proxy or an HTTPS setting causes such a loop. Let one of the redirects lead to a page.",
		Remedy:  "Let one of the redirects lead to a page."},
	"TOO_MANY_REDIRECTS": {State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Brief:   "Too many redirects",
		Args:    "host text, limit number",
		Message: "[{host}]{host?|The target} redirects more than {limit} times.",
		Clause:  "it redirects more than {limit} times",
		Meaning: "Most browsers give up after 20 redirects. Redirect straight to the last URL.",
		Remedy:  "Redirect straight to the last URL."},
	"REDIRECT_WITHOUT_LOCATION": {State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Brief:     "Redirect to nowhere",
		Args:      "host text",
		Message:   "[{host}]{host?|The target} redirects without {host?saying where to|naming a destination}.",
		Clause:    "a redirect names no destination",
		Meaning:   "Visitors see an error or an empty page. Send a Location header with the redirect.",
		Remedy:    "Send a Location header with the redirect.",
		Reference: httpSpec + "#section-10.2.2"},
	"REDIRECT_INVALID": {State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Brief:     "Invalid redirect",
		Args:      "host text, followed sentence",
		Message:   "[{host}]{host?|The target} redirects to something that is not a valid URL.[ {followed}]",
		Clause:    "a redirect leads to something that is not a valid URL",
		Meaning:   "Clients may stop there with an error. Correct the Location header.",
		Reference: httpSpec + "#section-10.2.2"},
	"REDIRECT_SCHEME": {State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 85,
		Brief:   "Redirect off the web",
		Args:    "host text, followed sentence",
		Message: "[{host}]{host?|The target} redirects to a URL that is neither http nor https.[ {followed}]",
		Clause:  "a redirect leads to a URL that is neither http nor https",
		Meaning: "Browsers open such a URL in another program, or not at all. Redirect to an https URL."},
	"REDIRECT_NOT_PUBLIC": {State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Brief:   "Redirect to inside",
		Args:    "host text, followed sentence",
		Message: "[{host}]{host?|The target} redirects to {host?an address|a host} that is not public.[ {followed}]",
		Meaning: "Nobody outside its network can follow that redirect. Redirect to a public address."},
	"REDIRECT_USER_NAME": {State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Brief: "User name in redirect",
		Args:  "host text, followed sentence",
		Message: "[{host}]{host?|The target} redirects to a URL with a user name in it{host?|, and such redirects are not " +
			"followed}.[ {followed}]",
		Remedy: "Leave the user name out of the Location."},
	"LOCATION_CONFLICT": {State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Brief: "Conflicting Location",
		Args:  "host text, followed sentence",
		Message: "[{host}]{host?|The target} sends conflicting Location headers{host?| in one redirect}, and browsers " +
			"{host?show an error instead of such an answer|stop there}.[ {followed}]",
		Meaning: "Visitors see an error. Let only one part of the server add the Location header: the web server or the " +
			"program behind it.",
		Remedy:    "Send one Location header.",
		Reference: httpSpec + "#section-10.2.2"},

	"REDIRECT_NOT_CHECKED": {State: finding.Unknown, Brief: "Redirect not checked",
		Message: "The target redirects to an address that this service does not check."},
	"REDIRECT_NOT_FOLLOWED": {State: finding.Unknown, Brief: "Redirect not checked", Args: "refusal sentence",
		Message: "One of the target's redirects could not be followed. {refusal}"},
	"BROWSERS_FOLLOW": {Message: "Browsers follow it all the same."},
}

// verifiedRows are about certificates that this service did not verify, which is no fault of a server.
var verifiedRows = finding.Rows{
	"CERTIFICATE_NOT_VERIFIED": {State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Brief:   "Not verified",
		Args:    "host text, defect code",
		Message: "This service could not verify the certificate of {host}: {defect}."},
	"CERTIFICATE_KEY_TOO_LONG": {Args: "host text",
		Message: "{host} has an RSA key of more than 8192 bits in its certificates, which this service does not verify."},
	"REVOCATION_STATUS": {Args: "host text, status number",
		Message: "{host} answered HTTP {status} in place of what it publishes about revocation."},
	"KEY_EXCHANGE_UNKNOWN": {Args: "host text, group text, port number",
		Message: "{host} chose the key exchange {group} on port {port}, which this service does not implement, so its " +
			"certificate was not read."},
}

// http3Rows are about HTTP/3 and QUIC, without which a target works as well.
var http3Rows = finding.Rows{
	"HTTP3_NO_TIME":     {Message: "The check ran out of time before HTTP/3 could be tried."},
	"HTTP3_SERVER_NAME": {Message: "The server that is named for HTTP/3 has no valid public name."},
	"HTTP3_SERVER_NOT_PUBLIC": {Args: "host text",
		Message: "{host} is not at a public address, so it was not asked."},
	"HTTP3_MISDIRECTED": {Args: "host text", Message: "{host} answers 421 (Misdirected Request) over HTTP/3."},
	"HTTP3_NOT_OFFERED": {Args: "host text", Message: "{host} answers over QUIC, but does not offer HTTP/3 there."},
	"HTTP3_INVALID":     {Args: "host text", Message: "{host} answers over QUIC, but not with valid HTTP/3."},
	"LOOKUP_TIMEOUT":    {Args: "host text", Message: "{host} could not be looked up in time."},
	"UDP_REFUSED":       {Args: "host text", Message: "{host} refuses UDP packets on this port."},
	"UDP_SILENT":        {Args: "host text", Message: "{host} does not answer UDP packets on this port."},
	"QUIC_TIMEOUT":      {Args: "host text", Message: "{host} did not finish the QUIC handshake in time."},
	"QUIC_ANSWER_TIMEOUT": {Args: "host text",
		Message: "{host} finished the QUIC handshake but did not answer in time."},
	"QUIC_VERSION": {Args: "host text", Message: "{host} speaks no version of QUIC that browsers use."},
	"QUIC_TLS_REFUSED": {Args: "host text, alert text",
		Message: "{host} refused the TLS handshake over QUIC[ ({alert})]."},
	"QUIC_NOT_UNDERSTOOD": {Args: "host text",
		Message: "{host} sent something over QUIC that this service does not understand."},
	"QUIC_BROKEN_OFF": {Args: "host text", Message: "{host} closed the QUIC connection without an answer."},
}

// starttlsRows are about STARTTLS, and clauses about the alerts of TLS.
var starttlsRows = finding.Rows{
	"STARTTLS_REFUSED": {Brief: "STARTTLS refused", Args: "host text, port number, answer text",
		Message: "{host} offers STARTTLS on port {port}, but refuses it: it answers {answer}.",
		Meaning: "Mail is sent to this port without encryption. Check the certificate and key in the server's settings."},
	"STARTTLS_NOT_OFFERED": {Brief: "No STARTTLS", Args: "host text, port number", Message: "{host} does not offer " +
		"STARTTLS on port {port}.",
		Meaning: "Mail is sent to this port without encryption. Turn STARTTLS on."},
	"STARTTLS_REJECTED": {Brief: "Connection rejected", Args: "host text, port number",
		Message: "The server of {host} on port {port} rejected the connection."},
	"STARTTLS_PROTOCOL": {Brief: "Wrong protocol", Args: "host text, port number, protocol text",
		Message: "{host} does not speak proper {protocol} on port {port}.",
		Meaning: meaningOther},
	"STARTTLS_BROKEN_OFF": {Brief: "Connection closed", Args: "host text, port number",
		Message: "{host} closed the connection on port {port} before TLS could begin.",
		Meaning: meaningCut},
	"STARTTLS_STUCK": {Brief: "No answer in time", Args: "host text, port number",
		Message: "{host} accepted the connection on port {port} but then took nothing in time.",
		Meaning: meaningHangs},
	"STARTTLS_SILENT": {Brief: "No answer in time", Args: "host text, port number",
		Message: "{host} accepted the connection on port {port} but then sent nothing in time.",
		Meaning: meaningHangs},
	"STARTTLS_SLOW_GREETING": {Brief: "No answer in time", Args: "host text, port number",
		Message: "{host} had begun its greeting on port {port}, but did not finish it in time.",
		Meaning: meaningHangs},
	"STARTTLS_NO_ANSWER": {Brief: "No answer in time", Args: "host text, port number, command text",
		Message: "{host} did not answer {command} on port {port} in time.",
		Meaning: meaningHangs},
	"STARTTLS_SLOW_ANSWER": {Brief: "No answer in time", Args: "host text, port number, command text",
		Message: "{host} had begun its answer to {command} on port {port}, but did not finish it in time.",
		Meaning: meaningHangs},

	"ALERT_NO_PROTOCOL":    {Clause: "it expects another application protocol"},
	"ALERT_NAME":           {Clause: "it does not know this host name (unrecognized_name)"},
	"ALERT_NO_REASON":      {Clause: "it gave no reason (handshake_failure)"},
	"ALERT_VERSION":        {Clause: "it does not accept the versions that were offered (protocol_version)"},
	"ALERT_SECURITY":       {Clause: "it requires more security than was offered (insufficient_security)"},
	"ALERT_INTERNAL_ERROR": {Clause: "it reports an internal error (internal_error)"},
	"ALERT_OTHER":          {Args: "number number", Clause: "alert {number}"},
}

// providerNames name the services that have data of a target.
var providerNames = finding.Rows{
	"WHOIS_SERVER":       {Args: "server text", Clause: "The WHOIS server {server}"},
	"RDAP_SERVER":        {Args: "server text", Clause: "The registration server {server}"},
	"RDAP_SERVICE_LABEL": {Clause: "the registration data service"},
	"RDAP_SERVICE":       {Clause: "The registration data service of this site"},
}

// providerRows are about failures of these services.
var providerRows = finding.Rows{
	"PROVIDER_TIMEOUT": {Brief: "Data source silent", Args: "provider code",
		Message: "{provider} did not answer in time."},
	"PROVIDER_NO_ADDRESS": {Args: "provider code", Message: "{provider} has no address."},
	"PROVIDER_NOT_PUBLIC": {Args: "provider code",
		Message: "{provider} is not at a public address, so it was not asked."},
	"PROVIDER_UNREACHABLE": {Args: "provider code", Message: "{provider} cannot be reached at the moment."},
	"PROVIDER_BODY_TIMEOUT": {Args: "provider code",
		Message: "{provider} did not send its whole answer in time."},
	"PROVIDER_BROKE_OFF": {Args: "provider code", Message: "{provider} stopped in the middle of its answer."},
	"PROVIDER_ANSWER_TOO_LONG": {Args: "provider code, limit text",
		Message: "{provider} sent an answer larger than {limit}."},
	"PROVIDER_ANSWER_INVALID": {Args: "provider code", Message: "{provider} sent an invalid answer."},
	"PROVIDER_PAGE": {Args: "provider code",
		Message: "{provider} sent a web page instead of registration data."},
	"PROVIDER_STATUS": {Args: "provider code, status number", Message: "{provider} answered with the status {status}."},
	"PROVIDER_TOO_MANY_REDIRECTS": {Args: "provider code, limit number",
		Message: "{provider} redirects more than {limit} times."},
	"PROVIDER_REDIRECT_NOT_PUBLIC": {Args: "provider code",
		Message: "{provider} redirects to something that is not a public URL."},
	"PROVIDER_REDIRECT_NOT_HTTPS": {Args: "provider code",
		Message: "{provider} redirects to a URL that is not https."},
	"PROVIDER_PAUSED": {Brief: "Data source busy", Args: "provider code, wait wait",
		Message: "{provider} has been asked too often.[ Try again in {wait}.]"},
	"PROVIDER_OUT_OF_SERVICE": {Brief: "Out of service", Args: "provider code, wait wait",
		Message: "{provider} is out of service.[ Try again in {wait}.]"},

	"PROVIDER_ANSWER_EMPTY": {Args: "provider code", Message: "{provider} sent an empty answer."},
	"PROVIDER_CLOSED":       {Args: "provider code", Message: "{provider} does not answer this service."},
	"PROVIDER_FORMAT_UNKNOWN": {Args: "provider code",
		Message: "{provider} answered in a format that this service does not read."},

	"WHOIS_SERVER_NOT_LISTED": {Args: "tld text", Message: "IANA lists no WHOIS server for .{tld}."},
	"WHOIS_SERVER_NOT_NAMED": {Args: "tld text",
		Message: "IANA's WHOIS server did not say which WHOIS server .{tld} has."},
	"WHOIS_SERVER_UNKNOWN": {Args: "failure sentence, tld text",
		Message: "{failure} So the WHOIS server of .{tld} is not known."},

	"REGISTRAR_WITHOUT_DATA": {Args: "said text",
		Message: "The registrar has no data on this name.[ It answers: “{said}”]"},
	"REGISTRAR_TIMEOUT": {Message: "The registrar's server did not answer within the time of this lookup."},
	"REGISTRAR_MISSING": {Brief: "Registrar data missing", Message: "The data shown comes from the registry alone."},
	"REGISTRAR_NOT_PUBLIC": {
		Message: "The registry names a server of the registrar that is not a public https URL."},
	"NO_REGISTRY_KNOWN": {Brief: "No registry known",
		Message: "No registry that offers registration data (RDAP) is known for this address."},
	"REGISTRY_WITHOUT_DATA": {Brief: "No registration data",
		Message: "The registry has no registration data for this address."},

	"ASN_TIMEOUT": {Message: "The ASN service did not answer in time. Please try again later."},
	"ASN_FAILED":  {Message: "The ASN service failed to answer. Please try again later."},
	"ASN_UNREADABLE": {
		Message: "The ASN service sent an answer that we cannot read. Please try again later."},
}

// workerRows are about the diagnostics worker.
var workerRows = finding.Rows{
	"WORKER_UNREACHABLE": {
		Message: "The diagnostics worker cannot be reached at the moment; try again in a few seconds."},
	"WORKER_SILENT": {
		Message: "The diagnostics worker does not answer at the moment; try again in a few seconds."},
	"WORKER_LATE": {Brief: "Not finished in time", Message: "The diagnostics worker did not answer in time."},
	"WORKER_BROKE_OFF": {
		Message: "The diagnostics worker stopped before it had answered; try again in a few seconds."},
	"WORKER_UNUSABLE": {Message: "The diagnostics worker sent an answer that cannot be used."},
	"WORKER_BUSY":     {Brief: "Worker busy", Message: "The diagnostics worker is busy; try again in a few seconds."},
	"WORKER_TOO_SLOW": {Brief: "Not finished in time", Message: "The diagnostics worker did not finish in time."},
	"WORKER_REFUSED":  {Brief: "Not allowed here", Message: "The diagnostics worker does not accept this target."},
	"WORKER_FAILED":   {Message: "The diagnostics worker could not run this job."},
	"WORKER_ICMP":     {Brief: "ICMP only", Message: "This worker can trace with ICMP only."},
	"WORKER_NO_FAMILY": {Brief: "Not checked", Args: "family text, host text",
		Message: "The diagnostics worker has no {family} connection[, and {host} has only {family} addresses]."},
	"TOO_MANY_MEASUREMENTS": {Brief: "Too many at once",
		Message: "You have too many measurements running; wait until one has finished."},
}

// placeRows are about other places of this service.
var placeRows = finding.Rows{
	"PLACE_UNREACHABLE": {Args: "place text",
		Message: "The place {place} cannot be reached at the moment; try again in a few seconds."},
	"PLACE_SILENT": {Args: "place text",
		Message: "The place {place} does not answer at the moment; try again in a few seconds."},
	"PLACE_LATE": {Brief: "Not finished in time", Args: "place text",
		Message: "The place {place} did not answer in time."},
	"PLACE_BROKE_OFF": {Args: "place text",
		Message: "The place {place} stopped before it had answered; try again in a few seconds."},
	"PLACE_UNUSABLE": {Args: "place text", Message: "The place {place} sent an answer that cannot be used."},
	"PLACE_BUSY": {Brief: "Place busy", Args: "place text, wait wait",
		Message: "The place {place} is busy.[ Try again in {wait}.]"},
	"PLACE_FAILED":       {Args: "place text", Message: "The place {place} could not run this diagnostic."},
	"PLACE_GONE":         {Message: "This place is not there any more."},
	"PLACE_WITHOUT_TOOL": {Brief: "Not at this place", Message: "This place does not have this tool yet."},
	"PLACE_TOOL_OFF": {Brief: "Not at this place", Args: "place text",
		Message: "This tool is not enabled at the place {place}."},
	"PLACE_REFUSES": {Brief: "Refused there", Args: "place text",
		Message: "The place {place} does not take this request."},
	"PLACE_SEES": {Brief: "Failed there", Args: "place text, seen sentence",
		Message: "Seen from {place}: [{seen}]{seen?|The diagnostic failed.}"},
}

// certificateRows are the reasons why a certificate is refused or was not verified, with the codes of package certs.
var certificateRows = finding.Rows{
	"CERT_HAS_EXPIRED":                  {Clause: "it has expired"},
	"CERT_NOT_YET_VALID":                {Clause: "it is not valid yet"},
	"DEPTH_ZERO_SELF_SIGNED_CERT":       {Clause: "it is self-signed"},
	"SELF_SIGNED_CERT_IN_CHAIN":         {Clause: "its root is not trusted"},
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY": {Clause: "its issuer is not trusted"},
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE":   {Clause: "an intermediate certificate is missing"},
	"ERR_TLS_CERT_ALTNAME_INVALID":      {Clause: "it is for another name"},
	"INVALID_PURPOSE":                   {Clause: "it is not for servers"},
	"PERMITTED_VIOLATION":               {Clause: "its authority may not issue for this name"},
	"UNHANDLED_CRITICAL_EXTENSION":      {Clause: "it has an extension that clients do not understand"},
	"INVALID_CA":                        {Clause: "its issuer is not a certificate authority"},
	"CA_MD_TOO_WEAK":                    {Clause: "its chain is signed with SHA-1 or MD5"},
	"PATH_LENGTH_EXCEEDED":              {Clause: "its chain is longer than one of its authorities allows"},
	"CERT_REVOKED":                      {Clause: "its authority has revoked it"},
	"CHAIN_NOT_READ":                    {Clause: "its chain could not all be read"},
	"CHAIN_TOO_COSTLY":                  {Clause: "its chain takes too long to verify"},
	"KEY_TOO_LONG":                      {Clause: "its chain has an RSA key of more than 8192 bits"},
}
