package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/shares"
	"diagnostics/shared/waittest"
)

// sized is a result that takes so many bytes as JSON.
func sized(n int) map[string]string {
	return map[string]string{"x": strings.Repeat("x", n-len(`{"x":""}`))}
}

// large gives results of the size that the input names, in KiB.
func large(_ context.Context, target fakeTarget) (any, error) {
	var n int
	if _, err := fmt.Sscanf(string(target), "%d", &n); err != nil {
		return nil, fault.New(fault.Upstream, strings.Repeat("long ", 70)+".", nil)
	}
	return sized(n << 10), nil
}

func quickBounds(stall, limit time.Duration) func(*Config) {
	return func(c *Config) { c.Bounds.AnswerStall, c.Bounds.AnswerLimit = stall, limit }
}

// ask sends a run and leaves its answer unread.
func (e *edge) ask(t *testing.T, input, client string) net.Conn {
	t.Helper()
	conn := dial(t, e.addr)
	body := `{"input":"` + input + `"}`
	write(t, conn, fmt.Sprintf("POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"X-Real-IP: %s\r\nContent-Length: %d\r\n\r\n%s", client, len(body), body))
	return conn
}

func (e *edge) held() (slots, bytes int64) { return e.slots.Total(), e.memory.Total() }

// A slot, and the bytes of the answer, are held while the reader leaves any of it but the last byte with us, and are
// given back before they can read that.
func TestHeldUntilTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	e := newEdge(t, large, trusting)
	conn := e.ask(t, "900", "192.0.2.1")
	size := int64(900<<10 - shares.Uncounted)
	waittest.Until(t, "the answer is held", func() bool { _, bytes := e.held(); return bytes > size })
	if slots, _ := e.held(); slots != 1 {
		t.Errorf("%d slots are held", slots)
	}
	e.ask(t, "900", "192.0.2.1")
	waittest.Until(t, "three answers are held", func() bool { _, bytes := e.held(); return bytes > 2*size })
	e.post(t, "echo", `{"input":"1"}`, "X-Real-IP: 192.0.2.1").envelope(t, 429)
	e.post(t, "echo", `{"input":"1"}`, "X-Real-IP: 192.0.2.2").envelope(t, 200)

	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 900<<10 || n != resp.ContentLength {
		t.Errorf("%d bytes of %d: %v", n, resp.ContentLength, err)
	}
	// No waiting: who has read all has its slot.
	e.post(t, "echo", `{"input":"1"}`, "X-Real-IP: 192.0.2.1").envelope(t, 200)
}

// A client that does not read is cut off, and all its resources are released: the pages' readers too.
func TestReadersAreCutOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		stall, limit time.Duration
		request      string
	}{
		{"an answer, by its stall", 100 * time.Millisecond, time.Minute, ""},
		{"an answer, by its limit", time.Minute, 100 * time.Millisecond, ""},
		{"a stream, by its stall", 100 * time.Millisecond, time.Minute, ndjson},
		{"a stream, by its limit", time.Minute, 100 * time.Millisecond, ndjson},
		{"a page", 100 * time.Millisecond, time.Minute, "/tools/large"},
		{"an asset", 100 * time.Millisecond, time.Minute, "/assets/large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, large, trusting, quickBounds(tt.stall, tt.limit), func(c *Config) {
				c.Pages = func(w http.ResponseWriter, _ *http.Request) error {
					_, _ = w.Write(make([]byte, 1<<20))
					return nil
				}
			})
			var conn net.Conn
			switch tt.request {
			case "":
				conn = e.ask(t, "900", "192.0.2.1")
			case ndjson:
				conn = e.ask(t, "900", "192.0.2.1\r\n"+ndjson)
			default:
				conn = dial(t, e.addr)
				write(t, conn, "GET "+tt.request+" HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			waittest.Until(t, "the connection is cut", func() bool { return e.connections.Counts().Cut == 1 })
			waittest.Until(t, "nothing is held", func() bool {
				slots, bytes := e.held()
				return slots == 0 && bytes == 0 && e.connections.Counts().Open == 0
			})
			n, _ := io.Copy(io.Discard, conn)
			if n >= 900<<10 {
				t.Errorf("one who was cut off has %d bytes", n)
			}
		})
	}
}

// A small failure holds its slot as a large result does: for as long as its reader has time to read it.
func TestFailuresAreHeldToo(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	e := newEdge(t, counted(&runs), trusting, quickBounds(time.Minute, time.Minute))
	conn := e.neverReads(t)
	// A look too early sees the slot between two runs, one too few the moment before the kernel takes some more.
	waittest.Until(t, "one slot is held, and no run begins", func() bool {
		before := runs.Load()
		for range 20 {
			if slots, _ := e.held(); slots != 1 || runs.Load() != before {
				return false
			}
			time.Sleep(10 * time.Millisecond) // the kernel's buffers fill by and by
		}
		return before > 0
	})
	conn.Close()
	waittest.Until(t, "no connection is open", func() bool { return e.connections.Counts().Open == 0 })
	waittest.Until(t, "nothing is held", func() bool { slots, bytes := e.held(); return slots == 0 && bytes == 0 })
}

func TestReadersOfFailuresAreCutOffToo(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	e := newEdge(t, counted(&runs), trusting, quickBounds(300*time.Millisecond, time.Minute))
	e.neverReads(t)
	waittest.Until(t, "the connection is cut", func() bool {
		return e.connections.Counts().Cut == 1 && e.connections.Counts().Open == 0
	})
	if slots, bytes := e.held(); slots != 0 || bytes != 0 {
		t.Errorf("%d slots, %d bytes are held after %d runs", slots, bytes, runs.Load())
	}
}

func counted(runs *atomic.Int64) func(context.Context, fakeTarget) (any, error) {
	return func(ctx context.Context, target fakeTarget) (any, error) {
		runs.Add(1)
		return large(ctx, target)
	}
}

// neverReads asks for one small failure after the other, until the last of them cannot be written.
func (e *edge) neverReads(t *testing.T) net.Conn {
	t.Helper()
	conn := dial(t, e.addr)
	body := `{"input":"fails"}`
	one := fmt.Sprintf("POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	go func() {
		for range 4000 {
			if _, err := io.WriteString(conn, one); err != nil {
				return
			}
		}
	}()
	return conn
}

// A client that leaves while its result waits to be encoded releases its slot.
func TestLeavingBeforeTheResultIsWrittenDown(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, target fakeTarget) (any, error) {
		memory.Count(ctx, shares.Uncounted+1)
		return large(ctx, target)
	}, trusting)
	for range cap(e.encoding) {
		release, err := e.encoding.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	conn := e.ask(t, "1", "192.0.2.1")
	waittest.Until(t, "a slot is held", func() bool { slots, _ := e.held(); return slots == 1 })
	_ = conn.Close()
	waittest.Until(t, "no slot is held", func() bool { slots, _ := e.held(); return slots == 0 })
}

// A client that has its whole answer has released its slot, even if it sends again on another connection within
// microseconds.
func TestOneSlotInATightLoop(t *testing.T) {
	t.Parallel()
	e := newEdge(t, large, trusting, func(c *Config) { c.MaxInFlightPerClient = 1 })
	for _, input := range []string{"1", "900", "fails"} {
		for range 100 {
			a := e.post(t, "echo", `{"input":"`+input+`"}`, "X-Real-IP: 192.0.2.1")
			if a.StatusCode == http.StatusTooManyRequests {
				t.Fatalf("%s: %d", input, a.StatusCode)
			}
		}
	}
}

// The bytes of one client's unread answers are bounded, and those of all; small answers go on.
func TestBytesThatWait(t *testing.T) {
	t.Parallel()
	e := newEdge(t, large, trusting, func(c *Config) {
		c.MaxInFlight, c.MaxInFlightPerClient = 100, 0
		c.Bounds.HeldBytes, c.Bounds.ClientHeldBytes = 4<<20, 1<<20
	})
	fill := func(client string, sum int64) {
		e.ask(t, "900", client)
		waittest.Until(t, "the answers are held", func() bool {
			_, bytes := e.held()
			return bytes > sum*(900<<10-shares.Uncounted)
		})
	}
	fill("192.0.2.1", 1)
	a := e.post(t, "echo", `{"input":"900"}`, "X-Real-IP: 192.0.2.1")
	a.envelope(t, 429)
	if got := a.Header.Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After %q", got)
	}
	e.post(t, "echo", `{"input":"10"}`, "X-Real-IP: 192.0.2.1").envelope(t, 200)
	for i := range 3 {
		fill(fmt.Sprintf("192.0.2.%d", i+2), int64(i+2))
	}
	a = e.post(t, "echo", `{"input":"900"}`, "X-Real-IP: 192.0.2.9")
	a.envelope(t, 503)
	if got := a.Header.Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After %q", got)
	}
	e.post(t, "echo", `{"input":"10"}`, "X-Real-IP: 192.0.2.9").envelope(t, 200)
	if a := e.send(t, "GET", "/", "", "X-Real-IP: 192.0.2.9"); a.StatusCode != 200 {
		t.Errorf("a page: %d", a.StatusCode)
	}
}

// data is at most 1 MiB as JSON; what is longer is a fault of our own.
func TestLongestData(t *testing.T) {
	t.Parallel()
	for size, status := range map[int]int{maxDataBytes: 200, maxDataBytes + 1: 500} {
		e := newEdge(t, func(context.Context, fakeTarget) (any, error) { return sized(size), nil })
		a := e.post(t, "echo", `{"input":"a"}`)
		if a.StatusCode != status {
			t.Errorf("%d bytes of data: %d, want %d", size, a.StatusCode, status)
		}
		if logged := strings.Contains(e.log.String(), "1048577 bytes"); logged != (status == 500) {
			t.Errorf("%d bytes of data: in the log: %v", size, logged)
		}
		if _, bytes := e.held(); bytes != 0 {
			t.Errorf("%d bytes are held", bytes)
		}
	}
}

// A run that holds too much ends as one that finds no room, whatever the tool makes of its end.
func TestARunThatHoldsTooMuch(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, target fakeTarget) (any, error) {
		var n int
		_, _ = fmt.Sscanf(string(target), "%d", &n)
		memory.Count(ctx, n<<10)
		if ctx.Err() != nil && n > 2000 {
			return nil, fault.New(fault.Timeout, "BODY_TIMEOUT", nil)
		}
		return map[string]string{}, nil
	}, trusting, func(c *Config) { c.Bounds.HeldBytes, c.Bounds.ClientHeldBytes = 4<<20, 512<<10 })
	for input, status := range map[string]int{"1040": 200, "1041": 429, "3000": 429} {
		e.post(t, "echo", `{"input":"`+input+`"}`, "X-Real-IP: 192.0.2.1").envelope(t, status)
	}
	if _, bytes := e.held(); bytes != 0 {
		t.Errorf("%d bytes are held", bytes)
	}
}

// A body that is still on its way makes room for other connections.
func TestSlowBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) { c.MaxConnections = 2 })
	for range 2 {
		conn := dial(t, e.addr)
		write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"Content-Length: 100\r\n\r\n{")
	}
	waittest.Until(t, "two connections are open", func() bool { return e.connections.Counts().Open == 2 })
	if a := e.send(t, "GET", "/healthz", ""); a.StatusCode != 200 {
		t.Errorf("/healthz: %d", a.StatusCode)
	}
	if got := e.connections.Counts(); got.EvictedFull != 1 {
		t.Errorf("%+v", got)
	}
}

// So do headers that are whole while their bodies are not.
func TestLargeHeadersOfSlowBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) { c.Bounds.UnfinishedBytes = 100 << 10 })
	for range 4 {
		conn := dial(t, e.addr)
		write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"X-Long: "+strings.Repeat("x", 30<<10)+"\r\nContent-Length: 100\r\n\r\n{")
	}
	waittest.Until(t, "one was evicted", func() bool {
		got := e.connections.Counts()
		return got.EvictedUnfinished == 1 && got.Open == 3
	})
	e.post(t, "echo", `{"input":"a"}`).envelope(t, 200)
}

func TestHeaderFields(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	// Host is no field of its own to net/http.
	for n, status := range map[int]int{maxFields: 200, maxFields + 1: 431} {
		fields := []string{"Content-Type: application/json"}
		for i := range n - 3 { // and Connection and Content-Length
			fields = append(fields, fmt.Sprintf("X-%d: a", i%7))
		}
		a := e.post(t, "echo", `{"input":"a"}`, fields...)
		a.envelope(t, status)
		if line := e.requestLine(t, a.Header.Get("X-Request-Id")); status == 431 && line["outcome"] != "too_large" {
			t.Errorf("outcome %v", line["outcome"])
		}
	}
}
