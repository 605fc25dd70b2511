package probing

import (
	"time"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/workerapi"
)

// lossCode returns the code of a share of lost probes above zero. Under 10 % it is a note, from 50 % on the path does
// not work.
func lossCode(lost, of int) string {
	switch {
	case lost*2 >= of:
		return codeHighLoss
	case lost*10 >= of:
		return codeLoss
	}
	return codeLowLoss
}

// lateAfter is in seconds.
var lateAfter = workerapi.LateAfter.Seconds()

// Echo reports the result of echo requests that were sent with a gap between them. rows are EchoRows and a row for
// CodeAnswered.
func Echo(rows finding.Rows, p workerapi.Ping, gap time.Duration) finding.Report {
	report, host := rows.Draft(), finding.Args{"host": p.Target}
	counted := p.Sent - p.Undecided - p.Damaged
	if p.Received == 0 {
		return silence(report, host, p, counted)
	}
	code, args := CodeAnswered, host.With(finding.Args{"probes": counted})
	if p.MedianMs != nil {
		args["median"] = Milliseconds(*p.MedianMs)
	}
	if lost := counted - p.Received; lost > 0 {
		args["loss"] = 100 * float64(lost) / float64(counted)
		code = lossCode(lost, counted)
		if n := longestBurst(p.Replies); n > 2 {
			args["burst"] = n
		}
		if c := p.Confirmation; c != nil {
			args["further"], args["apart"] = c.Sent, Milliseconds(c.IntervalMs)
			if c.Received == c.Sent {
				code = codeLimited
				delete(args, "median")
				delete(args, "burst")
			} else {
				args["silent"] = c.Sent - c.Received
			}
		}
		found := args.With(nil)
		delete(found, "median")
		report.Add(code, "", found)
	}
	more, worse := finding.Args{}, rows[code].State == finding.Warned
	conclude := func(slower string, more finding.Args) {
		report.Add(slower, "", host.With(more))
		if !worse {
			code, args, worse = slower, host, true
		}
	}
	if p.Late > 0 {
		conclude(codeLate, lateReplies(p))
		more = more.With(lateReplies(p))
	}
	if p.Damaged > 0 {
		conclude(codeDamaged, damagedReplies(p))
		more = more.With(damagedReplies(p))
	}
	if p.Duplicates > 0 {
		report.Add(codeDuplicates, "", host.With(finding.Args{"count": p.Duplicates}))
	}
	if n := reordered(p, gap); n > 0 {
		more["reordered"] = n
		report.Add(codeReordered, "", host.With(finding.Args{"reordered": n}))
	}
	switch {
	case p.Undecided == 1:
		more["lastUndecided"] = true
	case p.Undecided > 1:
		more["undecided"] = p.Undecided
	}
	return report.Conclude(code, args.With(more))
}

// longestBurst returns the largest number of probes in a row that were lost.
func longestBurst(replies []workerapi.Reply) (longest int) {
	n := 0
	for _, r := range replies {
		n++
		if r.RTTMs != nil || r.Undecided || r.Damaged {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// clearly is by how much a reply must come after a later one to be out of order: probes do not leave exactly on time.
const clearly = 20 * time.Millisecond

// reordered counts the replies that came after the reply to a later probe (RFC 4737).
func reordered(p workerapi.Ping, gap time.Duration) (n int) {
	arrived := map[int]time.Duration{}
	for _, r := range p.Replies {
		if r.RTTMs != nil {
			arrived[r.Seq] = time.Duration(r.Seq)*gap + Milliseconds(*r.RTTMs)
		}
	}
	for seq, at := range arrived {
		for later, before := range arrived {
			if later > seq && before+clearly < at {
				n++
				break
			}
		}
	}
	return n
}

// silence reports a host that answered nothing. Many hosts ignore echo requests, so only a report of a router or a
// firewall is a fault.
func silence(report *finding.Draft, host finding.Args, p workerapi.Ping, counted int) finding.Report {
	code, args := codeNoReply, host
	switch {
	case p.Damaged > 0:
		code, args = codeDamaged, host.With(damagedReplies(p))
	case p.StopReason == workerapi.StopUnreachable:
		code = codeUnreachable
	case p.StopReason == workerapi.StopProhibited:
		code = codeProhibited
	case counted == 0:
		code = codeNotMeasured
	default:
		args = host.With(finding.Args{"probes": counted, "limit": lateAfter})
	}
	report.Add(code, "", args)
	return report.Conclude(code, args)
}

func lateReplies(p workerapi.Ping) finding.Args {
	if p.Late == p.Received {
		return finding.Args{"allLate": true, "limit": lateAfter}
	}
	return finding.Args{"late": p.Late, "received": p.Received, "limit": lateAfter}
}

func damagedReplies(p workerapi.Ping) finding.Args {
	return finding.Args{"damaged": p.Damaged, "sent": p.Sent}
}

// Milliseconds returns a worker's time as an argument.
func Milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
