package webview

import "diagnostics/gateway/internal/bound"

// The shares that parts of a round trip have of an answer, in bytes of JSON. A head is read up to 64 KiB, and JSON
// makes a multiple of it; no server that means well comes near any of these.
const (
	// MaxURL is that of one URL or Location: the length of a reference that is followed at all.
	MaxURL = 16 << 10
	// MaxStatusText is that of a reason phrase.
	MaxStatusText = 1 << 10

	maxHeaders   = 192 << 10
	maxValue     = 64 << 10
	maxFieldName = 1 << 10
)

// BoundHeaders cuts what is too long of a list of headers and sets the marks where there was.
func BoundHeaders(list []Header, marks ...*bool) []Header {
	for i, h := range list {
		list[i] = Header{Name: bound.Text(h.Name, maxFieldName, marks...), Value: bound.Text(h.Value, maxValue, marks...)}
	}
	return bound.List(list, maxHeaders, marks...)
}
