package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"

	"github.com/miekg/dns"
)

const (
	probeV4 = "93.184.216.34"
	probeV6 = "2606:2800:220:1:248:1893:25c8:1946"
)

// fakeWorker answers as a worker with the given families does, and remembers what it was asked.
type fakeWorker struct {
	families []int
	hops     []workerapi.Hop
	ready    http.HandlerFunc // in place of the usual answer

	mu    sync.Mutex
	asked []workerapi.Request
}

func (f *fakeWorker) requests() []workerapi.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]workerapi.Request(nil), f.asked...)
}

func (f *fakeWorker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == workerapi.PathReady {
		if f.ready != nil {
			f.ready(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(workerapi.Ready{Status: workerapi.StatusReady, Families: f.families, Mode: "raw"})
		return
	}
	var asked workerapi.Request
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	f.mu.Lock()
	f.asked = append(f.asked, asked)
	f.mu.Unlock()
	address := netip.MustParseAddr(asked.Target)
	pinged := workerapi.Ping{
		Target: asked.Target, Address: asked.Target, Family: workerapi.Family(address), LossPercent: 100, Sent: 1,
		Replies: []workerapi.Reply{{Seq: 0}}, StopReason: workerapi.StopCompleted,
	}
	var data any
	switch r.URL.Path {
	case workerapi.PathTraceroute:
		data = workerapi.Traceroute{
			Target: asked.Target, Address: asked.Target, Family: workerapi.Family(address),
			StopReason: workerapi.StopGapLimit, Hops: f.hops, Explanation: []string{},
		}
	case workerapi.PathPing:
		data = pinged
	case workerapi.PathPacketLoss:
		data = workerapi.PacketLoss{Ping: pinged, Bursts: []workerapi.Burst{{StartSeq: 0, Length: 1}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "durationMs": 1, "requestId": asked.RequestID})
}

func (f *fakeWorker) start(t *testing.T) *workerclient.Client {
	t.Helper()
	if f.hops == nil {
		f.hops = []workerapi.Hop{}
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := workerclient.New(s.URL, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// probeInput is a body as the edge hands it over.
func probeInput(text, family string) tool.Input {
	in := tool.Input{Text: text}
	if family != "" {
		in.Options = tool.Options{"family": json.RawMessage(fmt.Sprintf("%q", family))}
	}
	return in
}

func runJob(ctx context.Context, tl tool.Tool, in tool.Input) (any, error) {
	job, err := tl.Parse(in)
	if err != nil {
		return nil, err
	}
	return job.Run(ctx)
}

func probeNetwork(t *testing.T) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	n.Records(
		"both.example.com. 300 IN A "+probeV4,
		"both.example.com. 300 IN AAAA "+probeV6,
		"four.example.com. 300 IN A "+probeV4,
		"six.example.com. 300 IN AAAA "+probeV6,
		"mixed.example.com. 300 IN A "+probeV4,
		"mixed.example.com. 300 IN A 10.0.0.1",
		"inside.example.com. 300 IN AAAA fd00::1",
		"none.example.com. 300 IN TXT nothing",
	)
	return n
}

func TestProbeFamilies(t *testing.T) {
	t.Parallel()
	both, four, six := []int{4, 6}, []int{4}, []int{6}
	cases := []struct {
		host, family string
		worker       []int
		want         string     // the address sent
		kind         fault.Kind // where none is
		sentence     string
	}{
		{"both.example.com", "", both, probeV4, 0, ""},
		{"both.example.com", "auto", both, probeV4, 0, ""},
		{"both.example.com", "ipv4", both, probeV4, 0, ""},
		{"both.example.com", "ipv6", both, probeV6, 0, ""},
		{"both.example.com", "auto", six, probeV6, 0, ""},
		{"both.example.com", "ipv4", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection."},
		{"both.example.com", "ipv6", four, "", fault.Upstream, "The diagnostics worker has no IPv6 connection."},
		{"four.example.com", "auto", both, probeV4, 0, ""},
		{"four.example.com", "ipv6", both, "", fault.Invalid, "four.example.com has no IPv6 address."},
		{"four.example.com", "auto", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection, and four.example.com has only IPv4 addresses."},
		{"six.example.com", "auto", both, probeV6, 0, ""},
		{"six.example.com", "ipv4", four, "", fault.Invalid, "six.example.com has no IPv4 address."},
		{"six.example.com", "auto", four, "", fault.Upstream, "The diagnostics worker has no IPv6 connection, and six.example.com has only IPv6 addresses."},
		{probeV4, "auto", both, probeV4, 0, ""},
		{probeV4, "ipv4", both, probeV4, 0, ""},
		{probeV6, "ipv6", both, probeV6, 0, ""},
		{probeV6, "auto", both, probeV6, 0, ""},
		{probeV4, "auto", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection, and " + probeV4 + " has only IPv4 addresses."},
		{"mixed.example.com", "auto", both, "", fault.Refused, ""},
		{"mixed.example.com", "ipv6", both, "", fault.Refused, ""},
		{"inside.example.com", "ipv4", both, "", fault.Refused, ""},
		{"none.example.com", "auto", both, "", fault.NoAddress, ""},
		{"missing.example.net", "auto", both, "", fault.NoAddress, ""},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s %v", c.host, c.family, c.worker), func(t *testing.T) {
			t.Parallel()
			f := &fakeWorker{families: c.worker}
			tl := ping(probeNetwork(t).Client(nil), f.start(t))
			got, err := runJob(tool.WithRequestID(t.Context(), "the-id"), tl, probeInput(c.host, c.family))
			if c.kind != 0 {
				if !fault.Is(err, c.kind) || c.sentence != "" && err.Error() != c.sentence {
					t.Fatalf("got %v, want kind %d %q", err, c.kind, c.sentence)
				}
				if asked := f.requests(); len(asked) != 0 {
					t.Fatalf("the worker was asked: %+v", asked)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			asked := f.requests()
			if len(asked) != 1 || asked[0].Target != c.want || asked[0].RequestID != "the-id" {
				t.Fatalf("asked %+v, want %s", asked, c.want)
			}
			if want := strings.Contains(c.host, "example"); (asked[0].Hostname == c.host) != want {
				t.Fatalf("the hostname is %q", asked[0].Hostname)
			}
			if result := got.(workerapi.Ping); result.Target != c.host || result.Address != c.want {
				t.Fatalf("got target %s, address %s", result.Target, result.Address)
			}
		})
	}
}

// TestProbeFamiliesOfThisHostDoNotMatter: the packets leave from the worker, not from here.
func TestProbeFamiliesOfThisHostDoNotMatter(t *testing.T) {
	t.Parallel()
	f := &fakeWorker{families: []int{6}}
	tl := ping(probeNetwork(t).Client(nil, egress.WithFamilies(egress.Families{V4: true})), f.start(t))
	if _, err := runJob(t.Context(), tl, probeInput("both.example.com", "auto")); err != nil {
		t.Fatal(err)
	}
	if asked := f.requests(); len(asked) != 1 || asked[0].Target != probeV6 {
		t.Fatalf("asked %+v", asked)
	}
}

// TestProbeWorkerWithoutReadiness: a worker that does not tell its families is still asked.
func TestProbeWorkerWithoutReadiness(t *testing.T) {
	t.Parallel()
	f := &fakeWorker{ready: http.NotFound}
	tl := ping(probeNetwork(t).Client(nil), f.start(t))
	if _, err := runJob(t.Context(), tl, probeInput("both.example.com", "auto")); err != nil {
		t.Fatal(err)
	}
	if asked := f.requests(); len(asked) != 1 || asked[0].Target != probeV4 {
		t.Fatalf("asked %+v", asked)
	}
}

func TestProbeParse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text, option string
		want         fault.Kind
	}{
		{"EXAMPLE.com.", ``, 0},
		{"example.com", `null`, 0},
		{"example.com", `"ipv6"`, 0},
		{"8.8.8.8", `"ipv4"`, 0},
		{"8.8.8.8", `"ipv6"`, fault.Invalid},
		{"2606:4700:4700::1111", `"ipv4"`, fault.Invalid},
		{"example.com", `"IPv6"`, fault.Invalid},
		{"example.com", `""`, fault.Invalid},
		{"example.com", `6`, fault.Invalid},
		{"example.com", `["ipv4"]`, fault.Invalid},
		{"localhost", ``, fault.Refused},
		{"10.0.0.1", `"ipv4"`, fault.Refused},
		{"", ``, fault.Invalid},
		{"https://example.com/", ``, fault.Invalid},
	}
	for _, tl := range []tool.Tool{traceroute(nil, nil, nil), ping(nil, nil), packetLoss(nil, nil)} {
		for _, c := range cases {
			t.Run(tl.Slug()+" "+c.text+" "+c.option, func(t *testing.T) {
				t.Parallel()
				in := tool.Input{Text: c.text}
				if c.option != "" {
					in.Options = tool.Options{"family": json.RawMessage(c.option)}
				}
				job, err := tl.Parse(in)
				if c.want == 0 && err != nil || c.want != 0 && !fault.Is(err, c.want) {
					t.Fatalf("got %v, want kind %d", err, c.want)
				}
				if err == nil && job.LimitKey() != strings.ToLower(strings.TrimSuffix(c.text, ".")) {
					t.Fatalf("limit key %q", job.LimitKey())
				}
			})
		}
		if !tl.NeedsWorker() {
			t.Errorf("%s runs without a worker", tl.Slug())
		}
	}
	_, err := ping(nil, nil).Parse(tool.Input{Text: "example.com", Options: tool.Options{"family": json.RawMessage(`"both"`)}})
	if err == nil || !strings.Contains(err.Error(), "auto, ipv4, ipv6") {
		t.Errorf("the sentence does not name what is allowed: %v", err)
	}
}

func TestProbeWithoutWorkerIsNotEnabled(t *testing.T) {
	t.Parallel()
	for _, tl := range []tool.Tool{traceroute(nil, nil, nil), ping(nil, nil), packetLoss(nil, nil)} {
		if _, err := runJob(t.Context(), tl, probeInput("example.com", "")); !fault.Is(err, fault.NotEnabled) {
			t.Errorf("%s: %v", tl.Slug(), err)
		}
	}
}

func TestPacketLossResult(t *testing.T) {
	t.Parallel()
	f := &fakeWorker{families: []int{4, 6}}
	tl := packetLoss(probeNetwork(t).Client(nil), f.start(t))
	got, err := runJob(t.Context(), tl, probeInput("Six.Example.COM.", ""))
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"target":"six.example.com","address":"` + probeV6 + `","family":6,"sent":1,"received":0,"duplicates":0,"lossPercent":100,` +
		`"minMs":null,"averageMs":null,"medianMs":null,"maxMs":null,"stddevMs":null,"jitterMs":null,` +
		`"replies":[{"seq":0,"rttMs":null,"ttl":null}],"stopReason":"completed","bursts":[{"startSeq":0,"length":1}]}`
	if string(out) != want {
		t.Fatalf("got  %s\nwant %s", out, want)
	}
}

// silentName makes the network's resolver say nothing about a name.
func silentName(n *egresstest.Network, name string) {
	n.Handle(name, func(*dns.Msg) *dns.Msg { return nil })
}
