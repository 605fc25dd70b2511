package traceroute

import (
	"encoding/json"
	"testing"

	"diagnostics/shared/workerapi"
)

func TestFactsAreWorded(t *testing.T) {
	t.Parallel()
	const answer = `{"hops": [{"ttl": 1}, {"ttl": 2}, {"ttl": 4}], "explanation": [], "mtu": {"note": null}, "facts": [
		{"about": "hop", "ttl": 1, "code": "HOP_PRIVATE"},
		{"about": "hop", "ttl": 2, "code": "HOP_REFUSED", "args": {"refusal": "REFUSAL_PORT"}},
		{"about": "hop", "ttl": 2, "code": "HOP_LIMITED", "args": {"answered": 1, "sent": 3, "within": 1.5}},
		{"about": "trace", "code": "TRACE_REACHED", "args": {"hop": 4, "took": 12.34}},
		{"about": "trace", "code": "TRACE_SPREAD", "args": {"hops": ["2", "4"]}},
		{"about": "trace", "code": "TRACE_HIDDEN", "args": {"hops": ["1"]}},
		{"about": "trace", "code": "OF_A_LATER_RELEASE"},
		{"about": "trace", "code": "REACHED", "args": {"host": "A"}},
		{"about": "trace", "code": "TRACE_RATIONED", "args": {"within": 2}},
		{"about": "mtu", "code": "MTU_MUTE", "args": {"hop": 4}},
		{"about": "mtu", "code": "MTU_VANISHES_BEHIND", "args": {"hop": 2, "size": 1420}}]}`
	const want = `["A private address, which is not shown.",` +
		`"Refused the probe: port unreachable. Limits its answers: 1 of 3 probes within 1.5 s.",null,"The destination answered at hop 4, in 12.3 ms on average.",` +
		`"Hops 2 and 4 answer from several addresses: traffic takes several paths.",` +
		`"Hop 1 has a private address, which is not shown.",` +
		`"The destination answers, but within 2 s not to the probes that would show how far away it is: it limits how ` +
		`often it answers, or it is very far away.",` +
		`"The destination answers no echo requests, so this is the path as far as hop 4. Packets of 1,420 octets vanish ` +
		`behind hop 2."]`
	var traced workerapi.Traced
	if err := json.Unmarshal([]byte(answer), &traced); err != nil {
		t.Fatal(err)
	}
	got := word(traced)
	var said []any
	for _, hop := range got.Hops {
		said = append(said, hop.Note)
	}
	for _, sentence := range got.Explanation {
		said = append(said, sentence)
	}
	text, err := json.Marshal(append(said, got.MTU.Note))
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s, want\n%s", err, text, want)
	}
}

// A worker of an earlier release sends the sentences itself.
func TestSentencesOfAnEarlierWorkerStay(t *testing.T) {
	t.Parallel()
	traced := workerapi.Traced{Traceroute: workerapi.Traceroute{Explanation: []string{"It works."},
		Hops: []workerapi.Hop{{TTL: 1, Note: new("A note.")}}, MTU: &workerapi.MTU{Note: new("A note.")}}}
	if got := word(traced); len(got.Explanation) != 1 || *got.Hops[0].Note != "A note." || *got.MTU.Note != "A note." {
		t.Errorf("%+v", got)
	}
}
