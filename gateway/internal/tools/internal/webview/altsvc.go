package webview

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/text"
)

// Alternative is another way to have the site, as an Alt-Svc field offers it (RFC 7838).
type Alternative struct {
	Protocol      string  `json:"protocol"` // the ALPN name: h3
	Host          *string `json:"host"`     // null: the site's own
	Port          int     `json:"port" wire:"min=1 max=65535"`
	MaxAgeSeconds int64   `json:"maxAgeSeconds"` // how long clients may remember it
}

// What is read of Alt-Svc fields; servers offer two or three alternatives.
const (
	maxAlternatives    = 16
	maxAlternativeText = 256
	defaultMaxAge      = 86_400 // RFC 7838 section 3.1
)

// Alternatives reads the Alt-Svc fields of an answer. What is malformed is left out, as clients do. "clear" takes back
// what was offered before, and so offers nothing.
func Alternatives(h http.Header) []Alternative {
	list := []Alternative{}
	for _, field := range h.Values("Alt-Svc") {
		for _, value := range SplitQuoted(field, ',') {
			if a, ok := parseAlternative(value); ok && len(list) < maxAlternatives {
				list = append(list, a)
			}
		}
	}
	return list
}

// parseAlternative reads protocol="host:port"; ma=seconds.
func parseAlternative(value string) (Alternative, bool) {
	parts := SplitQuoted(value, ';')
	name, authority, found := strings.Cut(parts[0], "=")
	if !found {
		return Alternative{}, false
	}
	protocol, err := url.PathUnescape(strings.TrimSpace(name))
	if err != nil || protocol == "" {
		return Alternative{}, false
	}
	host, port, err := net.SplitHostPort(unquoted(authority))
	number, failed := strconv.ParseUint(port, 10, 16)
	if err != nil || failed != nil || number == 0 {
		return Alternative{}, false
	}
	a := Alternative{Protocol: text.Clean(protocol, maxAlternativeText), Port: int(number), MaxAgeSeconds: defaultMaxAge}
	if host != "" {
		a.Host = new(text.Clean(host, maxAlternativeText))
	}
	for _, parameter := range parts[1:] {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "ma") {
			continue
		}
		if seconds, err := strconv.ParseUint(unquoted(value), 10, 32); err == nil {
			a.MaxAgeSeconds = int64(seconds)
		}
	}
	return a, true
}

// unquoted is the text of a quoted string, or of a token.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var plain strings.Builder
	for inner := s[1 : len(s)-1]; inner != ""; inner = inner[1:] {
		if inner[0] == '\\' && len(inner) > 1 {
			inner = inner[1:]
		}
		plain.WriteByte(inner[0])
	}
	return plain.String()
}
