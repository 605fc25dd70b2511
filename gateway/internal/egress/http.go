package egress

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/target"
)

// Request is one HTTP exchange.
type Request struct {
	// Method is GET where empty.
	Method string
	URL    target.URL
	// Family limits the addresses tried to 4 or 6; 0 tries all.
	Family int
	// Header is added to the identifying User-Agent; Host, User-Agent and hop-by-hop headers are ignored.
	Header http.Header
	// MaxBody is how much of the decompressed body is read; 0 reads none.
	MaxBody int64
	// RequireValidCertificate fails the exchange on an unauthorized certificate.
	RequireValidCertificate bool
	// OneTry dials only the first address of the resolution in place of the next when one fails.
	OneTry bool
}

// Timings are the phases of one exchange. Connect, TLS and FirstByte are each the phase's own length.
type Timings struct {
	DNS, Connect time.Duration
	TLS          time.Duration // 0 and HasTLS false over plain HTTP
	HasTLS       bool
	FirstByte    time.Duration // from the request written to the first byte of the answer
	Total        time.Duration // from the start to the end of the headers, or of the body where it is read
}

// TLS is what the handshake showed.
type TLS struct {
	State   tls.ConnectionState
	Verdict certcheck.Verdict
}

// Response is the answer of one exchange.
type Response struct {
	URL        target.URL
	Status     int
	StatusText string // the server's own reason phrase, or the standard one where HTTP/2 has none
	Proto      string // HTTP/1.0, HTTP/1.1 or HTTP/2
	Header     http.Header
	Address    netip.Addr
	Body       []byte
	// Truncated tells that the body was longer than MaxBody.
	Truncated bool
	// BodyErr is why the body ended early, nil where it did not.
	BodyErr error
	Timings Timings
	TLS     *TLS
}

// Do performs one exchange without following redirects, within HTTPTimeout. Errors are *fault.Error: Refused, NoAddress,
// Upstream (with the reason in its sentence: refused, reset, not HTTP, header too large, no route of this family …) or
// Timeout.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) { panic("unwritten") }
