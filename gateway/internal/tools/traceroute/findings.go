package traceroute

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/shared/workerapi"
)

// conclude reports what a trace comes to. Only what the destination left unanswered is loss: routers limit how often
// they answer.
func conclude(t workerapi.Traceroute, facts []workerapi.Fact) finding.Report {
	host := finding.Args{"host": t.Target}
	if t.Target != t.Address {
		host["address"] = t.Address
	}
	report := rows.Draft()
	code, args := ending(t, host)
	ofPort := func(f workerapi.Fact) bool { return f.Code == "TRACE_PORT_REFUSED" }
	if code == codeUnreachable && slices.ContainsFunc(facts, ofPort) {
		code = codePortRefused
	}
	if code != codeReached {
		report.Add(code, "", args)
	}
	if slices.ContainsFunc(t.Hops, func(h workerapi.Hop) bool { return h.TargetAddress }) {
		report.Add(codeTranslated, "", host)
	}
	if mtu, mtuArgs := conclusionOfMTU(t); mtu != "" {
		mtuArgs = host.With(mtuArgs)
		report.Add(mtu, "", mtuArgs)
		if rows[mtu].State != "" && code == codeReached {
			return report.Conclude(mtu, mtuArgs)
		}
	}
	return report.Conclude(code, args)
}

// ending returns the code of how the trace ended, and its arguments.
func ending(t workerapi.Traceroute, host finding.Args) (code string, args finding.Args) {
	end := destination(t)
	switch {
	case t.Reached && (end == nil || end.Received == 0 || end.AverageMs == nil):
		return codeNoDistance, host
	case t.Reached:
		args = host.With(finding.Args{"hops": end.TTL, "time": probing.Milliseconds(*end.AverageMs)})
		if end.Received == end.Sent {
			return codeReached, args
		}
		return codeLoss, args.With(finding.Args{"received": end.Received, "sent": end.Sent})
	case end != nil:
		return codeRefused, host
	}
	code, known := map[string]string{
		workerapi.StopUnreachable: codeUnreachable, workerapi.StopProhibited: codeProhibited,
		workerapi.StopDeadline: codeNotFinished,
	}[t.StopReason]
	if !known {
		code = codeNoReply
	}
	for _, h := range slices.Backward(t.Hops) {
		if h.Received > 0 {
			return code, host.With(finding.Args{"last": h.TTL})
		}
	}
	return code, host
}

// destination returns the hop of the target itself, or nil if it is not among them.
func destination(t workerapi.Traceroute) *workerapi.Hop {
	i := slices.IndexFunc(t.Hops, func(h workerapi.Hop) bool {
		return !h.TargetAddress && slices.Contains(h.Addresses, t.Address)
	})
	if i < 0 {
		return nil
	}
	return &t.Hops[i]
}

// notMeasured is the path MTU of a worker that measures none.
func notMeasured() *workerapi.MTU {
	return &workerapi.MTU{HopMTUs: []workerapi.HopMTU{}, Note: new(rows.Sentence(codeNotMeasured, nil))}
}

// word writes the note of each hop, the explanation, and the note on the path MTU, from the facts of the worker. One of
// an earlier release sends no facts but the sentences.
func word(t workerapi.Traced) workerapi.Traceroute {
	notes := map[int][]string{}
	var ofMTU []string
	for _, f := range t.Facts {
		if _, known := factRows[f.Code]; !known {
			continue // of a later release
		}
		sentence := factRows.Sentence(f.Code, f.Args)
		switch f.About {
		case workerapi.AboutHop:
			notes[f.TTL] = append(notes[f.TTL], sentence)
		case workerapi.AboutMTU:
			ofMTU = append(ofMTU, sentence)
		case workerapi.AboutTrace:
			t.Explanation = append(t.Explanation, sentence)
		}
	}
	for i := range t.Hops {
		if said := notes[t.Hops[i].TTL]; said != nil {
			t.Hops[i].Note = new(strings.Join(said, " "))
		}
	}
	if t.MTU != nil && ofMTU != nil {
		t.MTU.Note = new(strings.Join(ofMTU, " "))
	}
	return t.Traceroute
}

// conclusionOfMTU returns a code and its arguments, or no code if the path MTU was not requested or is 1,500.
func conclusionOfMTU(t workerapi.Traceroute) (code string, args finding.Args) {
	m := t.MTU
	if m == nil || m.Path != nil && *m.Path == workerapi.MaxMTU {
		return "", nil
	}
	args = finding.Args{}
	if m.Path != nil {
		args["size"] = *m.Path
	}
	if m.Reported == nil || *m.Reported && m.Path == nil {
		return codeNoMTU, args
	}
	if m.LimitedAt != nil {
		args["hop"] = *m.LimitedAt
	}
	segment := 0
	if m.Path != nil {
		segment = max(0, *m.Path-headers(t.Family))
	}
	stated := func(h workerapi.HopMTU) bool { return h.TTL == *m.LimitedAt }
	switch {
	case *m.Reported && m.LimitedAt != nil && !slices.ContainsFunc(m.HopMTUs, stated):
		args["mss"] = segment
		return codeWrongReport, args
	case *m.Reported:
		args["ipv6"], args["segment"] = t.Family == 6, segment
		return codeReduced, args
	}
	if args["ipv6"] = t.Family == 6; m.Path != nil {
		args["mss"] = segment
	}
	return codeBlackHole, args
}

// headers is how much of a packet the IP and TCP headers take (RFC 6691).
func headers(family int) int {
	if family == 4 {
		return 40
	}
	return 60
}
