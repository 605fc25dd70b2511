//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/progress"
)

const (
	streamsAtOnce = 1000
	// firstLine is how long after its request the first line of a stream may come where a thousand are begun at once.
	firstLine = 5 * time.Second
	// wholeStream is how long a stream may take of a site that answers after three seconds.
	wholeStream = 5 * 4 * time.Second
)

// A thousand visitors each follow a slow site's answer, or that of many record types: the gateway has half of its
// memory for them, answers /healthz, and serves one visitor more as if it were alone. Of the thousand some leave, which
// ends their runs at once, some read nothing of a large answer for a while, and all others get each step and the
// end.
func TestAThousandStreams(t *testing.T) {
	proofOnly(t)
	allowFiles(t, 12_000)
	g := bounded(t, "RATE_LIMIT_ADDRESS_REQUESTS=0", fmt.Sprint("MAX_IN_FLIGHT=", streamsAtOnce+8))
	rest := g.rest(t)
	health := g.watchHealth(t)
	outcomes := make([]streamOutcome, streamsAtOnce)
	var all sync.WaitGroup
	began := time.Now()
	for n := range outcomes {
		all.Go(func() { outcomes[n] = g.follow(t, n, behaviourOf(n)) })
	}
	g.until(t, "all have begun", func(m metrics) bool { return m["diagnostics_runs_in_flight"] >= streamsAtOnce*8/10 })
	one := post(t, g.Server, "my-ip", map[string]any{"input": ""}, http.Header{"X-Real-Ip": {attacker(streamsAtOnce)}})
	if one.Status != http.StatusOK || one.Took > time.Second {
		t.Errorf("one visitor more: %d after %v", one.Status, one.Took)
	}
	g.until(t, "answers wait for their readers", func(m metrics) bool { return m["diagnostics_held_bytes"] > 4*mebibyte })
	all.Wait()
	t.Logf("%d streams: %.1f s, at most %d MiB, %s", streamsAtOnce, time.Since(began).Seconds(), g.peak.Load()/mebibyte,
		health)
	var first, last time.Duration
	for n, o := range outcomes {
		if o.err != nil {
			t.Errorf("stream %d: %v", n, o.err)
		}
		first, last = max(first, o.first), max(last, o.last)
	}
	t.Logf("the slowest first line came after %v, the slowest last one after %v", first, last)
	if first > firstLine || last > wholeStream {
		t.Errorf("the slowest first line came after %v (at most %v), the slowest last one after %v (at most %v)",
			first, firstLine, last, wholeStream)
	}
	g.left(t, outcomes)
	if peak := g.peak.Load(); peak > groupLimit {
		t.Errorf("%d MiB with what the kernel holds for sockets", peak/mebibyte)
	}
	if usual, slowest := health.over(); usual > prompt || slowest > promptAtWorst {
		t.Errorf("/healthz took %v longer than that of an idle process 99 of 100 times, and %v at worst", usual, slowest)
	}
	if health.failed.Load() > 0 {
		t.Errorf("/healthz failed: %s", health)
	}
	g.until(t, "nothing runs and nothing is held", func(m metrics) bool {
		return m["diagnostics_runs_in_flight"] == 0 && m["diagnostics_held_bytes"] == 0
	})
	g.alive(t)
	g.recovers(t, rest)
}

// behaviour is what a reader does.
type behaviour int

const (
	reads behaviour = iota
	leaves
	stalls
	asksMuch
)

func behaviourOf(n int) behaviour {
	switch n % 40 {
	case 3, 23:
		return asksMuch
	case 7, 27:
		return leaves
	case 13:
		return stalls
	}
	return reads
}

// request is the n-th visitor's request.
func (how behaviour) request(n int) (slug, body string) {
	switch how {
	case asksMuch:
		return "dns-lookup", fmt.Sprintf(`{"input":"much%d.%s","options":{"types":"all"}}`, n, lab.DNSZone)
	case stalls:
		return "dns-lookup", fmt.Sprintf(`{"input":"stalls%d.%s"}`, n, lab.HeavyName)
	}
	return "http-headers", fmt.Sprintf(`{"input":"http://slow.lab-site.com/?n=%d"}`, n)
}

type streamOutcome struct {
	how         behaviour
	id          string        // of the request
	first, last time.Duration // after the request
	err         error
}

// left holds that the run of a client that left ended then, and not when the site had answered.
func (g *boundedGateway) left(t *testing.T, outcomes []streamOutcome) {
	t.Helper()
	type ended struct {
		Msg, RequestID, Outcome string
		DurationMs              float64
	}
	ends := map[string]ended{}
	for line := range strings.Lines(g.Process.Log()) {
		var e ended
		if json.Unmarshal([]byte(line), &e) == nil && e.Msg == "request" {
			ends[e.RequestID] = e
		}
	}
	left := 0
	for n, o := range outcomes {
		if o.how != leaves || o.err != nil {
			continue
		}
		left++
		end := ends[o.id]
		if late := time.Duration(end.DurationMs*1e6) - o.first; end.Outcome != "canceled" || late > 2*time.Second {
			t.Errorf("stream %d, whose reader left after %v, ended as %q after %.0f ms", n, o.first, end.Outcome, end.DurationMs)
		}
	}
	t.Logf("%d have left", left)
}

// follow reads one stream as a client of its own.
func (g *boundedGateway) follow(t *testing.T, n int, how behaviour) (o streamOutcome) {
	o.how = how
	conn, err := internet.Dial(t.Context(), "tcp", g.Addr)
	if err != nil {
		return streamOutcome{err: err}
	}
	defer conn.Close()
	if how == stalls {
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // else the kernel takes all of it
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	began := time.Now()
	slug, body := how.request(n)
	if _, err := io.WriteString(conn, g.requestWith(slug, attacker(n), body, progress.MediaType)); err != nil {
		return streamOutcome{err: err}
	}
	lines, id, err := streamBody(conn)
	if err != nil {
		return streamOutcome{err: err}
	}
	defer lines.Close()
	o.id = id
	text := bufio.NewScanner(lines)
	text.Buffer(nil, 2*mebibyte)
	var line []byte
	for text.Scan() {
		line = append(line[:0], text.Bytes()...)
		if o.first == 0 {
			o.first = time.Since(began)
			if how == leaves {
				conn.Close() // or closing the body would read it to its end first
				return o
			}
			if how == stalls {
				time.Sleep(4 * time.Second) // a busy machine adds to it, and who stands still for 10 s is cut off
			}
		}
		o.last = time.Since(began)
	}
	if how == stalls {
		o.last = 0 // it is its reader that was late
	}
	if o.err = text.Err(); o.err == nil {
		o.err = checkEnd(line)
	}
	return o
}

// streamBody is the body of the answer that comes on a connection, and the id of the request.
func streamBody(conn net.Conn) (io.ReadCloser, string, error) {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}
	media := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(media, progress.MediaType) {
		resp.Body.Close()
		return nil, "", fmt.Errorf("status %d, %s", resp.StatusCode, media)
	}
	return resp.Body, resp.Header.Get("X-Request-Id"), nil
}

// checkEnd holds that the last line of a stream is a success.
func checkEnd(line []byte) error {
	var last struct {
		Status int
		Data   map[string]any
		Error  string
	}
	if err := json.Unmarshal(line, &last); err != nil {
		return fmt.Errorf("the last line: %w: %.100s", err, line)
	}
	if last.Status != http.StatusOK || last.Data == nil {
		return fmt.Errorf("the last line has status %d, %q: %.100s", last.Status, last.Error, line)
	}
	return nil
}
