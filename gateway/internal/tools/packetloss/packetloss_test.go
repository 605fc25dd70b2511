package packetloss

import (
	"encoding/json"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

func TestPacketLossResult(t *testing.T) {
	t.Parallel()
	f := &toolstest.Worker{Families: []int{4, 6}}
	tl := New(toolstest.ProbeNetwork(t).Client(nil), f.Start(t))
	got, err := toolstest.Run(t.Context(), tl, toolstest.ProbeInput("Six.Example.COM.", ""))
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), `"findings":[`)
	_, rest, _ = strings.Cut(rest, "],")
	want := `"target":"six.example.com","address":"` + toolstest.ProbeV6 +
		`","family":6,"sent":1,"received":0,"late":0,"duplicates":0,"undecided":0,"damaged":0,"lossPercent":100,` +
		`"minMs":null,"averageMs":null,"medianMs":null,"maxMs":null,"stddevMs":null,"jitterMs":null,` +
		`"replies":[{"seq":0,"rttMs":null,"ttl":null}],"stopReason":"completed","confirmation":null,` +
		`"measuredAt":"2026-05-01T12:00:00Z","shared":true,"bursts":[{"startSeq":0,"length":1}]}`
	if !strings.HasPrefix(string(out), `{"conclusion":{`) || rest != want {
		t.Fatalf("got  %s\nwant %s", out, want)
	}
}

// The catalogue's own sentence takes the arguments of the shared ones.
func TestAnswered(t *testing.T) {
	t.Parallel()
	p := workerapi.Ping{Sent: 50, Received: 50, MedianMs: new(20.0)}
	got := report(workerapi.PacketLoss{Ping: p}, "example.com")
	if got.Target != "example.com" ||
		got.Conclusion.Message != "No loss: example.com answered all 50 probes (median 20.0 ms)." {
		t.Errorf("%+v", got)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
