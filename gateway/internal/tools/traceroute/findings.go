package traceroute

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/shared/workerapi"
)

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
)

const (
	sentenceReached    = "%s is %s away and answers in %s on average."
	sentenceLoss       = "%[1]s is %[2]s away and answered %[4]d of %[5]s, in %[3]s on average."
	sentenceNoDistance = "%s answers, but its distance could not be measured."
	sentenceNoReply    = "%s did not answer the trace.%s"
	sentenceNoTime     = "The trace to %s ran out of time.%s"
	sentenceRefused    = "%s rejects the probes itself, so packets do get there."
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeReached:     {State: finding.OK, Message: sentenceReached},
		codeNoDistance:  {State: finding.Noted, Message: sentenceNoDistance},
		codeLoss:        {State: finding.Warned, Message: sentenceLoss},
		codeNoReply:     {State: finding.Warned, Message: sentenceNoReply},
		codeNotFinished: {State: finding.Unknown, Message: sentenceNoTime},
		codeRefused:     {State: finding.Warned, Message: sentenceRefused},
		codeUnreachable: {State: finding.Failed,
			Message: "%s cannot be reached: a router reports it.%s"},
		codeProhibited: {State: finding.Failed,
			Message: "%s cannot be reached: a firewall rejects the probes.%s"},
		codeBlackHole:   {State: finding.Warned, Message: sentenceBlackHole},
		codeWrongReport: {State: finding.Warned, Message: sentenceWrongReport},
	},
	Findings: map[string]finding.Entry{
		codeUnreachable: {Severity: finding.Fail, Group: finding.Broken, Weight: 80,
			Message: "A router on the way to %s reports that it cannot be reached.%s",
			Remedy:  "Check that the host is on and that its network is connected."},
		codeProhibited: {Severity: finding.Fail, Group: finding.Broken, Weight: 60,
			Message: "A firewall on the way to %s rejects the probes.%s",
			Remedy:  "If that is not intended, allow them in the firewall. Other traffic may still pass."},
		codeLoss: {Severity: finding.Warn, Group: finding.Safer, Weight: 45, Message: sentenceLoss,
			Remedy: "Three probes are few: measure the loss with packet-loss."},
		codeRefused: {Severity: finding.Warn, Group: finding.Note, Weight: 9, Message: sentenceRefused,
			Remedy: "Trace with tcp to a port that the host serves."},
		codeNoReply: {Severity: finding.Warn, Group: finding.Note, Weight: 9, Message: sentenceNoReply,
			Remedy: "Firewalls often drop probes and let other traffic pass. Trace with tcp to a port that the host serves."},
		codeTranslated: {Severity: finding.Info, Group: finding.Note, Weight: 6,
			Message: "Hops that are not %s answer with its address: a router translates addresses, or the answers are forged."},
		codeNoDistance: {Severity: finding.Info, Group: finding.Note, Weight: 5, Message: sentenceNoDistance},
		// Not Broken: MSS clamping hides a black hole from TCP, and other clients take other paths.
		codeBlackHole: {Severity: finding.Warn, Group: finding.Safer, Weight: 50, Message: sentenceBlackHole,
			Remedy: "Allow %[5]s in the firewalls on the path%[4]s.", Reference: referenceBlackHole},
		codeWrongReport: {Severity: finding.Warn, Group: finding.Safer, Weight: 40, Message: sentenceWrongReport,
			Remedy: "Have the router state its next-hop MTU%[4]s.", Reference: referenceDiscovery},
		codeReduced: {Severity: finding.Info, Group: finding.Note, Weight: 7,
			Message: "Packets to %[1]s may have at most %[2]s%[3]s, which a router reports: a TCP segment has at most " +
				"%[6]s then.",
			Remedy: "None is needed while %[5]s gets through."},
		codeNoMTU: {Severity: finding.Info, Group: finding.Note, Weight: 4,
			Message: "The path MTU to %s was not found%s."},
		codeNotFinished: {Severity: finding.Info, Group: finding.Note, Weight: 5, Message: sentenceNoTime,
			Remedy: "Try again."},
	},
}

// conclude reports what a trace comes to. Only what the destination left unanswered is loss: routers limit how often
// they answer.
func conclude(t workerapi.Traceroute) finding.Report {
	name := t.Target
	if t.Target != t.Address {
		name = fmt.Sprintf("%s (%s)", t.Target, t.Address)
	}
	code, arguments := ending(t, name)
	var found []finding.Finding
	if code != codeReached {
		found = append(found, catalogue.Find(code, arguments...))
	}
	if slices.ContainsFunc(t.Hops, func(h workerapi.Hop) bool { return h.TargetAddress }) {
		found = append(found, catalogue.Find(codeTranslated, name))
	}
	if mtu, arguments := conclusionOfMTU(t, name); mtu != "" {
		found = append(found, catalogue.Find(mtu, arguments...))
		if _, worse := catalogue.Conclusions[mtu]; worse && code == codeReached {
			return finding.NewReport(catalogue.Conclude(mtu, arguments...), found...)
		}
	}
	return finding.NewReport(catalogue.Conclude(code, arguments...), found...)
}

// ending returns the code of how the trace ended, and its arguments.
func ending(t workerapi.Traceroute, name string) (code string, arguments []any) {
	end := destination(t)
	switch {
	case t.Reached && (end == nil || end.Received == 0 || end.AverageMs == nil):
		return codeNoDistance, []any{name}
	case t.Reached:
		arguments := []any{name, probing.Count(end.TTL, "hop"), probing.Milliseconds(*end.AverageMs)}
		if end.Received == end.Sent {
			return codeReached, arguments
		}
		return codeLoss, append(arguments, end.Received, probing.Count(end.Sent, "probe"))
	case end != nil:
		return codeRefused, []any{name}
	}
	code, known := map[string]string{
		workerapi.StopUnreachable: codeUnreachable, workerapi.StopProhibited: codeProhibited,
		workerapi.StopDeadline: codeNotFinished,
	}[t.StopReason]
	if !known {
		code = codeNoReply
	}
	return code, []any{name, lastAnswer(t)}
}

// destination is the hop of the target itself, nil where it is not among them.
func destination(t workerapi.Traceroute) *workerapi.Hop {
	i := slices.IndexFunc(t.Hops, func(h workerapi.Hop) bool {
		return !h.TargetAddress && slices.Contains(h.Addresses, t.Address)
	})
	if i < 0 {
		return nil
	}
	return &t.Hops[i]
}

// lastAnswer is a sentence on how far the trace came.
func lastAnswer(t workerapi.Traceroute) string {
	for _, h := range slices.Backward(t.Hops) {
		if h.Received > 0 {
			return fmt.Sprintf(" The last answer came from hop %d.", h.TTL)
		}
	}
	return " No router answered."
}
