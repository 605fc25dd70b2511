package egress

import (
	"crypto/tls"
	"errors"
	"strings"
)

// net/http and crypto/tls have no types for most of what can be wrong with an answer or in a handshake, so in this
// file, and nowhere else, their texts decide. How a text begins decides alone: the rest may quote the server. The tests
// provoke each of these errors, so that they fail where a release of Go words one differently.

const (
	sentenceNoSense     = "sent an invalid answer."
	sentenceTinyPieces  = "sent its answer in too many tiny pieces."
	sentenceNotHTTP     = "did not answer with valid HTTP."
	sentenceLongHeaders = "sent response headers of more than 64 KiB."
	sentenceBrokenOff   = "closed the HTTP/2 connection without an answer."
)

// answerText is how the text of an error begins that a server's answer ended in, and the sentence for it.
type answerText struct{ begins, sentence string }

// answerTexts are looked for in this order. A connection of ours carries one request, so a stream of HTTP/2 is always
// the first.
var answerTexts = []answerText{
	{"net/http: server response headers exceeded ", sentenceLongHeaders},
	{"stream error: stream ID 1; PROTOCOL_ERROR; http2: response header list larger ", sentenceLongHeaders},
	// Also for one field that is longer than all may be together.
	{"connection error: COMPRESSION_ERROR", "sent HTTP/2 headers that are broken or longer than 64 KiB."},
	{`malformed HTTP response "\x15\x03`, "expects TLS on this port. Use https:// in the URL."},
	{"malformed ", sentenceNotHTTP},
	{"http: message cannot contain multiple Content-Length ", sentenceNotHTTP},
	{"bad Content-Length ", sentenceNotHTTP},
	{"invalid empty Content-Length ", sentenceNotHTTP},
	{"unsupported transfer encoding", sentenceNotHTTP},
	{"too many transfer encodings", sentenceNotHTTP},
	{"bad trailer key ", sentenceNotHTTP},
	{"stream error: stream ID 1; PROTOCOL_ERROR; malformed ", sentenceNotHTTP},
	{"stream error: stream ID 1; PROTOCOL_ERROR; invalid header ", sentenceNotHTTP},
	{"stream error: ", sentenceBrokenOff},
	{"connection error: ", sentenceBrokenOff},
	{"http2: ", sentenceBrokenOff},
}

// sentenceByText is empty where the text of the error says nothing.
func sentenceByText(err error) string {
	text := rootOf(err).Error()
	for _, t := range answerTexts {
		if strings.HasPrefix(text, t.begins) {
			return t.sentence
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

// alertNames are the alerts that tell a visitor something, by their registered names (RFC 8446 section 6).
var alertNames = map[tls.AlertError]string{
	10:  "unexpected_message",
	40:  "handshake_failure",
	42:  "bad_certificate",
	47:  "illegal_parameter",
	49:  "access_denied",
	50:  "decode_error",
	70:  "protocol_version",
	71:  "insufficient_security",
	80:  "internal_error",
	86:  "inappropriate_fallback",
	112: "unrecognized_name",
	116: "certificate_required",
	120: "no_application_protocol",
}

// alertName names the alert that a server ended a handshake with, or is empty. Over TCP crypto/tls gives an alert a
// type of its own, but the text that its exported one has.
func alertName(alert error) string {
	for known, name := range alertNames {
		if alert.Error() == known.Error() {
			return name
		}
	}
	return ""
}
