package egress

import (
	"errors"
	"strings"
)

// net/http and crypto/tls have no types for most of what can be wrong with an answer or in a handshake, so in this
// file, and nowhere else, their texts decide. How a text begins decides alone: the rest may quote the server. The tests
// provoke each of these errors, so that they fail where a release of Go words one differently.

// answerTexts are how the texts of errors begin that a server's answer ended in, and the codes for them. They are
// looked for in this order. A connection of ours carries one request, so a stream of HTTP/2 is always the first.
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
