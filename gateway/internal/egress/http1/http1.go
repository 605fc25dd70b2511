// Package http1 reads the head of an HTTP/1 response as browsers do: what RFC 9112 requires is enforced where a body's
// length depends on it, and what only makes a field useless is skipped and noted. It does no I/O but to read.
package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// MaxLines bounds the lines of a head, and maxElements the members of a field that decides how long the body is.
const (
	MaxLines    = 1000
	maxElements = 100
)

// The errors of ReadHead, besides those of the reader.
var (
	// ErrNotHTTP reports a first line that is no status line of HTTP/1.
	ErrNotHTTP = errors.New("http1: not an HTTP/1 response")
	// ErrMalformed reports a head whose meaning is not certain: a NUL, a CR without LF, lengths that contradict each
	// other or are very many.
	ErrMalformed = errors.New("http1: malformed head")
	// ErrTooLong reports more than MaxLines lines.
	ErrTooLong = errors.New("http1: head of too many lines")
)

// NoteCode is what was wrong with a response that was read all the same.
type NoteCode string

// The codes of notes.
const (
	StatusLineRepaired       NoteCode = "STATUS_LINE_REPAIRED"
	HeaderLineSkipped        NoteCode = "HEADER_LINE_SKIPPED"
	ControlCharacter         NoteCode = "CONTROL_CHARACTER"
	TransferEncodingRepeated NoteCode = "TRANSFER_ENCODING_REPEATED"
	TransferEncodingUnknown  NoteCode = "TRANSFER_ENCODING_UNKNOWN"
	LengthBesideEncoding     NoteCode = "CONTENT_LENGTH_BESIDE_TRANSFER_ENCODING"
	ContentLengthRepeated    NoteCode = "CONTENT_LENGTH_REPEATED"
	// TrailingBytes is on a compressed body, over HTTP/2 too.
	TrailingBytes NoteCode = "TRAILING_BYTES"
)

// NoteCodes returns all of them.
func NoteCodes() []string {
	return []string{
		string(StatusLineRepaired), string(HeaderLineSkipped), string(ControlCharacter), string(TransferEncodingRepeated),
		string(TransferEncodingUnknown), string(LengthBesideEncoding), string(ContentLengthRepeated), string(TrailingBytes),
	}
}

// Head is the head of one response, final or interim.
type Head struct {
	Major, Minor int
	Status       int
	Reason       string
	// Header holds every field that could be read, by canonical name, as it was sent.
	Header http.Header
	// Notes are in the order of the head, each once.
	Notes []NoteCode

	chunked bool
	length  int64 // -1 for a body that ends with the connection
}

// ReadHead reads a head up to its empty line. Errors are those of this package, of the reader, or io.ErrUnexpectedEOF
// where the reader ends before the head does; in its first line that is ErrNotHTTP as well.
func ReadHead(r *bufio.Reader) (*Head, error) {
	h := &Head{Header: http.Header{}}
	lines := lineReader{from: r}
	first, err := lines.next()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: half a line: %w", ErrNotHTTP, err)
	}
	if err != nil {
		return nil, err
	}
	if err := h.readStatus(string(first)); err != nil {
		return nil, err
	}
	if err := h.readFields(&lines); err != nil {
		return nil, err
	}
	return h, h.frame()
}

// lineReader reads lines without copying those that fit into the reader's buffer.
type lineReader struct {
	from *bufio.Reader
	long []byte // the last line that did not fit
}

// next returns a line without its end, which is LF or CRLF (RFC 9112 section 2.2). The line is valid until the next
// call.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.from.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, line...)
			line, err = l.from.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
	if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return nil, fmt.Errorf("%w: a NUL or a CR without LF", ErrMalformed)
	}
	return line, nil
}

const blanks = " \t"

// readStatus reads a status line. Its parts are separated by any blanks and the name is read in any case, as browsers
// do; both are noted. RFC 9112 section 4 wants single spaces and "HTTP".
func (h *Head) readStatus(line string) error {
	const name = "HTTP/"
	if len(line) < len(name) || !strings.EqualFold(line[:len(name)], name) {
		return fmt.Errorf("%w: %.40q", ErrNotHTTP, line)
	}
	end := strings.IndexAny(line, blanks)
	if end < 0 {
		return fmt.Errorf("%w: %.40q", ErrNotHTTP, line)
	}
	rest := strings.TrimLeft(line[end:], blanks)
	code, reason := rest, ""
	if i := strings.IndexAny(rest, blanks); i >= 0 {
		code, reason = rest[:i], strings.Trim(rest[i:], blanks)
	}
	status, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 || status < 100 {
		return fmt.Errorf("%w: %.40q", ErrNotHTTP, line)
	}
	h.Status, h.Reason = status, reason
	var known bool
	if h.Major, h.Minor, known = http.ParseHTTPVersion(line[:end]); !known || h.Major != 1 {
		h.Major, h.Minor = 1, 1
		known = false
	}
	// Many servers leave out the space behind the code of a response without a reason.
	if plain := line[:end] + " " + code; !known || line != plain && !strings.HasPrefix(line, plain+" ") {
		h.note(StatusLineRepaired)
	}
	return nil
}

// readFields reads the fields. A line that begins with a blank continues the one before it (RFC 9112 section 5.2), also
// one that was skipped. The lines of a field are joined in a buffer, and copied from it once the field is complete.
func (h *Head) readFields(lines *lineReader) error {
	var field []byte
	for range MaxLines {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if len(field) > 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			field = append(append(field, ' '), bytes.Trim(line, blanks)...)
			continue
		}
		if len(field) > 0 {
			h.addField(field)
		}
		if len(line) == 0 {
			return nil
		}
		field = append(field[:0], line...)
	}
	return ErrTooLong
}

// addField keeps a field whose name is a token, and skips any other line.
func (h *Head) addField(field []byte) {
	end := bytes.IndexByte(field, ':')
	if end < 0 {
		h.note(HeaderLineSkipped)
		return
	}
	name := string(field[:end])
	if !httpguts.ValidHeaderFieldName(name) {
		h.note(HeaderLineSkipped)
		return
	}
	value := string(bytes.Trim(field[end+1:], blanks))
	if !httpguts.ValidHeaderFieldValue(value) {
		h.note(ControlCharacter)
	}
	key := textproto.CanonicalMIMEHeaderKey(name)
	h.Header[key] = append(h.Header[key], value)
}

func (h *Head) note(code NoteCode) {
	if !slices.Contains(h.Notes, code) {
		h.Notes = append(h.Notes, code)
	}
}

// frame finds how long the body is (RFC 9112 section 6.3). HTTP/1.0 has no transfer codings.
func (h *Head) frame() error {
	length, err := h.contentLength()
	if err != nil {
		return err
	}
	h.length = length
	if h.Minor == 0 {
		return nil
	}
	codings, chunked := 0, 0
	for coding := range elements(h.Header["Transfer-Encoding"]) {
		if codings++; codings > maxElements {
			return fmt.Errorf("%w: more than %d transfer codings", ErrMalformed, maxElements)
		}
		if h.chunked = strings.EqualFold(coding, "chunked"); h.chunked {
			chunked++
		}
	}
	if codings == 0 {
		return nil
	}
	h.length = -1
	switch {
	case h.chunked && chunked > 1:
		h.note(TransferEncodingRepeated)
	case !h.chunked || codings > 1:
		h.note(TransferEncodingUnknown)
	}
	if length >= 0 {
		h.note(LengthBesideEncoding)
	}
	return nil
}

// contentLength is -1 where there is none. Equal lengths are one; anything but one number is an error.
func (h *Head) contentLength() (int64, error) {
	sent, is := h.Header["Content-Length"]
	if !is {
		return -1, nil
	}
	first, count := "", 0
	for length := range elements(sent) {
		if count++; count == 1 {
			first = length
		}
		if length != first || count > maxElements {
			return 0, fmt.Errorf("%w: Content-Length %.40q, then %.40q", ErrMalformed, first, length)
		}
	}
	if count == 0 {
		return 0, fmt.Errorf("%w: an empty Content-Length", ErrMalformed)
	}
	const bits = 63 // strconv takes no sign for an unsigned number
	n, err := strconv.ParseUint(first, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%w: Content-Length %.40q", ErrMalformed, first)
	}
	if count > 1 {
		h.note(ContentLengthRepeated)
	}
	return int64(n), nil // #nosec G115 -- of 63 bits
}

// elements yields the members of a list over all lines of a field.
func elements(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for line != "" {
				var part string
				part, line, _ = strings.Cut(line, ",")
				if part = strings.Trim(part, blanks); part != "" && !yield(part) {
					return
				}
			}
		}
	}
}

// Interim reports whether another head follows this one (RFC 9110 section 15.2). 101 ends HTTP.
func (h *Head) Interim() bool {
	return h.Status >= 100 && h.Status <= 199 && h.Status != http.StatusSwitchingProtocols
}

// Body returns the body of a final response to a request of the method, read from what follows the head. It ends with
// io.EOF where the framing says so, and with io.ErrUnexpectedEOF where the reader ends before.
func (h *Head) Body(r *bufio.Reader, method string) io.Reader {
	switch {
	case method == http.MethodHead, h.Status < 200, h.Status == http.StatusNoContent, h.Status == http.StatusNotModified:
		return http.NoBody
	case h.chunked:
		return httputil.NewChunkedReader(r)
	case h.length >= 0:
		return &lengthReader{r, h.length}
	}
	return r
}

// lengthReader is io.LimitedReader that reports an end before its length.
type lengthReader struct {
	from io.Reader
	left int64
}

func (l *lengthReader) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if errors.Is(err, io.EOF) && l.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
