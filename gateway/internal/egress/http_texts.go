package egress

import (
	"errors"
	"strings"
)

// net/http and crypto/tls have no types for most of their errors about answers and handshakes, so this file, and no
// other, recognizes an error by its text. It compares the beginning only, because the rest may quote the server. The
// tests provoke each of these errors, and fail if a release of Go changes a text.

// answerTexts map the beginning of an error that ended a server's answer to its code. The first that fits decides. A
// connection of ours carries one request, so a stream of HTTP/2 is always the first.
var answerTexts = []struct{ begins, code string }{
	{"stream error: stream ID 1; PROTOCOL_ERROR; http2: response header list larger ", codeLongHeaders},
	// Also for one field that is longer than all may be together.
	{"connection error: COMPRESSION_ERROR", "HTTP2_HEADERS"},
	{"stream error: stream ID 1; PROTOCOL_ERROR; malformed ", codeNotHTTP},
	{"stream error: stream ID 1; PROTOCOL_ERROR; invalid header ", codeNotHTTP},
	{"stream error: ", codeBrokenOff},
	{"connection error: ", codeBrokenOff},
	{"http2: ", codeBrokenOff},
}

// codeByText is empty where the text of the error says nothing.
func codeByText(err error) string {
	text := rootOf(err).Error()
	for _, t := range answerTexts {
		if strings.HasPrefix(text, t.begins) {
			return t.code
		}
	}
	return ""
}

func rootOf(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// textLongKey begins the error of a handshake in which any certificate has a key that crypto/tls does not take.
const textLongKey = "tls: server sent certificate containing RSA key larger than "
