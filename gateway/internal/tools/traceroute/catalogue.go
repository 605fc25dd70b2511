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
	codePortRefused = "PORT_REFUSED_ON_THE_WAY"
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
	lastAnswer      = "[ The last answer came from hop {last}.]{last?| No router answered.}"
	tooBig          = "{ipv6?ICMPv6 type 2 (packet too big)|ICMP type 3 code 4 (fragmentation needed)}"
	remedyBlackHole = "Allow " + tooBig + " in the firewalls on the path[, or clamp the TCP MSS to {mss} there]."
	otherProbe      = "Try TCP to a port that the host serves, such as 443."
)

var rows = finding.Join(conclusions, factRows)

// factRows are the sentences on the worker's facts: notes, the explanation, and the note on the path MTU.
var factRows = finding.Join(hopRows, traceRows, mtuRows)

var conclusions = finding.Rows{
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
		Meaning: "Three probes are few: measure the loss with the packet loss tool.",
		Remedy:  "Three probes are few: measure the loss with the packet loss tool.",
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
	codePortRefused: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:    "host text, address text, last number",
		Message: "The trace to " + name + " ended[ at hop {last}]: the port is refused there, before the destination.",
		Brief:   "Port refused on the way",
		Meaning: "That says nothing about the host. Try TCP to a port that the host serves, such as 443.",
		Remedy:  "Try TCP to a port that the host serves, such as 443.",
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
		Args: "host text, address text, size count, hop number, mss number, ipv6 flag",
		Message: "[Packets of more than {size} octets]{size?|Large packets} to " + name + " vanish[ behind hop {hop}], " +
			"and no ICMP message reports it: connections that send them hang.",
		Brief:     "Large packets vanish",
		Meaning:   "Connections start and then hang. " + remedyBlackHole,
		Remedy:    remedyBlackHole,
		Reference: "https://www.rfc-editor.org/rfc/rfc2923#section-2.1",
	},
	codeWrongReport: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args: "host text, address text, size count, hop number, mss number",
		Message: "A router reports that packets to " + name + " are too big[ behind hop {hop}], but states no size that " +
			"passes. Measured, {size} octets do.",
		Brief:     "Path MTU not reported",
		Meaning:   "Senders have to guess the size that passes, so connections may start and then hang.",
		Remedy:    "Have the router state its next-hop MTU[, or clamp the TCP MSS to {mss} there].",
		Reference: "https://www.rfc-editor.org/rfc/rfc1191",
	},
	codeReduced: {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args: "host text, address text, size count, hop number, segment count, ipv6 flag",
		Message: "Packets to " + name + " may have at most {size} octets[ behind hop {hop}], which a router reports: a " +
			"TCP segment has at most {segment} octets then.",
		Remedy: "No action is needed while " + tooBig + " gets through.",
	},
	codeNoMTU: {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args:    "host text, address text, size count",
		Message: "The path MTU to " + name + " was not found[; packets of {size} octets pass].",
	},
}

// within says for how long answers were waited for, as part of every sentence about silence, and someAnswered how many
// probes were answered.
const (
	within       = "within {within} s"
	someAnswered = "answered {answered} of {sent} probes " + within
	someArgs     = "answered number, sent number, within number"
)

// hopRows are about single hops. Their codes are the worker's.
var hopRows = finding.Rows{
	"HOP_PRIVATE":        {Message: "A private address, which is not shown."},
	"HOP_PARTLY_PRIVATE": {Message: "Another address of this hop is private and not shown."},
	"HOP_REFUSED":        {Args: "refusal code", Message: "Refused the probe: {refusal}."},
	"HOP_TOO_BIG":        {Message: "Says that the packet is too big for its next link; the trace goes on."},
	"HOP_BORROWED": {
		Message: "Answers with the destination's address but is not the destination: a router translates addresses there, " +
			"or the answer is forged.",
	},
	"HOP_DAMAGED": {Message: "Its echo replies come back damaged: cut short or changed."},
	"HOP_DESTINATION_LOSS": {
		Args:    someArgs,
		Message: "The destination " + someAnswered + ".",
	},
	"HOP_SILENT": {Args: "within number", Message: "Did not answer " + within + ", but forwards traffic."},
	"HOP_LIMITED": {
		Args:    someArgs,
		Message: "Limits its answers: {answered} of {sent} probes " + within + ".",
	},

	"REFUSAL_NETWORK":    {Clause: "network unreachable"},
	"REFUSAL_HOST":       {Clause: "host unreachable"},
	"REFUSAL_PROTOCOL":   {Clause: "protocol unreachable"},
	"REFUSAL_PORT":       {Clause: "port unreachable"},
	"REFUSAL_PROHIBITED": {Clause: "administratively prohibited"},
}

// traceRows explain a whole trace. Their codes are the worker's.
var traceRows = finding.Rows{
	"TRACE_REACHED": {
		Args:    "hop number, took duration",
		Message: "The destination answered at hop {hop}, in {took} on average.",
	},
	"TRACE_RATIONED": {
		Args: "within number, hop number",
		Message: "The destination answers, but " + within + " not to the probes that would show how far away it is: it " +
			"limits how often it answers{hop?.|, or it is very far away.}[ It is shown at hop {hop}, where the TTL of its " +
			"reply or the last router puts it.]",
	},
	"TRACE_TOO_LONG": {
		Args:    "most number, within number",
		Message: "The destination was not reached within {most} hops[, and did not answer within {within} s].",
	},
	"TRACE_STOPPED": {
		Args: "seconds number", Message: "The trace was stopped after {seconds} seconds, before it was complete.",
	},
	"TRACE_ALL_SILENT": {
		Args: "within number",
		Message: "Nothing answered " + within + ", neither routers nor the destination. A firewall may drop the probes " +
			"near where they start.",
	},
	"TRACE_SILENT_BEYOND": {
		Args: "within number, hop number",
		Message: "Nothing answered " + within + " beyond hop {hop}, the destination included. It may be down, or a " +
			"firewall drops the probes; other traffic may still get through.",
	},
	"TRACE_REFUSED": {
		Args: "refusal code", Message: "A router or firewall on the way refuses the probes: {refusal}.",
	},
	"TRACE_PORT_REFUSED": {
		Args:    "hop number",
		Message: "The port is refused[ at hop {hop}] before the destination, which says nothing about the host itself.",
	},
	"TRACE_REFUSED_BY_TARGET": {
		Args:    "hop number, refusal code",
		Message: "The destination itself, at hop {hop}, refuses the probes: {refusal}. Packets do get there.",
	},
	"TRACE_BLOCKED": {
		Args: "hop number, refusal code", Message: "A firewall at hop {hop} blocks the probes: {refusal}.",
	},
	"TRACE_UNDELIVERABLE": {
		Args:    "hop number, refusal code",
		Message: "The router at hop {hop} cannot deliver to the destination: {refusal}.",
	},
	"TRACE_BORROWED": {
		Args: "hops list",
		Message: "{hops:Hop|Hops} {hops} {hops:answers|answer} with the destination's address, but probes go on from " +
			"there: a router translates addresses, or the answers are forged.",
	},
	"TRACE_LOSS_RECHECKED": {
		Args: someArgs,
		Message: "The destination " + someAnswered + ", and one more after a second's pause: it may limit how often it " +
			"answers. Measure it with more probes before you call it loss.",
	},
	"TRACE_LOSS_FROM": {
		Args: "hop number",
		Message: "Loss begins at hop {hop} and continues to the destination: packets may be lost from there on. Measure " +
			"the destination with more probes to be sure.",
	},
	"TRACE_LOSS_AT_END": {
		Args: someArgs,
		Message: "Loss begins at the destination itself: it " + someAnswered + ", the hop before it all of them. Measure " +
			"it with more probes before you call it loss.",
	},
	"TRACE_LOSS_SOMEWHERE": {
		Args: someArgs,
		Message: "The destination " + someAnswered + ". Where the others were lost is unknown, because the hops right " +
			"before it did not answer. Measure it with more probes before you call it loss.",
	},
	"TRACE_UDP_LIMITED": {
		Args: "within number",
		Message: "Hosts limit how often they report a closed UDP port: probes that the destination did not answer " +
			within + " need not be lost.",
	},
	"TRACE_UDP_SILENT": {
		Args: "port number",
		Message: "A service on UDP port {port} may ignore the probes, which looks the same as a firewall that drops " +
			"them.",
	},
	"TRACE_TCP_SILENT": {
		Args: "port number",
		Message: "A firewall may drop only what goes to TCP port {port}: a port that the host serves is more likely to " +
			"answer.",
	},
	"TRACE_LATENCY_RISES": {
		Args: "took duration, nearer number, farther number",
		Message: "The largest rise in latency, {took}, is between hop {nearer} and hop {farther} and persists from there " +
			"on: a long link, or a busy one.",
	},
	"TRACE_SLOW_ROUTERS": {
		Args: "hops list",
		Message: "{hops:Hop|Hops} {hops} {hops:answers|answer} much later than the destination: slow to answer, not to " +
			"forward.",
	},
	"TRACE_LIMITED": {
		Args: "hops list, within number",
		Message: "{hops:Hop|Hops} {hops} answered only some probes " + within + " while later hops answered all: routers " +
			"limit ICMP, so this is not loss.",
	},
	"TRACE_NO_ROUTER": {
		Args: "within number",
		Message: "No router on the way answered " + within + ", but the destination did: a firewall near the start blocks " +
			"their answers, not your traffic.",
	},
	"TRACE_SILENT_BEFORE_END": {
		Args: "within number, hop number",
		Message: "Right before the destination nothing answered " + within + " (from hop {hop} on), often because of a " +
			"silent firewall there; the destination answered, so the path works.",
	},
	"TRACE_SILENT_ROUTERS": {
		Args:    "hops list, within number",
		Message: "{hops:Hop|Hops} {hops} did not answer " + within + " but forwarded traffic, which is common.",
	},
	"TRACE_RETURNS_OTHERWISE": {
		Args: "hop number, back number",
		Message: "Hop {hop} is {hop} hops away, but its answers seem to come back over {back}: the return path differs " +
			"from the forward path, so a delay or a loss may be on either.",
	},
	"TRACE_SPREAD": {
		Args:    "hops list",
		Message: "{hops:Hop|Hops} {hops} {hops:answers|answer} from several addresses: traffic takes several paths.",
	},
	"TRACE_HIDDEN": {
		Args: "hops list", Message: "{hops:Hop|Hops} {hops} {hops:has|have} a private address, which is not shown.",
	},
	"TRACE_LOOPS": {
		Args: "hop number", Message: "The router at hop {hop} appeared twice before: packets are looping there.",
	},
}

// mtuRows explain a path MTU. Their codes are the worker's, but for codeNotMeasured.
var mtuRows = finding.Rows{
	codeNotMeasured:   {Message: "The diagnostics worker is of a version that does not measure the path MTU."},
	"MTU_WORKER_BUSY": {Message: "It was not measured: the worker is already sending as many probes as it may."},
	"MTU_NOT_SENT":    {Message: "It was not measured: the worker's own host could not send the probes."},
	"MTU_LATE":        {Message: "The time ran out before anything was measured."},
	"MTU_LATE_BESIDE_LOSS": {
		Message: "The time ran out before the sizes that get no answer were distinguished from other loss.",
	},
	"MTU_NOTHING_ANSWERS": {Message: "Nothing answers that could show which sizes pass."},
	"MTU_OWN_LINK": {
		Args: "size count",
		Message: "The link of the worker's own host does not carry packets of {size} octets, so larger ones could not be " +
			"tried.",
	},
	"MTU_MUTE_PASSES": {
		Args:    "size count, hop number",
		Message: "The destination answers no echo requests; packets of {size} octets get as far as hop {hop}.",
	},
	"MTU_MUTE": {
		Args:    "hop number",
		Message: "The destination answers no echo requests, so this is the path as far as hop {hop}.",
	},
	"MTU_BESIDE_LOSS": {
		Args: "size count",
		Message: "Packets of {size} octets got no answer, but too few of any size were answered to tell a limit on size " +
			"from other loss.",
	},
	"MTU_WRONG_MESSAGE": {
		Args: "size count",
		Message: "A message said that packets may have {size} octets, which is wrong: only measured sizes count " +
			"here.",
	},
	"MTU_VANISHES_EARLIER": {
		Args:    "size count, hop number",
		Message: "Packets of {size} octets vanish behind hop {hop} before that, without a message.",
	},
	"MTU_NOT_LOCATED": {Message: "Where larger packets are lost was not found in time."},
	"MTU_VANISHES_BEFORE": {
		Args: "size count, hop number", Message: "Packets of {size} octets vanish before hop {hop}.",
	},
	"MTU_VANISHES_BEHIND": {
		Args: "size count, hop number", Message: "Packets of {size} octets vanish behind hop {hop}.",
	},
	"MTU_VANISHES_BETWEEN": {
		Args:    "size count, from number, to number",
		Message: "Packets of {size} octets vanish between hop {from} and hop {to}.",
	},
	"MTU_NO_REPLY": {
		Args: "size count",
		Message: "Packets of {size} octets reach the last router that answers, but get no echo reply: the last link is " +
			"narrower, the reply, which is as large, is lost on its way back, or a firewall drops large echo requests.",
	},
	"MTU_NARROW_WAY_BACK": {
		Args: "size count, back count",
		Message: "Packets of {size} octets arrive, but echo replies of more than {back} octets do not come back: the way " +
			"back is narrower, or a firewall drops large echo requests.",
	},
	"MTU_VANISHES_AT_END": {
		Args: "size count",
		Message: "Packets of {size} octets get neither an echo reply nor, as UDP datagrams, the short answer that smaller " +
			"ones get: they vanish right before the destination.",
	},
}
