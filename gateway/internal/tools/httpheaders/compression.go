package httpheaders

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// offered are the content codings that the request offers: those of browsers over HTTPS, in their order. No body is
// read, so that none is undone.
var offered = []string{"gzip", "deflate", "br", "zstd"}

// compression reports whether the server compresses its answer, to a client that takes every usual coding.
type compression struct {
	Offered []string `json:"offered"`
	Coding  *string  `json:"coding"` // as the server names it, null where it does not compress
	// Varies reports whether the answer says that the coding depends on the request: Vary has Accept-Encoding, or *.
	Varies bool `json:"varies"`
}

// describeCompression reads Content-Encoding and Vary.
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

// packet is about what fits into one packet: compression of a shorter text gains nothing.
const packet = 1400

// compressionFault is the code of what could be better about the compression of an answer; empty for nothing.
func compressionFault(r *egress.Response, c compression) string {
	switch {
	case c.Coding == nil && r.Status == http.StatusOK && isText(r.Header.Get("Content-Type")) && length(r) >= packet:
		return codeNotCompressed
	case c.Coding != nil && !c.Varies && !uncached(r):
		return codeVaryMissing
	}
	return ""
}

// length is that of the body; of one whose length is not announced, enough.
func length(r *egress.Response) int {
	n, err := strconv.Atoi(r.Header.Get("Content-Length"))
	if err != nil {
		return packet
	}
	return n
}

func isText(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	switch media {
	case "image/svg+xml", "application/json", "application/xml", "application/javascript", "application/x-javascript":
		return true
	}
	structured := strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
	return strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "application/") && structured
}

// uncached reports whether no shared cache may keep the answer (RFC 9111 section 5.2.2).
func uncached(r *egress.Response) bool {
	return slices.ContainsFunc(tokens(r.Header, "Cache-Control"), func(directive string) bool {
		return directive == "no-store" || directive == "private" || strings.HasPrefix(directive, "private=")
	})
}
