package webview

import (
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/http1"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	one := &egress.Response{Notes: []http1.NoteCode{http1.HeaderLineSkipped, http1.ControlCharacter}}
	two := &egress.Response{Notes: []http1.NoteCode{http1.ControlCharacter, http1.StatusLineRepaired}}
	var codes []http1.NoteCode
	for _, note := range ChainNotes(egress.Chain{Hops: []egress.Hop{{Response: one}, {}, {Response: two}}}) {
		codes = append(codes, note.Code)
	}
	want := []http1.NoteCode{http1.HeaderLineSkipped, http1.ControlCharacter, http1.StatusLineRepaired}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
	if notes := Notes(nil, &egress.Response{}); notes == nil || len(notes) > 0 {
		t.Errorf("no notes are %v", notes)
	}
	for _, code := range []http1.NoteCode{http1.StatusLineRepaired, http1.HeaderLineSkipped, http1.ControlCharacter,
		http1.TransferEncodingRepeated, http1.TransferEncodingUnknown, http1.LengthBesideEncoding,
		http1.ContentLengthRepeated, http1.TrailingBytes} {
		if row := NoteRows[string(code)]; row.Severity == "" || row.Message == "" {
			t.Errorf("%s has no message or no finding", code)
		}
	}
}
