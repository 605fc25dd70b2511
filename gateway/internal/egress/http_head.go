package egress

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"strings"
)

// headAsSent reads the header of an HTTP/1 answer from the bytes that came. The library's own header is not what the
// server sent: it drops Transfer-Encoding, Trailer, and Content-Length beside chunks, and adds a Cache-Control where
// there is a Pragma. parsed is given back where the bytes cannot be read, which the library would have refused before.
func headAsSent(start []byte, parsed http.Header) http.Header {
	r := textproto.NewReader(bufio.NewReaderSize(bytes.NewReader(start), min(len(start), linesBuffer)))
	for {
		status, err := r.ReadLine()
		if err != nil {
			return parsed
		}
		header, err := r.ReadMIMEHeader()
		if err != nil {
			return parsed
		}
		if !isInterim(status) {
			return http.Header(header)
		}
	}
}

// isStatus tells whether a number is a status code (RFC 9110 section 15): the library takes 000 over HTTP/1, and any
// number over HTTP/2.
func isStatus(code int) bool { return code >= 100 && code <= 999 }

var errNoStatus = errors.New("the answer's status is no status code")

// linesBuffer is the library's usual one; most heads are a fraction of it.
const linesBuffer = 4 << 10

// isInterim tells whether a status line is one that another answer follows (RFC 9110 section 15.2). 101 ends HTTP.
func isInterim(statusLine string) bool {
	_, rest, _ := strings.Cut(statusLine, " ")
	return strings.HasPrefix(rest, "1") && !strings.HasPrefix(rest, "101")
}
