package portchecker

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codeOpen        = "OPEN"
	codeSome        = "OPEN_AT_SOME"
	codeClosed      = "CLOSED"
	codeFiltered    = "FILTERED"
	codeUnreachable = "UNREACHABLE"
	codeNotTried    = "NOT_TRIED"

	codeNotOpen = "ADDRESS_NOT_OPEN"
	codeExposed = "RISKY_SERVICE_OPEN"
	codeSkipped = "ADDRESS_NOT_TRIED"
	codeMore    = "MORE_ADDRESSES"
)

// The codes of why an address does not accept connections. Why one was not tried is a code of package fault.
const (
	codeRefused  = "CONNECTION_REFUSED"
	codeReset    = "CONNECTION_RESET"
	codeSilent   = "PORT_SILENT"
	codeNoHost   = "HOST_UNREACHABLE"
	codeHostDown = "HOST_DOWN"
	codeNoRoute  = "NO_ROUTE"
	codeBlocked  = "CONNECTION_BLOCKED"
	codeNoTCP    = "TCP_NOT_SUPPORTED"
	codeInvalid  = "PROTOCOL_ERROR"
)

const port = "Port {port}[ (usually {service})] of {host}"

var rows = finding.Rows{
	codeOpen: {
		State:   finding.OK,
		Args:    "port number, service text, host text",
		Message: port + " is open.",
		Brief:   "Open",
		Meaning: "Something accepted the connection. Whether the program behind it works was not checked.",
	},
	codeSome: {
		State:   finding.Warned,
		Args:    "port number, service text, host text, open number, tried number",
		Message: port + " is open at only {open} of {tried} addresses tried.",
		Brief:   "Open at some addresses",
		Meaning: "Clients use whichever address their connection prefers, so some of them cannot connect. Repair the " +
			"addresses that are not open, or remove them from the DNS.",
	},
	codeClosed: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Args:    "port number, service text, host text, address text",
		Message: port + " is closed[ at {address}]: the connection is refused.",
		Brief:   "Closed",
		Meaning: "The host answers, but nothing listens on this port, or a firewall rejects the connection. If a service " +
			"should be there, check that it runs and listens on this port.",
		Remedy: "Start the service that should listen on this port, or let the firewall admit connections to it.",
	},
	codeFiltered: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args:    "port number, service text, host text, address text",
		Message: port + " does not answer[ at {address}: a firewall may drop the packets, or there is no host].",
		Brief:   "No answer",
		Meaning: "A firewall probably drops the packets, or there is no host. A firewall may admit other sources, so the " +
			"port may be open for others.",
		Remedy: "If the port should be open, let the firewall admit connections to it.",
	},
	codeUnreachable: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Args:    "port number, service text, host text, address text, reason sentence",
		Message: port + " cannot be reached[ at {address}].[ {reason}]",
		Brief:   "Unreachable",
		Meaning: "The network reports that the host cannot be reached, so nothing is known about the port itself. Check " +
			"that the host is on and connected.",
	},
	codeNotTried: {
		State:   finding.Unknown,
		Args:    "port number, service text, host text, reason sentence",
		Message: port + " was not tried. {reason}",
		Brief:   "Not tried",
		Meaning: "This says nothing about the port; others may reach it.",
	},
	codeNotOpen: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args:    "port number, service text, host text, address text, reason sentence",
		Message: port + " is not open at {address}. {reason}",
		Remedy:  "Repair the server there, or remove its address from the DNS.",
	},
	codeExposed: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 58,
		Args:    "port number, service text, host text",
		Message: port + " is open to the internet, although such a service is rarely meant for everyone.",
		Remedy:  "Let a firewall admit only the clients that need it.",
	},
	codeSkipped: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "port number, service text, host text, address text, reason sentence",
		Message: port + " was not tried at {address}. {reason}",
	},
	codeMore: {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args:    "host text, count number",
		Message: "{count} more {count:address|addresses} of {host} {count:was|were} not tried.",
	},

	codeRefused:  {Message: "The host refused the connection: nothing is listening on this port."},
	codeReset:    {Message: "The host reset the connection."},
	codeSilent:   {Message: "No answer: a firewall may drop the packets, or there is no host."},
	codeNoHost:   {Message: "A router reports that the host cannot be reached."},
	codeHostDown: {Message: "The host is down."},
	codeNoRoute:  {Message: "There is no route to the host's network."},
	codeBlocked:  {Message: "A firewall on the way blocks the connection."},
	codeNoTCP:    {Message: "The host reports that it does not support TCP."},
	codeInvalid:  {Message: "The host answered with a protocol error."},
}.WithClauses(fault.Rows)
