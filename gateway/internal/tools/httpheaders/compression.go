package httpheaders

import (
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// offered are the content codings that the request offers: those of browsers over HTTPS, in their order. No body is
// read, so that none is undone.
var offered = []string{"gzip", "deflate", "br", "zstd"}

// compression tells whether the server compresses its answer, to a client that takes every usual coding.
type compression struct {
	Offered []string `json:"offered"`
	Coding  *string  `json:"coding"` // as the server names it, null where it does not compress
	// Varies tells that caches learn that the coding depends on the request: Vary has Accept-Encoding, or *.
	Varies bool `json:"varies"`
}

func describeCompression(r *egress.Response) compression {
	c := compression{Offered: offered, Varies: slices.ContainsFunc(tokens(r.Header, "Vary"), func(name string) bool {
		return name == "accept-encoding" || name == "*"
	})}
	codings := slices.DeleteFunc(tokens(r.Header, "Content-Encoding"), func(s string) bool { return s == "identity" })
	if len(codings) > 0 {
		c.Coding = new(bound.Text(strings.Join(codings, ", "), webview.MaxStatusText))
	}
	return c
}

// tokens are the members of a field that is a list of tokens, in lower case.
func tokens(h http.Header, name string) []string {
	var list []string
	for _, value := range h.Values(name) {
		for member := range strings.SplitSeq(webview.HeaderText(value), ",") {
			if member = strings.ToLower(strings.TrimSpace(member)); member != "" {
				list = append(list, member)
			}
		}
	}
	return list
}
