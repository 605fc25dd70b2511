package workerclient

import (
	"net/http"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/workerapi"
)

// A worker that traces with other probes than it was asked for has not done its job, and one that knows no others says
// so or drops the question.
func TestProbesOfATrace(t *testing.T) {
	t.Parallel()
	port := 443
	trace := func(protocol string, port *int) workerapi.Traceroute {
		return workerapi.Traceroute{Target: target4.String(), Address: target4.String(), Family: 4,
			StopReason: workerapi.StopGapLimit, Hops: []workerapi.Hop{}, Explanation: []string{}, Protocol: protocol, Port: port}
	}
	tcp := workerapi.TraceOptions{Protocol: workerapi.ProtocolTCP, Port: 443}
	for _, c := range []struct {
		name     string
		answer   workerapi.Traceroute
		asked    workerapi.TraceOptions
		sentence string
	}{
		{"TCP", trace("tcp", &port), tcp, ""},
		{"ICMP", trace("icmp", nil), workerapi.TraceOptions{}, ""},
		{"ICMP of an older worker", trace("", nil), workerapi.TraceOptions{}, ""},
		{"an older worker", trace("", nil), tcp, sentenceICMPOnly},
		{"other probes", trace("icmp", nil), tcp, sentenceUnusable},
		{"probes that nobody asked for", trace("tcp", &port), workerapi.TraceOptions{}, sentenceUnusable},
	} {
		got, err := probedAs(c.answer, c.asked)
		if c.sentence == "" && (err != nil || got.Protocol == "") || c.sentence != "" && sentence(err) != c.sentence {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestAWorkerWithICMPAlone(t *testing.T) {
	t.Parallel()
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedProtocol)
		jsonAnswer(http.StatusBadGateway, `{"error":"anything"}`)(w, r)
	})
	c, _ := logging(t, s.URL, quick())
	asked := job
	asked.Trace = workerapi.TraceOptions{Protocol: workerapi.ProtocolTCP, Port: 443}
	_, err := c.Traceroute(t.Context(), asked)
	wantFault(t, err, fault.Upstream, s.URL)
	if sentence(err) != sentenceICMPOnly {
		t.Errorf("%v", err)
	}
}
