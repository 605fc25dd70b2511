package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// line is a line of a stream.
type line struct {
	Step       map[string]any  `json:"step"`
	Data       json.RawMessage `json:"data"`
	Error      string          `json:"error"`
	Status     int             `json:"status"`
	RetryAfter int             `json:"retryAfter"`
	Refused    string          `json:"refused"`
	RequestID  string          `json:"requestId"`
}

// lines is a stream that is read line by line.
type lines struct {
	*http.Response
	scanner *bufio.Scanner
}

func (f *fixture) stream(path string) *lines {
	f.t.Helper()
	r := f.request("POST", path, target)
	r.Header.Set("Accept", "application/x-ndjson, application/json;q=0.5")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { resp.Body.Close() })
	return &lines{resp, bufio.NewScanner(resp.Body)}
}

func (l *lines) next(t *testing.T) (got line) {
	t.Helper()
	if !l.scanner.Scan() {
		t.Fatalf("no further line: %v", l.scanner.Err())
	}
	if err := json.Unmarshal(l.scanner.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, l.scanner.Text())
	}
	return got
}

// What cannot be written down is left out, and ends no job.
func TestAStepThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.prober.run = func(ctx context.Context) error {
		progress.Of(ctx).Begin()
		progress.Of(ctx).Add(progress.Step{Kind: "reply", Key: "1", Value: math.NaN()})
		progress.Report(ctx, "reply", "2", 2)
		return ctx.Err()
	}
	l := f.stream(workerapi.PathPing)
	if got := l.next(t); got.Step["reply"] != 2.0 {
		t.Errorf("%v", got)
	}
	if got := l.next(t); got.Status != 200 {
		t.Errorf("%v", got)
	}
}

// Steps come as they are reported, also those that were missed by who joins late; the last line is the plain answer's.
func TestStream(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	goOn := make(chan struct{})
	f.prober.run = func(ctx context.Context) error {
		progress.Of(ctx).Begin()
		progress.Report(ctx, "hop", "1", map[string]int{"ttl": 1})
		<-goOn
		progress.Report(ctx, "hop", "2", map[string]int{"ttl": 2})
		<-goOn
		return nil
	}
	first := f.stream(workerapi.PathTraceroute)
	if first.StatusCode != 200 || first.Header.Get("Content-Type") != "application/x-ndjson" ||
		first.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%d %v", first.StatusCode, first.Header)
	}
	if got := first.next(t); got.Step["kind"] != "hop" || got.Step["hop"].(map[string]any)["ttl"] != 1.0 {
		t.Errorf("%v", got)
	}
	late := f.stream(workerapi.PathTraceroute)
	if got := late.next(t); got.Step["hop"].(map[string]any)["ttl"] != 1.0 {
		t.Errorf("who joins late: %v", got)
	}
	goOn <- struct{}{}
	for _, l := range []*lines{first, late} {
		if got := l.next(t); got.Step["hop"].(map[string]any)["ttl"] != 2.0 {
			t.Errorf("%v", got)
		}
	}
	goOn <- struct{}{}
	for _, l := range []*lines{first, late} {
		got := l.next(t)
		if got.Status != 200 || got.Error != "" || !strings.Contains(string(got.Data), `"reached"`) ||
			got.RequestID != l.Header.Get("X-Request-Id") {
			t.Errorf("%+v", got)
		}
		if l.scanner.Scan() {
			t.Errorf("behind the last line: %s", l.scanner.Text())
		}
	}
	if len(f.prober.asked) != 1 {
		t.Errorf("%d jobs", len(f.prober.asked))
	}
}

// A job that was not taken has its status; one that fails later has it in its last line.
func TestStreamsThatFail(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.prober.run = func(context.Context) error { return exchange.ErrShortage }
	before := f.stream(workerapi.PathPing)
	if before.StatusCode != 503 || before.Header.Get(workerapi.HeaderRefused) != workerapi.RefusedShortage ||
		before.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", before.StatusCode, before.Header)
	}
	f.prober.run = func(ctx context.Context) error {
		progress.Of(ctx).Begin()
		return exchange.ErrShortage
	}
	later := f.stream(workerapi.PathPing)
	got := later.next(t)
	if later.StatusCode != 200 || got.Status != 503 || got.RetryAfter != 1 || got.Refused != workerapi.RefusedShortage ||
		got.Error == "" || got.Data != nil {
		t.Errorf("%d %+v", later.StatusCode, got)
	}
	if log := f.log.String(); strings.Count(log, `"status":503`) != 2 {
		t.Errorf("the log has other statuses: %s", log)
	}
}

// A client that leaves ends a job that no other request waits for.
func TestAReaderOfAStreamThatLeaves(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	ended := make(chan struct{})
	f.prober.run = func(ctx context.Context) error {
		progress.Of(ctx).Begin()
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}
	f.stream(workerapi.PathPing).Body.Close()
	<-ended
}
