package probing

import (
	"fmt"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/workerapi"
)

// The codes of ping and packet-loss, which report the same measurement in the same way.
const (
	codeAnswered    = "ANSWERED"
	codeLoss        = "PACKET_LOSS"
	codeLowLoss     = "LOW_PACKET_LOSS"
	codeHighLoss    = "HIGH_PACKET_LOSS"
	codeLimited     = "REPLIES_LIMITED"
	codeLate        = "LATE_REPLIES"
	codeDuplicates  = "DUPLICATE_REPLIES"
	codeDamaged     = "DAMAGED_REPLIES"
	codeNoReply     = "NO_REPLY"
	codeUnreachable = "UNREACHABLE"
	codeProhibited  = "PROHIBITED"
	codeNotMeasured = "NOT_MEASURED"
)

// EchoCatalogue returns the catalogue of a tool of echo requests. answered is the sentence of a host that answered each
// in time; its arguments are the target, the median time, the counted probes, and further sentences.
func EchoCatalogue(answered string) finding.Catalogue {
	return finding.Catalogue{Findings: echoFindings, Conclusions: map[string]finding.Outcome{
		codeAnswered:    {State: finding.OK, Message: answered},
		codeLowLoss:     {State: finding.Noted, Message: lost},
		codeLoss:        {State: finding.Warned, Message: lost},
		codeHighLoss:    {State: finding.Warned, Message: lost},
		codeLimited:     {State: finding.Noted, Message: limited},
		codeLate:        {State: finding.Warned, Message: "%s answers, but slowly.%s"},
		codeDamaged:     {State: finding.Warned, Message: "%s answers, but replies come back damaged.%s"},
		codeNoReply:     {State: finding.Warned, Message: noReply},
		codeUnreachable: {State: finding.Failed, Message: "%s cannot be reached: a router on the way reports it."},
		codeProhibited:  {State: finding.Failed, Message: "%s cannot be reached: a firewall rejects the probes."},
		codeNotMeasured: {State: finding.Unknown, Message: "No probe to %s could be measured in time."},
	}}
}

const (
	lost       = "%[2]s of %[3]s to %[1]s got no answer.%[4]s"
	limited    = "%s probably limits its answers.%s"
	noReply    = "%s did not answer any of %s within %s."
	remedyLoss = "Compare with a traceroute, and with a measurement at another time of the day."
)

var echoFindings = map[string]finding.Entry{
	codeUnreachable: {Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Message: "A router on the way to %s reports that it cannot be reached.",
		Remedy:  "Check that the host is on and that its network is connected."},
	codeProhibited: {Severity: finding.Fail, Group: finding.Broken, Weight: 60,
		Message: "A router or firewall on the way to %s rejects the probes.",
		Remedy:  "If that is not intended, allow echo requests in the firewall. Other traffic may still pass."},
	codeHighLoss: {Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Message: lost, Remedy: remedyLoss},
	codeLoss: {Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Message: lost, Remedy: remedyLoss},
	codeLowLoss: {Severity: finding.Info, Group: finding.Note, Weight: 8,
		Message: lost},
	codeLate: {Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Message: "%[2]s of %[1]s took longer than %[3]s.",
		Remedy:  "Look for a busy line on the way; satellite links and mobile networks are common causes too."},
	codeDamaged: {Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Message:   "%[2]s to %[1]s got a reply that was cut short or changed. It counts neither as received nor as lost.",
		Remedy:    "Look for a firewall, tunnel or load balancer on the way that rewrites echo replies.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1122#page-42"},
	codeNoReply: {Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Message: noReply,
		Remedy:  "Many hosts ignore echo requests. Check a service of the host instead, with uptime or port-checker.",
	},
	codeLimited: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: limited},
	codeDuplicates: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "%s answered probes more than once (%s too many).",
		Remedy:  "Look for loops, mirrored links and broadcast addresses."},
	codeNotMeasured: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "This service could not measure a probe to %s in time.", Remedy: "Try again."},
}

// share is that of lost probes among those that count. Under 10 % it is a note, from 50 % on the path does not work.
type share struct{ lost, of int }

// code returns the code of a share above zero.
func (l share) code() string {
	switch {
	case l.lost*2 >= l.of:
		return codeHighLoss
	case l.lost*10 >= l.of:
		return codeLoss
	}
	return codeLowLoss
}

// String is the share as a sentence writes it, such as "33.3 %".
func (l share) String() string {
	percent := 100 * float64(l.lost) / float64(l.of)
	if 100*l.lost%l.of == 0 {
		return fmt.Sprintf("%.0f %%", percent)
	}
	return fmt.Sprintf("%.1f %%", percent)
}

// Echo reports what echo requests came to, in the words of a catalogue of EchoCatalogue.
func Echo(c finding.Catalogue, p workerapi.Ping) finding.Report {
	counted := p.Sent - p.Undecided - p.Damaged
	if p.Received == 0 {
		return silence(c, p, counted)
	}
	probes, loss := Count(counted, "probe"), share{counted - p.Received, counted}
	code, arguments, more := codeAnswered, []any{p.Target, median(p), probes}, ""
	var found []finding.Finding
	switch {
	case loss.lost > 0 && p.Confirmation != nil && p.Confirmation.Received == p.Confirmation.Sent:
		code, arguments = codeLimited, []any{p.Target}
		more = fmt.Sprintf(" %s of %s got no answer, but all %d sent %s apart afterwards were answered.", loss, probes,
			p.Confirmation.Sent, Milliseconds(p.Confirmation.IntervalMs))
		found = append(found, c.Find(code, p.Target, more))
	case loss.lost > 0:
		code, arguments = loss.code(), []any{p.Target, loss, probes}
		more = confirmed(p.Confirmation)
		found = append(found, c.Find(code, p.Target, loss, probes, more))
		more += fmt.Sprintf(" The others took %s (median).", median(p))
	}
	if p.Late > 0 {
		answers := "Each answer"
		if p.Late < p.Received {
			answers = fmt.Sprintf("%d of %s", p.Late, Count(p.Received, "answer"))
		}
		found = append(found, c.Find(codeLate, p.Target, answers, lateAfter))
		more += " " + answers + " took longer than " + lateAfter + "."
		if c.Conclusions[code].State != finding.Warned {
			code, arguments = codeLate, []any{p.Target}
		}
	}
	if p.Damaged > 0 {
		found = append(found, c.Find(codeDamaged, p.Target, damagedOf(p)))
		if c.Conclusions[code].State != finding.Warned {
			code, arguments = codeDamaged, []any{p.Target}
		}
		more += " " + damagedOf(p) + " got a damaged reply."
	}
	if p.Duplicates > 0 {
		found = append(found, c.Find(codeDuplicates, p.Target, Count(p.Duplicates, "answer")))
	}
	more += undecided(p.Undecided)
	return finding.NewReport(c.Conclude(code, append(arguments, more)...), found...)
}

// median is the median time; a worker need not send one.
func median(p workerapi.Ping) string {
	if p.MedianMs == nil {
		return "an unknown time"
	}
	return Milliseconds(*p.MedianMs)
}

var lateAfter = fmt.Sprintf("%g s", workerapi.LateAfter.Seconds())

// silence reports a host that answered nothing. Many hosts ignore echo requests, so only a report of a router or a
// firewall is a fault.
func silence(c finding.Catalogue, p workerapi.Ping, counted int) finding.Report {
	code, arguments := codeNoReply, []any{p.Target, Count(counted, "probe"), lateAfter}
	switch {
	case p.Damaged > 0:
		return finding.NewReport(c.Conclude(codeDamaged, p.Target, ""), c.Find(codeDamaged, p.Target, damagedOf(p)))
	case p.StopReason == workerapi.StopUnreachable:
		code, arguments = codeUnreachable, arguments[:1]
	case p.StopReason == workerapi.StopProhibited:
		code, arguments = codeProhibited, arguments[:1]
	case counted == 0:
		code, arguments = codeNotMeasured, arguments[:1]
	}
	return finding.NewReport(c.Conclude(code, arguments...), c.Find(code, arguments...))
}

// damagedOf is the number of probes with a damaged reply, as a sentence begins with it.
func damagedOf(p workerapi.Ping) string {
	return fmt.Sprintf("%d of %s", p.Damaged, Count(p.Sent, "probe"))
}

// confirmed is what slower probes afterwards say of the loss.
func confirmed(c *workerapi.Confirmation) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(" Of %s sent %s apart, %d got no answer either.", Count(c.Sent, "more probe"),
		Milliseconds(c.IntervalMs), c.Sent-c.Received)
}

func undecided(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " The last probe was sent too late to be answered and is not counted."
	}
	return fmt.Sprintf(" The last %d probes were sent too late to be answered and are not counted.", n)
}

// Count writes a number with what it counts.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Milliseconds writes a time with the digits that matter: from one second on in seconds.
func Milliseconds(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}
