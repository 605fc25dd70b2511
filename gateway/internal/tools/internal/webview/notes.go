package webview

import (
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

// ReportNotes reports the notes on what is named.
func ReportNotes(report *finding.Draft, name string, notes []Note) {
	for _, note := range notes {
		report.Add(string(note.Code), "", finding.Args{"of": name})
	}
}

// Notes are those on all of the responses, each once, never nil. A response may be nil.
func Notes(responses ...*egress.Response) []Note {
	notes := []Note{}
	for _, r := range responses {
		if r == nil {
			continue
		}
		for _, code := range r.Notes {
			if note := (Note{code, NoteRows.Sentence(string(code), nil)}); !slices.Contains(notes, note) {
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
