package traceroute

import "diagnostics/gateway/internal/tool/finding"

// The codes of this tool.
const (
	codeReached     = "REACHED"
	codeNoDistance  = "DISTANCE_UNKNOWN"
	codeLoss        = "DESTINATION_LOSS"
	codeNoReply     = "NOT_REACHED"
	codeNotFinished = "TRACE_NOT_FINISHED"
	codeRefused     = "REFUSED_BY_DESTINATION"
	codeUnreachable = "UNREACHABLE"
	codeProhibited  = "PROHIBITED"
	codeTranslated  = "TARGET_ADDRESS_ON_THE_WAY"
	codeBlackHole   = "PATH_MTU_BLACK_HOLE"
	codeWrongReport = "PATH_MTU_REPORT_WRONG"
	codeReduced     = "PATH_MTU_REDUCED"
	codeNoMTU       = "PATH_MTU_UNKNOWN"

	codeNotMeasured = "PATH_MTU_NOT_MEASURED"
)

const (
	name = "{host}[ ({address})]"
	// lastAnswer says how far the trace came.
	lastAnswer = "[ The last answer came from hop {last}.]{last?| No router answered.}"
	tooBig     = "{ipv6?ICMPv6 type 2 (packet too big)|ICMP type 3 code 4 (fragmentation needed)}"
	otherProbe = "Trace with tcp to a port that the host serves."
)

var rows = finding.Rows{
	codeReached: {
		State:   finding.OK,
		Args:    "host text, address text, hops number, time duration",
		Message: name + " is {hops} {hops:hop|hops} away and answers in {time} on average.",
		Brief:   "{hops} {hops:hop|hops}",
		Meaning: "This is the path from our server; the path from your own connection may differ.",
	},
	codeNoDistance: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "host text, address text",
		Message: name + " answers, but its distance could not be measured.",
		Brief:   "Distance unknown",
		Meaning: "The path works. Hosts limit how often they answer, so measure again if you need the distance.",
	},
	codeLoss: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Args: "host text, address text, hops number, received number, sent number, time duration",
		Message: name + " is {hops} {hops:hop|hops} away and answered {received} of {sent} {sent:probe|probes}, in {time} " +
			"on average.",
		Brief:   "Some probes lost",
		Meaning: "Three probes are few: measure the loss with packet-loss.",
		Remedy:  "Three probes are few: measure the loss with packet-loss.",
	},
	codeRefused: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:    "host text, address text",
		Message: name + " rejects the probes itself, so packets do get there.",
		Brief:   "Rejects the probes",
		Meaning: otherProbe,
		Remedy:  otherProbe,
	},
	codeNoReply: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:    "host text, address text, last number",
		Message: name + " did not answer the trace." + lastAnswer,
		Brief:   "No answer",
		Meaning: "The host may be down, but firewalls often drop probes and let other traffic pass. " + otherProbe,
		Remedy:  "Firewalls often drop probes and let other traffic pass. " + otherProbe,
	},
	codeNotFinished: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "host text, address text, last number",
		Message: "The trace to " + name + " ran out of time." + lastAnswer,
		Brief:   "Not finished",
		Meaning: "This says nothing about the host.",
		Remedy:  "Try again.",
	},
	codeUnreachable: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Args:    "host text, address text, last number",
		Message: name + " cannot be reached: a router reports it." + lastAnswer,
		Brief:   "Unreachable",
		Meaning: "Check that the host is on and that its network is connected.",
		Remedy:  "Check that the host is on and that its network is connected.",
	},
	codeProhibited: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 60,
		Args:    "host text, address text, last number",
		Message: name + " cannot be reached: a firewall rejects the probes." + lastAnswer,
		Brief:   "Rejected by a firewall",
		Meaning: "Other traffic may still pass. If the probes should pass too, allow them in the firewall.",
		Remedy:  "If that is not intended, allow them in the firewall. Other traffic may still pass.",
	},
	codeTranslated: {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args: "host text, address text",
		Message: "Hops that are not " + name + " answer with its address: a router translates addresses, or the answers " +
			"are forged.",
	},

	// Not Broken: MSS clamping hides a black hole from TCP, and other clients take other paths.
	codeBlackHole: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args: "host text, address text, size text, hop number, mss number, ipv6 flag",
		Message: "[Packets of more than {size} octets]{size?|Large packets} to " + name + " vanish[ behind hop {hop}], " +
			"and no ICMP message reports it: connections that send them hang.",
		Brief:     "Large packets vanish",
		Meaning:   "Connections start and then hang. Allow " + tooBig + " in the firewalls on the path.",
		Remedy:    "Allow " + tooBig + " in the firewalls on the path[, or clamp the TCP MSS to {mss} there].",
		Reference: "https://www.rfc-editor.org/rfc/rfc2923#section-2.1",
	},
	codeWrongReport: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args: "host text, address text, size text, hop number, mss number",
		Message: "A router reports that packets to " + name + " are too big[ behind hop {hop}], but states no size that " +
			"passes. Measured, {size} octets do.",
		Brief:     "Path MTU not reported",
		Meaning:   "Senders have to guess the size that passes, so connections may start and then hang.",
		Remedy:    "Have the router state its next-hop MTU[, or clamp the TCP MSS to {mss} there].",
		Reference: "https://www.rfc-editor.org/rfc/rfc1191",
	},
	codeReduced: {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args: "host text, address text, size text, hop number, segment text, ipv6 flag",
		Message: "Packets to " + name + " may have at most {size} octets[ behind hop {hop}], which a router reports: a " +
			"TCP segment has at most {segment} octets then.",
		Remedy: "None is needed while " + tooBig + " gets through.",
	},
	codeNoMTU: {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args:    "host text, address text, size text",
		Message: "The path MTU to " + name + " was not found[; packets of {size} octets pass].",
	},
	codeNotMeasured: {Message: "The diagnostics worker is of a version that does not measure the path MTU."},
}
