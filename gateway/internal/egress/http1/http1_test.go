package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		ok + "Content-Length: 1\r\nContent-Length: 01\r\n\r\n":          ErrMalformed,
		ok + "Content-Length: +1\r\n\r\n":                               ErrMalformed,
		ok + "Content-Length: 0x1\r\n\r\n":                              ErrMalformed,
		ok + "Content-Length:\r\n\r\n":                                  ErrMalformed,
		ok + "Content-Length: 9223372036854775808\r\n\r\n":              ErrMalformed,
		ok + strings.Repeat("A: b\r\n", MaxLines) + "\r\n":              ErrTooLong,
		ok + "A: b\r\n" + strings.Repeat(" c\r\n", MaxLines-1) + "\r\n": ErrTooLong,
	} {
		if h, _, err := read(text); !errors.Is(err, want) || h != nil && err == nil {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
	if _, _, err := read(ok + strings.Repeat("A: b\r\n", MaxLines-1) + "\r\n"); err != nil {
		t.Errorf("%d lines: %v", MaxLines, err)
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

// Whatever net/http reads is read here with the same status and body, and no head is read past its end.
func FuzzReadHead(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 404 x\nTransfer-Encoding: chunked\n\n1\r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "http/1.1\t200\r\nx\r\n: y\r\n\r\n", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
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
