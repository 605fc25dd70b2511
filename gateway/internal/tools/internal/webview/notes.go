package webview

import (
	"maps"
	"slices"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/tool/finding"
)

// Note is something wrong with a response that browsers show all the same.
type Note struct {
	Code    http1.NoteCode `json:"code"`
	Message string         `json:"message"`
}

// Enums implements decode.Enumerated.
func (Note) Enums() map[string][]string { return map[string][]string{"code": http1.NoteCodes()} }

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

// noteRows are the findings of notes; %[1]s is the host or the file.
var noteRows = map[http1.NoteCode]finding.Entry{
	http1.StatusLineRepaired: {Severity: finding.Warn, Group: finding.Safer, Weight: 22,
		Message:   "The first line of the response of %[1]s is not a valid status line. Browsers read it all the same.",
		Remedy:    "Begin the response with a line such as \"HTTP/1.1 200 OK\".",
		Reference: http1Spec + "#section-4"},
	http1.HeaderLineSkipped: {Severity: finding.Warn, Group: finding.Safer, Weight: 24,
		Message:   "A line of the header of %[1]s is broken. Browsers skip it.",
		Remedy:    "Remove the line, or write it as a name, a colon and a value.",
		Reference: http1Spec + "#section-5"},
	http1.ControlCharacter: {Severity: finding.Info, Group: finding.Note, Weight: 6,
		Message:   "A header of %[1]s has a control character in its value.",
		Remedy:    "Leave control characters out of headers.",
		Reference: httpSpec + "#section-5.5"},
	http1.TransferEncodingRepeated: {Severity: finding.Warn, Group: finding.Safer, Weight: 23,
		Message:   "The Transfer-Encoding of %[1]s names chunked more than once. Browsers take it as one.",
		Remedy:    "Let one part of the server add the header.",
		Reference: http1Spec + "#section-6.1"},
	http1.TransferEncodingUnknown: {Severity: finding.Warn, Group: finding.Safer, Weight: 23,
		Message:   "The Transfer-Encoding of %[1]s names a coding that browsers do not undo.",
		Remedy:    "Send chunked alone; compress with Content-Encoding.",
		Reference: http1Spec + "#section-6.1"},
	http1.LengthBesideEncoding: {Severity: finding.Warn, Group: finding.Safer, Weight: 26,
		Message: "A response of %[1]s has both Content-Length and Transfer-Encoding, so proxies may disagree about where " +
			"it ends.",
		Remedy:    "Send one of the two headers.",
		Reference: http1Spec + "#section-6.2"},
	http1.ContentLengthRepeated: {Severity: finding.Info, Group: finding.Note, Weight: 6,
		Message:   "The Content-Length of %[1]s is repeated with the same number. Browsers take it as one.",
		Remedy:    "Let one part of the server add the header.",
		Reference: http1Spec + "#section-6.3"},
	http1.TrailingBytes: {Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message:   "Other bytes follow the compressed body of %[1]s. Browsers ignore them; others may refuse it.",
		Remedy:    "Add nothing to a body once it is compressed.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1952.html#section-2.2"},
}

const http1Spec = "https://www.rfc-editor.org/rfc/rfc9112.html"

// WithNotes are the rows with those of the findings of notes, unless there are own ones of a code.
func WithNotes(own map[string]finding.Entry) map[string]finding.Entry {
	rows := make(map[string]finding.Entry, len(noteRows))
	for code, row := range noteRows {
		rows[string(code)] = row
	}
	return with(rows, own)
}

// with are the shared rows, unless there are own ones of a code.
func with(shared, own map[string]finding.Entry) map[string]finding.Entry {
	entries := maps.Clone(shared)
	maps.Copy(entries, own)
	return entries
}

// NoteFindings are the findings of the notes on what is named.
func NoteFindings(catalogue finding.Catalogue, name string, notes []Note) []finding.Finding {
	var findings []finding.Finding
	for _, note := range notes {
		findings = append(findings, catalogue.Find(string(note.Code), name))
	}
	return findings
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
