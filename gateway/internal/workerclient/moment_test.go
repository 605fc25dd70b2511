package workerclient

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
)

// answering is a good ping that says more of itself.
func answering(fields string) http.HandlerFunc {
	return jsonAnswer(http.StatusOK, strings.Replace(goodPing, `"stopReason"`, fields+`,"stopReason"`, 1))
}

func TestMomentsAreInUTC(t *testing.T) {
	t.Parallel()
	s := worker(t, answering(`"measuredAt":"2026-05-01T14:00:00.123+02:00","shared":true`))
	p, err := client(t, s.URL, quick()).Ping(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.MeasuredAt.Format(time.RFC3339Nano); got != "2026-05-01T12:00:00.123Z" || !p.Shared {
		t.Errorf("measured at %s, shared %t", got, p.Shared)
	}
}

// Where a worker of an older version does not say, a measurement is of when it was asked.
func TestAWorkerThatTellsNoMoment(t *testing.T) {
	t.Parallel()
	s := worker(t, jsonAnswer(http.StatusOK, goodTrace))
	before := time.Now().Truncate(time.Millisecond)
	r, err := client(t, s.URL, quick()).Traceroute(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if r.MeasuredAt.Before(before) || r.MeasuredAt.After(time.Now()) || r.MeasuredAt.Location() != time.UTC || r.Shared {
		t.Errorf("measured at %v, shared %t", r.MeasuredAt, r.Shared)
	}
}

func TestWhatASeriesTellsIsHeldAgainstTheContract(t *testing.T) {
	t.Parallel()
	for fields, good := range map[string]bool{
		`"late":0,"undecided":1,"confirmation":null`:                                   true,
		`"confirmation":{"intervalMs":1000,"sent":6,"received":5,"lossPercent":16.67}`: true,
		`"late":1`:          false,
		`"late":"none"`:     false,
		`"undecided":2`:     false,
		`"undecided":-1`:    false,
		`"confirmation":{}`: false,
		`"confirmation":{"intervalMs":1000,"sent":6,"received":7,"lossPercent":0}`: false,
		`"confirmation":[]`:                   false,
		`"measuredAt":""`:                     false,
		`"measuredAt":"yesterday"`:            false,
		`"measuredAt":"0001-01-02T00:00:00Z"`: false,
		`"shared":"yes"`:                      false,
	} {
		s := worker(t, answering(fields))
		p, err := client(t, s.URL, quick()).Ping(t.Context(), job)
		if !good {
			if !fault.Is(err, fault.Upstream) {
				t.Errorf("%s: %v", fields, err)
			}
			continue
		}
		if err != nil || strings.Contains(fields, "sent") != (p.Confirmation != nil) {
			t.Errorf("%s: %v, %+v", fields, err, p.Confirmation)
		}
	}
}
