package tools

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"diagnostics/gateway/internal/egress"
)

// httpTimings are the phases of one exchange in milliseconds, the common part "timings" of the web tools. TLSMs is null
// over plain HTTP.
type httpTimings struct {
	DNSMs       float64  `json:"dnsMs"`
	ConnectMs   float64  `json:"connectMs"`
	TLSMs       *float64 `json:"tlsMs"`
	FirstByteMs float64  `json:"firstByteMs"`
	TotalMs     float64  `json:"totalMs"`
}

func describeTimings(t egress.Timings) httpTimings {
	out := httpTimings{
		DNSMs:       durationMs(t.DNS),
		ConnectMs:   durationMs(t.Connect),
		FirstByteMs: durationMs(t.FirstByte),
		TotalMs:     durationMs(t.Total),
	}
	if t.HasTLS {
		ms := durationMs(t.TLS)
		out.TLSMs = &ms
	}
	return out
}

// tlsSummary is the common part T: what the handshake settled on, and whether a browser would accept the certificate.
type tlsSummary struct {
	Version            string  `json:"version"` // TLSv1.3
	Cipher             string  `json:"cipher"`  // the IANA name
	Authorized         bool    `json:"authorized"`
	AuthorizationError *string `json:"authorizationError"`
}

// describeTLS gives nil over plain HTTP.
func describeTLS(t *egress.TLS) *tlsSummary {
	if t == nil {
		return nil
	}
	out := &tlsSummary{
		Version:    strings.Replace(tls.VersionName(t.State.Version), "TLS ", "TLSv", 1),
		Cipher:     tls.CipherSuiteName(t.State.CipherSuite),
		Authorized: t.Verdict.Authorized,
	}
	if !t.Verdict.Authorized {
		code := t.Verdict.Code
		out.AuthorizationError = &code
	}
	return out
}

// headerLine is one field line of an answer.
type headerLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// describeHeaders lists an answer's headers: lower-case names, sorted by name, every repeat a line of its own in the
// order of arrival, the values of cookies masked.
func describeHeaders(h http.Header) []headerLine {
	keys := make([]string, 0, len(h))
	for key := range h {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	lines := make([]headerLine, 0, len(h))
	for _, key := range keys {
		name := headerText(strings.ToLower(key))
		for _, value := range h[key] {
			lines = append(lines, headerLine{Name: name, Value: headerValue(name, value)})
		}
	}
	// net/http keeps the spelling of names that are no tokens, so two keys may be one name in lower case.
	slices.SortStableFunc(lines, func(a, b headerLine) int { return cmp.Compare(a.Name, b.Name) })
	return lines
}

func headerValue(name, value string) string {
	value = headerText(value)
	if name == "set-cookie" || name == "set-cookie2" {
		return maskCookie(value)
	}
	return value
}

// headerText reads a field value as UTF-8, or as a whole as ISO 8859-1, which is what it was before RFC 9110.
func headerText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// describeStatus is the server's own reason phrase, or the standard one where it sent none.
func describeStatus(r *egress.Response) string {
	if text := strings.TrimSpace(headerText(r.StatusText)); text != "" {
		return text
	}
	return http.StatusText(r.Status)
}

// isRedirect tells the statuses whose Location a browser follows (RFC 9110 section 15.4).
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
