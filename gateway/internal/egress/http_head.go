package egress

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
)

// headAsSent reads the header of an HTTP/1 answer from the bytes that came. The library's own header is not what the
// server sent: it drops Transfer-Encoding, Trailer, and Content-Length beside chunks, and adds a Cache-Control where
// there is a Pragma. parsed is given back where the bytes cannot be read, which the library would have refused before.
func headAsSent(head []byte, parsed http.Header) http.Header {
	r := textproto.NewReader(bufio.NewReaderSize(bytes.NewReader(head), min(len(head), linesBuffer)))
	if _, err := r.ReadLine(); err != nil {
		return parsed
	}
	header, err := r.ReadMIMEHeader()
	if err != nil {
		return parsed
	}
	return http.Header(header)
}

// isStatus reports whether a number is a status code (RFC 9110 section 15): the library takes 000 over HTTP/1, and any
// number over HTTP/2.
func isStatus(code int) bool { return code >= 100 && code <= 999 }

var errNoStatus = errors.New("the answer's status is no status code")

// linesBuffer is the library's usual one; most heads are a fraction of it.
const linesBuffer = 4 << 10
