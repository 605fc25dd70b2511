//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// streamLine is a line of a stream, and when it came after the request.
type streamLine struct {
	Step   map[string]any `json:"step"`
	Status int            `json:"status"`
	Error  string         `json:"error"`
	Data   map[string]any `json:"data"`
	after  time.Duration
	raw    []byte
}

// stream is what came of one: its lines, and the encoding that they came in.
type stream struct {
	lines    []streamLine
	encoding string
}

// streamOf requests a stream at a URL, and validates it against the description.
func streamOf(ctx context.Context, client *http.Client, url, host, input, encoding string) (s stream, err error) {
	body, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		return s, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return s, err
	}
	request.Host = host
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/x-ndjson")
	request.Header.Set("Accept-Encoding", encoding)
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	s.encoding = response.Header.Get("Content-Encoding")
	kind := response.Header.Get("Content-Type")
	if response.StatusCode != http.StatusOK || kind != "application/x-ndjson" {
		return s, fmt.Errorf("status %d, %s", response.StatusCode, kind)
	}
	var from io.Reader = response.Body
	if s.encoding == "gzip" {
		if from, err = gzip.NewReader(response.Body); err != nil {
			return s, err
		}
	}
	var whole bytes.Buffer
	scanner := bufio.NewScanner(io.TeeReader(from, &whole))
	scanner.Buffer(nil, 2<<20)
	for scanner.Scan() {
		l := streamLine{after: time.Since(began), raw: bytes.Clone(scanner.Bytes())}
		if err := json.Unmarshal(l.raw, &l); err != nil {
			return s, fmt.Errorf("%w: %s", err, l.raw)
		}
		s.lines = append(s.lines, l)
	}
	if err := scanner.Err(); err != nil {
		return s, err
	}
	if len(s.lines) == 0 || s.lines[len(s.lines)-1].Status == 0 {
		return s, fmt.Errorf("%d lines without a last one: %s", len(s.lines), s.lines)
	}
	d, err := described()
	if err != nil {
		return s, err
	}
	return s, d.Check(http.MethodPost, request.URL.Path, response, whole.Bytes())
}

// streamLines are those of a stream of the lab's own gateway.
func streamLines(t *testing.T, slug, input string) []streamLine {
	t.Helper()
	url := "http://" + service.Gateway.Addr + "/api/tools/" + slug
	s, err := streamOf(t.Context(), httpClient(), url, "", input, "identity")
	if err != nil {
		t.Fatalf("%s of %s: %v", slug, input, err)
	}
	return s.lines
}

// A trace shows its hops long before it ends, and its steps agree with the answer.
func TestHopsCome(t *testing.T) {
	t.Parallel()
	to, _ := lab.Shortcut(23)
	all := streamLines(t, "traceroute", to.String())
	last := all[len(all)-1]
	if last.Status != http.StatusOK {
		t.Fatalf("%s", last.raw)
	}
	reported := map[float64]map[string]any{}
	early := map[float64]bool{}
	for _, l := range all[:len(all)-1] {
		hop, ok := l.Step["hop"].(map[string]any)
		if !ok {
			continue
		}
		ttl := hop["ttl"].(float64)
		reported[ttl] = hop
		if l.after < last.after/2 {
			early[ttl] = true
		}
	}
	if len(early) < 3 {
		t.Errorf("%d hops were sent in the first half of %v", len(early), last.after)
	}
	for _, h := range last.Data["hops"].([]any) {
		hop := h.(map[string]any)
		if step, known := reported[hop["ttl"].(float64)]; known && step["address"] != hop["address"] {
			t.Errorf("hop %v was sent as %v, and is %v", hop["ttl"], step["address"], hop["address"])
		}
	}
}

// The replies of a ping are sent as they arrive, each as it is in the answer.
func TestRepliesCome(t *testing.T) {
	t.Parallel()
	all := streamLines(t, "ping", "fast.lab-site.com")
	last := all[len(all)-1]
	if last.Status != http.StatusOK {
		t.Fatalf("%s", last.raw)
	}
	reported, early := map[any]any{}, 0
	for _, l := range all[:len(all)-1] {
		if reply, ok := l.Step["reply"].(map[string]any); ok {
			reported[reply["seq"]] = reply
			if l.after < last.after/2 {
				early++
			}
		}
	}
	if early < 3 {
		t.Errorf("%d replies were sent in the first half of %v", early, last.after)
	}
	for _, r := range last.Data["replies"].([]any) {
		seq := r.(map[string]any)["seq"]
		if step, known := reported[seq]; known && !reflect.DeepEqual(step, r) {
			t.Errorf("reply %v was sent as %v, and is %v", seq, step, r)
		}
	}
}

// What takes long says what it is busy with, and what is known already.
func TestStepsOfASlowSite(t *testing.T) {
	t.Parallel()
	all := streamLines(t, "uptime", "https://slow.lab-site.com/")
	var kinds []string
	for _, l := range all[:len(all)-1] {
		kinds = append(kinds, fmt.Sprint(l.Step["kind"], l.Step["stage"]))
	}
	text := strings.Join(kinds, " ")
	if len(kinds) < 3 || !strings.Contains(text, "stagewaiting") || !strings.Contains(text, "family") {
		t.Errorf("%s", text)
	}
	if first := all[0].after; first > time.Second {
		t.Errorf("the first line came after %v", first)
	}
}

// Through our examples and through proxies as they come, lines arrive as they are sent, compressed for those who accept
// it, also where the proxy would compress them. The outer of two nginx collects them: the inner one keeps
// X-Accel-Buffering to itself, as README.md says.
func TestStreamsThroughProxies(t *testing.T) {
	p := needProxies(t)
	for _, e := range append(slices.Clone(p.entrances), p.compressing...) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, http2 := range e.protocols() {
				client := visitors(http2)
				defer client.CloseIdleConnections()
				twice := strings.Contains(e.name, "twice")
				for _, encoding := range []string{"identity", "gzip"} {
					url := e.url(e.visitor, "/api/tools/uptime")
					s, err := streamOf(t.Context(), client, url, siteName, "https://slow.lab-site.com/", encoding)
					if err != nil {
						t.Fatal(err)
					}
					all := s.lines
					first, last := all[0].after, all[len(all)-1].after
					t.Logf("%s (%q came), HTTP/2 %t: %d lines, the first after %v, the last after %v", encoding, s.encoding, http2,
						len(all), first, last)
					if len(all) < 3 || first > last/2 != twice {
						t.Errorf("%s, HTTP/2 %t: the lines were held back", encoding, http2)
					}
					if want := map[string]string{"gzip": "gzip"}[encoding]; s.encoding != want {
						t.Errorf("%s, HTTP/2 %t: encoded as %q, want %q", encoding, http2, s.encoding, want)
					}
				}
			}
		})
	}
}

// String is the line as it came.
func (l streamLine) String() string { return fmt.Sprintf("%v %s", l.after, l.raw) }
