package probing

import (
	"fmt"
	"slices"
	"testing"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

// pinged is 50 answered probes, but for what change does.
func pinged(change func(*workerapi.Ping)) workerapi.Ping {
	p := workerapi.Ping{Target: "example.com", Sent: 50, Received: 50, MedianMs: new(20.0),
		StopReason: workerapi.StopCompleted}
	change(&p)
	return p
}

func TestEcho(t *testing.T) {
	t.Parallel()
	slower := func(received int) *workerapi.Confirmation {
		return &workerapi.Confirmation{IntervalMs: 1000, Sent: 6, Received: received}
	}
	rows := finding.Join(EchoRows, finding.Rows{CodeAnswered: {State: finding.OK, Args: lostArgs, Message: "Answers.",
		Brief: "Answers"}})
	for name, c := range map[string]struct {
		change func(*workerapi.Ping)
		state  finding.State
		code   string
		found  []string
	}{
		"all answered":    {func(*workerapi.Ping) {}, finding.OK, CodeAnswered, nil},
		"no median":       {func(p *workerapi.Ping) { p.MedianMs = nil }, finding.OK, CodeAnswered, nil},
		"one undecided":   {func(p *workerapi.Ping) { p.Received, p.Undecided = 49, 1 }, finding.OK, CodeAnswered, nil},
		"8 % lost":        {func(p *workerapi.Ping) { p.Received = 46 }, finding.Noted, codeLowLoss, []string{"info note LOW_PACKET_LOSS"}},
		"10 % lost":       {func(p *workerapi.Ping) { p.Received = 45 }, finding.Warned, codeLoss, []string{"warn safer PACKET_LOSS"}},
		"one of ten lost": {func(p *workerapi.Ping) { p.Sent, p.Received = 10, 9 }, finding.Warned, codeLoss, []string{"warn safer PACKET_LOSS"}},
		"10 % of those that count": {func(p *workerapi.Ping) { p.Received, p.Undecided = 36, 10 }, finding.Warned, codeLoss,
			[]string{"warn safer PACKET_LOSS"}},
		"48 % lost": {func(p *workerapi.Ping) { p.Received = 26 }, finding.Warned, codeLoss, []string{"warn safer PACKET_LOSS"}},
		"50 % lost": {func(p *workerapi.Ping) { p.Received = 25 }, finding.Warned, codeHighLoss, []string{"warn broken HIGH_PACKET_LOSS"}},
		"98 % lost, then unreachable": {func(p *workerapi.Ping) { p.Received, p.StopReason = 1, workerapi.StopUnreachable },
			finding.Warned, codeHighLoss, []string{"warn broken HIGH_PACKET_LOSS"}},
		"a limit": {func(p *workerapi.Ping) { p.Received, p.Confirmation = 20, slower(6) }, finding.Noted, codeLimited,
			[]string{"info note REPLIES_LIMITED"}},
		"no limit": {func(p *workerapi.Ping) { p.Received, p.Confirmation = 20, slower(5) }, finding.Warned, codeHighLoss,
			[]string{"warn broken HIGH_PACKET_LOSS"}},
		"a limit and late": {func(p *workerapi.Ping) { p.Received, p.Late, p.Confirmation = 20, 1, slower(6) }, finding.Warned,
			codeLate, []string{"warn safer LATE_REPLIES", "info note REPLIES_LIMITED"}},
		"one late": {func(p *workerapi.Ping) { p.Late = 1 }, finding.Warned, codeLate, []string{"warn safer LATE_REPLIES"}},
		"low loss and late": {func(p *workerapi.Ping) { p.Received, p.Late = 49, 2 }, finding.Warned, codeLate,
			[]string{"warn safer LATE_REPLIES", "info note LOW_PACKET_LOSS"}},
		"loss and late": {func(p *workerapi.Ping) { p.Received, p.Late = 40, 40 }, finding.Warned, codeLoss,
			[]string{"warn safer PACKET_LOSS", "warn safer LATE_REPLIES"}},
		"doubled": {func(p *workerapi.Ping) { p.Duplicates = 1 }, finding.OK, CodeAnswered, []string{"info note DUPLICATE_REPLIES"}},
		"one damaged": {func(p *workerapi.Ping) { p.Received, p.Damaged = 49, 1 }, finding.Warned, codeDamaged,
			[]string{"warn safer DAMAGED_REPLIES"}},
		"all damaged": {func(p *workerapi.Ping) { p.Received, p.Damaged = 0, 50 }, finding.Warned, codeDamaged,
			[]string{"warn safer DAMAGED_REPLIES"}},
		"all damaged, then refused": {func(p *workerapi.Ping) {
			p.Received, p.Damaged, p.StopReason = 0, 50, workerapi.StopUnreachable
		}, finding.Warned, codeDamaged, []string{"warn safer DAMAGED_REPLIES"}},
		"some damaged, the others lost": {func(p *workerapi.Ping) { p.Received, p.Damaged = 0, 5 }, finding.Warned, codeDamaged,
			[]string{"warn safer DAMAGED_REPLIES"}},
		"10 % of those that are whole lost": {func(p *workerapi.Ping) { p.Received, p.Damaged = 36, 10 }, finding.Warned, codeLoss,
			[]string{"warn safer PACKET_LOSS", "warn safer DAMAGED_REPLIES"}},
		"low loss and damaged": {func(p *workerapi.Ping) { p.Received, p.Damaged = 48, 1 }, finding.Warned, codeDamaged,
			[]string{"warn safer DAMAGED_REPLIES", "info note LOW_PACKET_LOSS"}},
		"out of order":             {replies(250, 100, 20), finding.OK, CodeAnswered, []string{"info note REORDERED_REPLIES"}},
		"hardly out of order":      {replies(115, 10, 20), finding.OK, CodeAnswered, nil},
		"all delayed by one pause": {replies(300, 200, 100), finding.OK, CodeAnswered, nil},
		"silence":                  {func(p *workerapi.Ping) { p.Received = 0 }, finding.Warned, codeNoReply, []string{"warn note NO_REPLY"}},
		"unreachable":              {silent(workerapi.StopUnreachable), finding.Failed, codeUnreachable, []string{"fail broken UNREACHABLE"}},
		"prohibited":               {silent(workerapi.StopProhibited), finding.Failed, codeProhibited, []string{"fail broken PROHIBITED"}},
		"deadline":                 {silent(workerapi.StopDeadline), finding.Warned, codeNoReply, []string{"warn note NO_REPLY"}},
		"nothing sent": {func(p *workerapi.Ping) { p.Sent, p.Received = 0, 0 }, finding.Unknown, codeNotMeasured,
			[]string{"info note NOT_MEASURED"}},
		"nothing decided": {func(p *workerapi.Ping) { p.Sent, p.Received, p.Undecided = 2, 0, 2 }, finding.Unknown,
			codeNotMeasured, []string{"info note NOT_MEASURED"}},
	} {
		got := Echo(rows, pinged(c.change), workerapi.LossGap)
		var found []string
		for _, f := range got.Findings {
			found = append(found, fmt.Sprintf("%s %s %s", f.Severity, f.Group, f.Code))
		}
		if got.Conclusion.State != c.state || got.Conclusion.Code != c.code || !slices.Equal(found, c.found) {
			t.Errorf("%s: %s %s, %q", name, got.Conclusion.State, got.Conclusion.Code, found)
		}
	}
}

func TestLongestBurst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost []int // of 50
		want any
	}{
		"none": {nil, nil}, "two in a row": {[]int{3, 4, 10, 20, 30}, nil}, "three in a row": {[]int{3, 4, 5, 9, 10}, 3},
		"the last ones": {[]int{46, 47, 48, 49, 50}, 5},
	} {
		p := pinged(func(p *workerapi.Ping) {
			for seq := 1; seq <= 50; seq++ {
				r := workerapi.Reply{Seq: seq, RTTMs: new(20.0)}
				if slices.Contains(c.lost, seq) {
					r.RTTMs = nil
				}
				p.Replies = append(p.Replies, r)
			}
			p.Received -= len(c.lost)
		})
		rows := finding.Join(EchoRows, finding.Rows{CodeAnswered: {State: finding.OK, Args: lostArgs, Message: "Answers.",
			Brief: "Answers"}})
		got := Echo(rows, p, workerapi.LossGap).Conclusion
		if burst := string(got.Args["burst"]); c.want == nil && burst != "" || c.want != nil && burst != fmt.Sprint(c.want) {
			t.Errorf("%s: %q of %s", name, burst, got.Code)
		}
	}
}

func silent(stop string) func(*workerapi.Ping) {
	return func(p *workerapi.Ping) { p.Received, p.StopReason = 0, stop }
}

// replies are the times of the first replies, in milliseconds.
func replies(times ...float64) func(*workerapi.Ping) {
	return func(p *workerapi.Ping) {
		for i, ms := range times {
			p.Replies = append(p.Replies, workerapi.Reply{Seq: i, RTTMs: &ms})
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, EchoRows)
}

// TestEchoSentences draws the longest sentences.
func TestEchoSentences(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*workerapi.Ping){
		"22.2 % of 45 probes to example.com got no answer. Of 6 more probes sent 1.0 s apart, 1 got no answer either. The " +
			"others took 20.0 ms (median). 3 of 35 answers took longer than 2 s. 4 of 50 probes got a damaged reply. The " +
			"last probe had no time to be answered and does not count.": func(p *workerapi.Ping) {
			p.Received, p.Late, p.Damaged, p.Undecided = 35, 3, 4, 1
			p.Confirmation = &workerapi.Confirmation{IntervalMs: 1000, Sent: 6, Received: 5}
		},
		"example.com probably limits its answers. 60 % of 50 probes got no answer, but all 6 sent 1.0 s apart afterwards " +
			"were answered.": func(p *workerapi.Ping) {
			p.Received, p.Confirmation = 20, &workerapi.Confirmation{IntervalMs: 1000, Sent: 6, Received: 6}
		},
		"example.com answers, but slowly. Each answer took longer than 2 s. The last 2 probes had no time to be " +
			"answered and do not count.": func(p *workerapi.Ping) { p.Received, p.Late, p.Undecided = 48, 48, 2 },
		"example.com did not answer any of 50 probes within 2 s.": func(p *workerapi.Ping) { p.Received = 0 },
	} {
		if got := Echo(EchoRows, pinged(change), workerapi.LossGap).Conclusion.Message; got != want {
			t.Errorf("got:  %s\nwant: %s", got, want)
		}
	}
}
