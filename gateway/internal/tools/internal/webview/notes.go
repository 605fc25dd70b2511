package webview

import (
	"slices"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/http1"
)

// Note is something wrong with a response that browsers show all the same.
type Note struct {
	Code    http1.NoteCode `json:"code"`
	Message string         `json:"message"`
}

var noteMessages = map[http1.NoteCode]string{
	http1.StatusLineRepaired: "The first line of the response is not a status line as RFC 9112 section 4 defines it. " +
		"Browsers read it all the same.",
	http1.HeaderLineSkipped: "A line of the response's header is broken. Browsers skip it.",
	http1.ControlCharacter:  "A header of the response has a control character in its value (RFC 9110 section 5.5).",
	http1.TransferEncodingRepeated: "Transfer-Encoding names chunked more than once (RFC 9112 section 6.1). " +
		"Browsers take it as one.",
	http1.TransferEncodingUnknown: "Transfer-Encoding names a coding that browsers do not undo.",
	http1.LengthBesideEncoding: "The response has both Content-Length and Transfer-Encoding (RFC 9112 section 6.2). " +
		"Browsers ignore the former.",
	http1.ContentLengthRepeated: "Content-Length is repeated with the same number (RFC 9112 section 6.3). " +
		"Browsers take it as one.",
	http1.TrailingBytes: "Other bytes follow the compressed body of the response. Browsers ignore them (RFC 1952).",
}

// Notes are those on all of the responses, each once, never nil. A response may be nil.
func Notes(responses ...*egress.Response) []Note {
	notes := []Note{}
	for _, r := range responses {
		if r == nil {
			continue
		}
		for _, code := range r.Notes {
			if note := (Note{code, noteMessages[code]}); !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// ChainNotes are the Notes on all responses of a chain.
func ChainNotes(chain egress.Chain) []Note {
	var responses []*egress.Response
	for _, hop := range chain.Hops {
		responses = append(responses, hop.Response)
	}
	return Notes(responses...)
}
