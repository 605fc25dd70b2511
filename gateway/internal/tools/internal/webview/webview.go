// Package webview writes what the web tools share of an HTTP round trip: timings, the TLS summary, headers with masked
// cookies, the status, and why a request failed.
package webview

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tools/internal/format"
)

// Timings are the phases of one round trip in milliseconds, the common part "timings" of the web tools. TLSMs is null
// over plain HTTP.
type Timings struct {
	DNSMs       float64  `json:"dnsMs"`
	ConnectMs   float64  `json:"connectMs"`
	TLSMs       *float64 `json:"tlsMs"`
	FirstByteMs float64  `json:"firstByteMs"`
	TotalMs     float64  `json:"totalMs"`
}

// DescribeTimings returns the phases of a round trip.
func DescribeTimings(t egress.Timings) Timings {
	out := Timings{
		DNSMs:       format.Milliseconds(t.DNS),
		ConnectMs:   format.Milliseconds(t.Connect),
		FirstByteMs: format.Milliseconds(t.FirstByte),
		TotalMs:     format.Milliseconds(t.Total),
	}
	if t.HasTLS {
		out.TLSMs = new(format.Milliseconds(t.TLS))
	}
	return out
}

// TLS is the common part T: what the handshake settled on, and whether a browser would accept the certificate.
type TLS struct {
	Version            string  `json:"version"` // TLSv1.3
	Cipher             string  `json:"cipher"`  // the IANA name
	Authorized         bool    `json:"authorized"`
	AuthorizationError *string `json:"authorizationError"`
}

// Enums implements decode.Enumerated.
func (TLS) Enums() map[string][]string {
	return map[string][]string{"authorizationError": certs.Codes()}
}

// DescribeTLS returns nil over plain HTTP.
func DescribeTLS(t *egress.TLS) *TLS {
	if t == nil {
		return nil
	}
	return &TLS{
		Version:            strings.Replace(tls.VersionName(t.State.Version), "TLS ", "TLSv", 1),
		Cipher:             tls.CipherSuiteName(t.State.CipherSuite),
		Authorized:         t.Verdict.Authorized,
		AuthorizationError: format.TextOrNull(t.Verdict.Code),
	}
}

const httpsPort = 443

// CertificateSubject is the subject of findings about a server's certificate, by which those of several tools are
// recognized as one. The host is as in a URL.
func CertificateSubject(host string, port uint16) string {
	if port == httpsPort {
		return "certificate of " + host
	}
	return fmt.Sprintf("certificate of %s:%d", host, port)
}

// Header is one field line of an answer. A head is read up to 64 KiB, and JSON makes a multiple of it.
type Header struct {
	Name  string `json:"name" bound:"text=1k"`
	Value string `json:"value" bound:"text=64k"`
}

// DescribeHeaders lists an answer's headers: lower-case names, sorted by name, every repeat a line of its own in the
// order of arrival, the values of cookies masked.
func DescribeHeaders(h http.Header) []Header {
	lines := make([]Header, 0, len(h))
	for _, key := range slices.Sorted(maps.Keys(h)) {
		name := HeaderText(strings.ToLower(key))
		for _, value := range h[key] {
			lines = append(lines, Header{Name: name, Value: HeaderValue(name, value)})
		}
	}
	// net/http keeps the spelling of names that are no tokens, so two keys may be one name in lower case.
	slices.SortStableFunc(lines, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	return lines
}

// HeaderValue returns the value of a field line as it is shown; name is in lower case.
func HeaderValue(name, value string) string {
	value = HeaderText(value)
	if name == "set-cookie" || name == "set-cookie2" {
		return maskCookie(value)
	}
	return value
}

// HeaderText is a field value as it is shown: read as UTF-8, or as a whole as ISO 8859-1, which is what it was before
// RFC 9110, and with control characters escaped.
func HeaderText(s string) string { return text.Escaped(text.Decode(s)) }

// SplitQuoted splits a field value at a separator that stands in no quoted string.
func SplitQuoted(s string, separator byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == separator && !quoted:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// DescribeStatus is the server's own reason phrase, or the standard one where it sent none.
func DescribeStatus(r *egress.Response) string {
	return cmp.Or(strings.TrimSpace(HeaderText(r.StatusText)), http.StatusText(r.Status))
}

// The shares that parts of a round trip have of an answer, in bytes of JSON, as the tags say. No server that means well
// comes near them.
const (
	// MaxURL is that of one URL or Location: the length of a reference that is followed at all.
	MaxURL = 16 << 10
	// MaxStatusText is that of a reason phrase.
	MaxStatusText = 1 << 10
)

// ChainFault returns the error of a run that has no result of its own: the client is gone, this service lacked the
// means to go on, or the site itself may not or cannot be visited at all. What this service lacks is a 503 whatever
// hops were seen before (docs/contract.md#outcomes-and-errors): it is no outcome of the chain.
func ChainFault(ctx context.Context, client *egress.Client, site target.URL, chain egress.Chain) error {
	first := chain.Hops[0].Err
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case fault.IsOwn(chain.Err):
		return chain.Err
	case first == nil, chain.End == egress.EndDeadline:
		return nil
	case fault.Is(first, fault.Refused), fault.Is(first, fault.NoAddress), fault.Is(first, fault.Limited):
		return first
	}
	return unroutable(ctx, client, site, first)
}

// unroutable returns the error of a site that is reached only by a family which this host lacks: no fault of the
// site. It is nil where the failed round trip has another reason.
func unroutable(ctx context.Context, client *egress.Client, site target.URL, failed error) error {
	if !fault.Is(failed, fault.Upstream) {
		return nil
	}
	resolution, err := client.Resolve(ctx, site.Host())
	if err != nil {
		return nil //nolint:nilerr // the failed round trip is the error to report, not this lookup
	}
	return resolution.Reachable()
}

// FaultSentence is the sentence of a failure for a client.
func FaultSentence(err error) string {
	if f, is := errors.AsType[*fault.Error](err); is {
		return f.Sentence()
	}
	return fault.Rows.Sentence("REQUEST_FAILED", nil)
}
