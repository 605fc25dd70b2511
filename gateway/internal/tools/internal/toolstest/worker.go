package toolstest

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"
)

// MeasuredAt is the time of measurement in the answers of a Worker.
var MeasuredAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Worker answers as a worker with the given families does, and records the requests.
type Worker struct {
	Families []int
	Hops     []workerapi.Hop
	MTU      *workerapi.MTU   // of traces, whatever was requested
	Ready    http.HandlerFunc // in place of the usual answer

	mu    sync.Mutex
	asked []workerapi.Request
}

// Requests are those that the worker received, in order.
func (f *Worker) Requests() []workerapi.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]workerapi.Request(nil), f.asked...)
}

// ServeHTTP answers as the worker does.
func (f *Worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == workerapi.PathReady {
		if f.Ready != nil {
			f.Ready(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(workerapi.Ready{Status: workerapi.StatusReady, Families: f.Families, Mode: "raw"})
		return
	}
	var asked workerapi.Request
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	f.mu.Lock()
	f.asked = append(f.asked, asked)
	f.mu.Unlock()
	address := netip.MustParseAddr(asked.Target)
	measured := workerapi.Measurement{MeasuredAt: MeasuredAt, Shared: true}
	pinged := workerapi.Ping{
		Target: asked.Target, Address: asked.Target, Family: workerapi.Family(address), LossPercent: 100, Sent: 1,
		Replies: []workerapi.Reply{{Seq: 0}}, StopReason: workerapi.StopCompleted, Measurement: measured,
	}
	var data any
	switch r.URL.Path {
	case workerapi.PathTraceroute:
		traced := workerapi.Traceroute{
			Target: asked.Target, Address: asked.Target, Family: workerapi.Family(address),
			StopReason: workerapi.StopGapLimit, Hops: f.Hops, Explanation: []string{}, Measurement: measured,
			Protocol: workerapi.ProtocolICMP,
		}
		traced.MTU = f.MTU
		if o := asked.Options; o != nil && o.Protocol != "" {
			port := int(o.Port)
			traced.Protocol, traced.Port = o.Protocol, &port
		}
		data = traced
	case workerapi.PathPing:
		data = pinged
	case workerapi.PathPacketLoss:
		data = workerapi.PacketLoss{Ping: pinged, Bursts: []workerapi.Burst{{StartSeq: 0, Length: 1}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "durationMs": 1, "requestId": asked.RequestID})
}

// Start serves until the test ends and gives a client for it.
func (f *Worker) Start(t *testing.T) *workerclient.Client {
	t.Helper()
	if f.Hops == nil {
		f.Hops = []workerapi.Hop{}
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := workerclient.New(s.URL, "0123456789abcdef", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ProbeInput is a body as the edge hands it over.
func ProbeInput(text, family string) tool.Input {
	in := tool.Input{Text: text}
	if family != "" {
		in.Options = tool.Options{"family": json.RawMessage(fmt.Sprintf("%q", family))}
	}
	return in
}
