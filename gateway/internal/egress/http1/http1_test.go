package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/analyze/weight/weighttest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func read(text string) (*Head, *bufio.Reader, error) {
	r := bufio.NewReader(strings.NewReader(text))
	h, err := ReadHead(r)
	return h, r, err
}

func TestHeads(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, tt := range []struct {
		name, text string
		status     int
		header     http.Header
		notes      []NoteCode
		body       string
	}{
		{"plain", ok + "A: b\r\nContent-Length: 2\r\n\r\nhixx", 200, http.Header{"A": {"b"}, "Content-Length": {"2"}}, nil, "hi"},
		{"no reason", "HTTP/1.0 204\r\n\r\n", 204, http.Header{}, nil, ""},
		{"an empty reason", "HTTP/1.1 200 \r\n\r\nto the end", 200, http.Header{}, nil, "to the end"},
		{"bare LF", "HTTP/1.1 200 OK\nA: b\n\nx", 200, http.Header{"A": {"b"}}, nil, "x"},
		{"tabs", "HTTP/1.1\t200\tOK\r\n\r\n", 200, http.Header{}, []NoteCode{StatusLineRepaired}, ""},
		{"two blanks", "HTTP/1.1  404  Not Found\r\n\r\n", 404, http.Header{}, []NoteCode{StatusLineRepaired}, ""},
		{"lower case", "http/1.1 200 OK\r\n\r\n", 200, http.Header{}, []NoteCode{StatusLineRepaired}, ""},
		{"another version", "HTTP/2.0 200 OK\r\n\r\n", 200, http.Header{}, []NoteCode{StatusLineRepaired}, ""},
		{"no version", "HTTP/ 999 x\r\n\r\n", 999, http.Header{}, []NoteCode{StatusLineRepaired}, ""},
		{"no colon", ok + "A: 1\r\nContent-Disposition = x\r\nB: 2\r\n\r\n", 200, http.Header{"A": {"1"}, "B": {"2"}}, []NoteCode{HeaderLineSkipped}, ""},
		{"a page as a field", ok + "<!DOCTYPE html>\r\nA: 1\r\n\r\n", 200, http.Header{"A": {"1"}}, []NoteCode{HeaderLineSkipped}, ""},
		{"the status line twice", ok + ok + "A: 1\r\n\r\n", 200, http.Header{"A": {"1"}}, []NoteCode{HeaderLineSkipped}, ""},
		{"a first line that continues nothing", ok + " x: y\r\nA: 1\r\n\r\n", 200, http.Header{"A": {"1"}}, []NoteCode{HeaderLineSkipped}, ""},
		{"a blank before the colon", ok + "Transfer-Encoding : chunked\r\n\r\nx", 200, http.Header{}, []NoteCode{HeaderLineSkipped}, "x"},
		{"no name", ok + ": chunked\r\n\r\nx", 200, http.Header{}, []NoteCode{HeaderLineSkipped}, "x"},
		{"continued", ok + "A: 1\r\n\t 2 \r\n 3\r\nB: 4\r\n\r\n", 200, http.Header{"A": {"1 2 3"}, "B": {"4"}}, nil, ""},
		{"a skipped line continued", ok + "x\r\n Content-Length: 1\r\nA: 1\r\n\r\n", 200, http.Header{"A": {"1"}}, []NoteCode{HeaderLineSkipped}, ""},
		{"a line of blanks continues", ok + "A: 1\r\n \r\nB: 2\r\n\r\n", 200, http.Header{"A": {"1"}, "B": {"2"}}, nil, ""},
		{"a control character", ok + "Set-Cookie: a=b\x01c\r\n\r\n", 200, http.Header{"Set-Cookie": {"a=b\x01c"}}, []NoteCode{ControlCharacter}, ""},
		{"chunked", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200, http.Header{"Transfer-Encoding": {"chunked"}}, nil, "hi"},
		{"chunked twice", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200, http.Header{"Transfer-Encoding": {"chunked", "Chunked"}}, []NoteCode{TransferEncodingRepeated}, "hi"},
		{"HTTP/1.0 has no transfer codings", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi", 200, http.Header{"Transfer-Encoding": {"chunked"}, "Content-Length": {"2"}}, nil, "2\r"},
		{"identity", ok + "Transfer-Encoding: identity\r\n\r\nhi", 200, http.Header{"Transfer-Encoding": {"identity"}}, []NoteCode{TransferEncodingUnknown}, "hi"},
		{"chunked is not the last", ok + "Transfer-Encoding: chunked, gzip\r\n\r\nhi", 200, http.Header{"Transfer-Encoding": {"chunked, gzip"}}, []NoteCode{TransferEncodingUnknown}, "hi"},
		{"both lengths", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200, http.Header{"Content-Length": {"1"}, "Transfer-Encoding": {"chunked"}}, []NoteCode{LengthBesideEncoding}, "hi"},
		{"one length twice", ok + "Content-Length: 2, 2\r\nContent-Length: 2\r\n\r\nhixx", 200, http.Header{"Content-Length": {"2, 2", "2"}}, []NoteCode{ContentLengthRepeated}, "hi"},
		{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, http.Header{"Content-Length": {"9"}}, nil, ""},
	} {
		h, r, err := read(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		body, err := io.ReadAll(h.Body(r, http.MethodGet))
		if h.Status != tt.status || string(body) != tt.body || err != nil {
			t.Errorf("%s: %d, body %q, %v", tt.name, h.Status, body, err)
		}
		if diff := cmp.Diff(tt.header, h.Header) + cmp.Diff(tt.notes, h.Notes); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestHeadsThatAreErrors(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for text, want := range map[string]error{
		"":                                  io.EOF,
		"HTTP/1.1 200 OK":                   io.ErrUnexpectedEOF,
		ok:                                  io.ErrUnexpectedEOF,
		ok + "A: b\r\n":                     io.ErrUnexpectedEOF,
		"SSH-2.0-OpenSSH_9.2\r\n":           ErrNotHTTP,
		"220 mail.example ESMTP\r\n":        ErrNotHTTP,
		"<html>\n":                          ErrNotHTTP,
		"HTTP/1.1\r\n\r\n":                  ErrNotHTTP,
		"HTTP/1.1200 OK\r\n\r\n":            ErrNotHTTP,
		"HTTP/1.1 099 x\r\n\r\n":            ErrNotHTTP,
		"HTTP/1.1 20 x\r\n\r\n":             ErrNotHTTP,
		"HTTP/1.1 2000 x\r\n\r\n":           ErrNotHTTP,
		"HTTP/1.1 +20 x\r\n\r\n":            ErrNotHTTP,
		ok + "A: b\x00\r\n\r\n":             ErrMalformed,
		ok + "A: b\rc\r\n\r\n":              ErrMalformed,
		ok + "Content-Length: 1, 2\r\n\r\n": ErrMalformed,
		ok + "Content-Length: 1\r\nContent-Length: 01\r\n\r\n":                       ErrMalformed,
		ok + "Content-Length: 2" + strings.Repeat(",2", maxElements) + "\r\n\r\n":    ErrMalformed,
		ok + "Transfer-Encoding: a" + strings.Repeat(",a", maxElements) + "\r\n\r\n": ErrMalformed,
		ok + "Content-Length: +1\r\n\r\n":                                            ErrMalformed,
		ok + "Content-Length: 0x1\r\n\r\n":                                           ErrMalformed,
		ok + "Content-Length:\r\n\r\n":                                               ErrMalformed,
		ok + "Content-Length: 9223372036854775808\r\n\r\n":                           ErrMalformed,
		ok + strings.Repeat("A: b\r\n", MaxLines) + "\r\n":                           ErrTooLong,
		ok + "A: b\r\n" + strings.Repeat(" c\r\n", MaxLines-1) + "\r\n":              ErrTooLong,
	} {
		if h, _, err := read(text); !errors.Is(err, want) || h != nil && err == nil {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
	for _, text := range []string{
		strings.Repeat("A: b\r\n", MaxLines-1), "Content-Length: 2" + strings.Repeat(",2", maxElements-1) + "\r\n",
		"Transfer-Encoding: a" + strings.Repeat(",a", maxElements-1) + "\r\n",
	} {
		if _, _, err := read(ok + text + "\r\n"); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestBodiesThatEndEarly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Content-Length: 3\r\n\r\nhi", "Transfer-Encoding: chunked\r\n\r\n5\r\nhi"} {
		h, r, err := read("HTTP/1.1 200 OK\r\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(h.Body(r, http.MethodGet)); string(body) != "hi" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %q, %v", text, body, err)
		}
		if body, err := io.ReadAll(h.Body(r, http.MethodHead)); len(body) > 0 || err != nil {
			t.Errorf("%q: the body of HEAD is %q, %v", text, body, err)
		}
	}
}

// heads are the heads of answers that come to 64 KiB, of which the first is ordinary. An interim answer is at most one
// of the 200 that a round trip takes.
func heads() map[string]string {
	const size = 64 << 10
	const ok = "HTTP/1.1 200 OK\r\n"
	fill := func(line string) string { return ok + strings.Repeat(line, size/len(line)) + "\r\n" }
	lines := func(line string) string { // as many as a head may have
		return ok + strings.Repeat(line+strings.Repeat("x", size/MaxLines-len(line)-2)+"\r\n", MaxLines-2) + "\r\n"
	}
	const interims = 200
	early := func(head string) string {
		return strings.Repeat(head+strings.Repeat("x", size/interims-len(head)-4)+"\r\n\r\n", interims) + ok + "\r\n"
	}
	return map[string]string{
		ordinary: fill("Set-Cookie: session=0123456789abcdef0123456789abcdef; Path=/; Secure; HttpOnly; " +
			"SameSite=Lax\r\n"),
		"continuations":          ok + "A: b\r\n" + lines(" ")[len(ok):],
		"tabs":                   ok + "A: b\r\n" + lines("\t\t")[len(ok):],
		"skipped":                lines("no field "),
		"skipped, continued":     lines(" no field "),
		"other names":            ok + strings.Join(names(), "") + "\r\n",
		"one line":               ok + "A: " + strings.Repeat("x", size-30) + "\r\n\r\n",
		"lengths":                ok + "Content-Length: 1" + strings.Repeat(",1", size/2-30) + "\r\n\r\n",
		"codings":                ok + "Transfer-Encoding: A" + strings.Repeat(",A", size/2-30) + "\r\n\r\n",
		"early hints":            early("HTTP/1.1 103 Early Hints\r\nLink: "),
		"early hints, no field":  early("HTTP/1.1 103 Early Hints\r\n"),
		"early hints, continued": early("HTTP/1.1 103 Early Hints\r\nA:\r\n a\r\n b\r\n c\r\n "),
	}
}

const ordinary = "an ordinary head"

func names() (lines []string) {
	for i := range MaxLines - 2 {
		lines = append(lines, fmt.Sprintf("X-%d: %053d\r\n", i, i))
	}
	return lines
}

// readAll reads a head and the interim ones before it.
func readAll(r *bufio.Reader) (*Head, error) {
	for {
		if h, err := ReadHead(r); err != nil || !h.Interim() {
			return h, err
		}
	}
}

// BenchmarkWeights prints what each of the heads costs.
func BenchmarkWeights(b *testing.B) {
	for name, text := range heads() {
		weighttest.Benchmark(b, weighttest.Bytes(name, weight.Head, []byte(text), func(text []byte) {
			_, _ = readAll(bufio.NewReaderSize(bytes.NewReader(text), 2<<10))
		}))
	}
}

// No head costs more than three times what an ordinary one of its length costs.
func TestWorstHeads(t *testing.T) { //nolint:paralleltest // it measures
	// What this thread has used; what others do does not count.
	used := func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			t.Fatal(err)
		}
		return time.Duration(now.Nano())
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cost := map[string]time.Duration{}
	for range 15 { // the cheapest of some tries, in turns: the machine's pace varies
		for name, text := range heads() {
			r := bufio.NewReaderSize(strings.NewReader(text), 2<<10)
			began := used()
			_, _ = readAll(r)
			if took := used() - began; cost[name] == 0 || took < cost[name] {
				cost[name] = took
			}
		}
	}
	for name, took := range cost {
		t.Logf("%s: %v", name, took)
		if took > 3*cost[ordinary] {
			t.Errorf("%s: %v, an ordinary head %v", name, took, cost[ordinary])
		}
	}
}

// allocated returns the bytes that a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What is allocated for a head grows with its length only: the shortest field takes an entry of a map and two strings.
const (
	allocatedAtFirst = 4 << 10
	allocatedPerByte = 64
)

// Whatever net/http reads is read here with the same status and body, and no head is read past its end.
func FuzzReadHead(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 404 x\nTransfer-Encoding: chunked\n\n1\r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "http/1.1\t200\r\nx\r\n: y\r\n\r\n", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	for _, text := range heads() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all := bufio.NewReader(bytes.NewReader(text))
		if n := allocated(func() { _, _ = readAll(all) }); n > allocatedAtFirst+allocatedPerByte*uint64(len(text)) {
			t.Fatalf("%.100q: %d bytes allocated for %d read", text, n, len(text))
		}
		theirs, refused := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		r := bufio.NewReader(bytes.NewReader(text))
		ours, err := ReadHead(r)
		if err != nil {
			if refused == nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooLong) && theirs.StatusCode >= 100 {
				t.Fatalf("%q: %v, but net/http reads it", text, err)
			}
			return
		}
		if len(ours.Header) > MaxLines || ours.Status < 100 || ours.Status > 999 {
			t.Fatalf("%q: %+v", text, ours)
		}
		if refused != nil {
			return
		}
		defer theirs.Body.Close()
		if theirs.StatusCode != ours.Status {
			t.Fatalf("%q: status %d, net/http has %d", text, ours.Status, theirs.StatusCode)
		}
	})
}
