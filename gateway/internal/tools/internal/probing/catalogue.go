package probing

import "diagnostics/gateway/internal/tool/finding"

// The codes of ping and packet-loss, which report the same measurement in the same way. Each has its own row for
// CodeAnswered.
const (
	CodeAnswered    = "ANSWERED"
	codeLoss        = "PACKET_LOSS"
	codeLowLoss     = "LOW_PACKET_LOSS"
	codeHighLoss    = "HIGH_PACKET_LOSS"
	codeLimited     = "REPLIES_LIMITED"
	codeLate        = "LATE_REPLIES"
	codeDuplicates  = "DUPLICATE_REPLIES"
	codeDamaged     = "DAMAGED_REPLIES"
	codeReordered   = "REORDERED_REPLIES"
	codeNoReply     = "NO_REPLY"
	codeUnreachable = "UNREACHABLE"
	codeProhibited  = "PROHIBITED"
	codeNotMeasured = "NOT_MEASURED"
)

// MoreArgs are the arguments of More: what else is to be said of a host that answers.
const (
	MoreArgs = ", late number, received number, allLate flag, limit number, damaged number, sent number, lastUndecided " +
		"flag, undecided number, reordered number"
	More = "{allLate? Each answer}[ {late} of {received} {received:answer|answers}][ took longer than {limit} s.]" +
		"[ {damaged} of {sent} {sent:probe|probes} got a damaged reply.]" +
		"[ {reordered} {reordered:answer|answers} arrived out of order.]" +
		"{lastUndecided? The last probe had no time to be answered and does not count.}" +
		"[ The last {undecided} probes had no time to be answered and do not count.]"
)

const (
	lostArgs = "host text, loss percent, probes number, further number, apart duration, silent number, median duration, " +
		"burst number" + MoreArgs
	lost = "{loss} of {probes} {probes:probe|probes} to {host} got no answer." +
		"[ Of {further} {further:more probe|more probes} sent {apart} apart, {silent} got no answer either.]" +
		"[ The others took {median} (median).]" + More
	lostInARow = "[Up to {burst} probes in a row were lost, so nothing came through for that moment. ]"
	remedyLoss = "Compare with a traceroute, and with a measurement at another time of the day."
)

// EchoRows are the rows of those codes but CodeAnswered.
var EchoRows = finding.Rows{
	codeUnreachable: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Args:    "host text",
		Message: "{host} cannot be reached, as a router on the way reports.",
		Brief:   "Unreachable",
		Meaning: "Check that the host is on and that its network is connected.",
		Remedy:  "Check that the host is on and that its network is connected.",
	},
	codeProhibited: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 60,
		Args:    "host text",
		Message: "{host} cannot be reached: a firewall rejects the probes.",
		Brief:   "Rejected by a firewall",
		Meaning: "The firewall may let other traffic pass. If echo requests should pass too, allow them.",
		Remedy:  "If that is not intended, allow echo requests in the firewall. Other traffic may still pass.",
	},
	codeHighLoss: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args:    lostArgs,
		Message: lost,
		Brief:   "{loss} lost",
		Meaning: lostInARow + "If other traffic is lost too, connections to the host hardly work. " + remedyLoss,
		Remedy:  remedyLoss,
	},
	codeLoss: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args:    lostArgs,
		Message: lost,
		Brief:   "{loss} lost",
		Meaning: lostInARow + "Websites and downloads resend a lost packet; calls and games suffer. " + remedyLoss,
		Remedy:  remedyLoss,
	},
	codeLowLoss: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 8,
		Args:    lostArgs,
		Message: lost,
		Brief:   "{loss} lost",
		Meaning: lostInARow + "So little loss is hardly noticed. Measure again if calls or games suffer.",
	},
	codeLate: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args:    "host text" + MoreArgs,
		Message: "{host} answers, but slowly." + More,
		Brief:   "Answers slowly",
		Meaning: "Most programs have tried again or given up by then. Look for a busy line on the way.",
		Remedy:  "Look for a busy line on the way; satellite links and mobile networks are common causes too.",
	},
	codeDamaged: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Args:      "host text" + MoreArgs,
		Message:   "{host} answers, but replies come back damaged." + More,
		Brief:     "Damaged replies",
		Meaning:   "Something on the way cuts replies short or changes them. They count neither as received nor as lost.",
		Remedy:    "Look for a firewall, tunnel or load balancer on the way that rewrites echo replies.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1122#page-42",
	},
	codeNoReply: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:    "host text, probes number, limit number",
		Message: "{host} did not answer any of {probes} {probes:probe|probes} within {limit} s.",
		Brief:   "No reply",
		Meaning: "The host may be down, but many hosts ignore echo requests. Check one of its services instead.",
		Remedy:  "Many hosts ignore echo requests. Check a service of the host instead, such as its website.",
	},
	codeLimited: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "host text, loss percent, probes number, further number, apart duration" + MoreArgs,
		Message: "{host} probably limits its answers. {loss} of {probes} {probes:probe|probes} got no answer, but all " +
			"{further} sent {apart} apart afterwards were answered." + More,
		Brief:   "Limits its answers",
		Meaning: "Most likely nothing was lost on the way, and other traffic is not affected.",
	},
	codeDuplicates: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "host text, count number",
		Message: "{host} answered some probes more than once ({count} extra {count:answer|answers}).",
		Remedy:  "Look for loops, mirrored links and broadcast addresses.",
	},
	codeReordered: {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args:      "host text, reordered number",
		Message:   "{reordered} {reordered:answer|answers} from {host} arrived out of order; calls and games may notice.",
		Remedy:    "Parallel links of different length are the usual cause: look for them on the way.",
		Reference: "https://www.rfc-editor.org/rfc/rfc4737",
	},
	codeNotMeasured: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "host text",
		Message: "No probe to {host} could be measured in time.",
		Brief:   "Not measured",
		Meaning: "This says nothing about the host.",
		Remedy:  "Try again.",
	},
}
