// Package egress is the only way out of the gateway: its only dialer, resolver and HTTP client. Every connection, retries
// and redirects included, dials an address that was judged for that dial, and judges it once more in the socket's
// control hook. Nothing is read from a proxy variable of the environment.
package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// Bounds of CONTRACT.md section 6.
const (
	HTTPTimeout    = 8 * time.Second
	ConnectTimeout = 7 * time.Second
	DNSTimeout     = 2500 * time.Millisecond
	DNSTries       = 2
	DNSCacheFor    = 60 * time.Second
	MaxHeaderBytes = 64 << 10
	MaxBodyBytes   = 512 << 10
)

// FamilySetting is EGRESS_FAMILIES.
type FamilySetting string

// The values of EGRESS_FAMILIES.
const (
	FamiliesAuto FamilySetting = "auto"
	FamiliesIPv4 FamilySetting = "ipv4"
	FamiliesIPv6 FamilySetting = "ipv6"
	FamiliesBoth FamilySetting = "both"
)

// Settings are what the operator chose.
type Settings struct {
	// Resolvers are DNS_RESOLVERS; empty means the system's.
	Resolvers []netip.AddrPort
	Families  FamilySetting
	Deny      target.Denylist
	// AllowOwnAddresses lifts the refusal of this host's own interface addresses.
	AllowOwnAddresses bool
	// UserAgent goes with every HTTP request.
	UserAgent string
}

// Client is the way out. It is safe for concurrent use.
type Client struct{}

// Option changes what tests must inject; there is none that loosens the policy.
type Option func(*Client)

// DialFunc connects to an address that has been judged already. network is "tcp4" or "tcp6" (or "udp4", "udp6").
type DialFunc func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

// WithDialer replaces the socket layer below the policy, so that a test can serve a public address from loopback. It
// carries the HTTP, TLS, TCP and DNS connections alike.
func WithDialer(DialFunc) Option { panic("unwritten") }

// WithOwnAddresses replaces the list of this host's interface addresses.
func WithOwnAddresses(func() []netip.Addr) Option { panic("unwritten") }

// WithFamilies replaces what auto detects.
func WithFamilies(Families) Option { panic("unwritten") }

// WithChecker replaces the certificate judgement (roots, clock).
func WithChecker(certcheck.Checker) Option { panic("unwritten") }

// WithClock replaces time.Now for cache ages.
func WithClock(func() time.Time) Option { panic("unwritten") }

// New makes the way out.
func New(s Settings, opts ...Option) (*Client, error) { panic("unwritten") }

// Families says which families this host can reach.
type Families struct{ V4, V6 bool }

// Has tells whether the family of the address is present.
func (f Families) Has(a netip.Addr) bool { return a.Is4() && f.V4 || a.Is6() && f.V6 }

// Families says which families this host can reach now.
func (c *Client) Families() Families { panic("unwritten") }

// Permit judges an address for a dial: public, not denied, not this host's own. The error is a *fault.Error of kind
// Refused whose sentence does not name the address.
func (c *Client) Permit(a netip.Addr) error { panic("unwritten") }

// Resolution is one lookup of a host for one dial. Every address in it has been permitted.
type Resolution struct {
	V4, V6   []netip.Addr
	Duration time.Duration
}

// All is V6 and V4 interleaved in the order in which they are to be tried (RFC 8305), families that this host lacks
// left out.
func (r Resolution) All() []netip.Addr { panic("unwritten") }

// Resolve looks up both families of a host, or takes its literal address, and permits every answer: one refused address
// refuses the host. An AAAA in 64:ff9b::/96 is ignored where an A record exists. Errors are *fault.Error: Refused,
// NoAddress (no such name, or no address of any family), Upstream or Timeout (the resolver).
func (c *Client) Resolve(ctx context.Context, h target.Host) (Resolution, error) { panic("unwritten") }

// Dial connects over TCP to an address that is permitted now, within ConnectTimeout. A refusal is *fault.Error; all
// other errors are the socket's own (so that a caller can tell ECONNREFUSED from a timeout).
func (c *Client) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) { panic("unwritten") }

// ExtendedError is an RFC 8914 extended DNS error.
type ExtendedError struct {
	Code uint16 `json:"code"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Answer is one DNS answer, or the failure to get one. It is never an error: Code says what went wrong.
type Answer struct {
	// Code is empty where Records has values, else the code of Node's dns module: ENODATA, ENOTFOUND, ESERVFAIL,
	// EREFUSED, EFORMERR, ENOTIMP, EBADRESP, ETIMEOUT, ECONNREFUSED.
	Code string
	// RCode is the response code, -1 where no usable answer came.
	RCode int
	// Records are of the asked type and owned by the asked name or the end of its CNAME chain (the CNAME records
	// themselves for type CNAME). TTLs are shown less their age.
	Records []dns.RR
	// Authority is the authority section as it came.
	Authority     []dns.RR
	CNAMEChain    []string
	TTL           uint32
	Authenticated bool
	// Resolver is the server that answered; the zero value where none did.
	Resolver netip.AddrPort
	Duration time.Duration
	Cached   bool
	Age      time.Duration
	Extended []ExtendedError
}

// Query asks the operator's resolvers: cache and single flight, UDP with EDNS 1232 and DO off but AD wanted, then TCP
// where truncated, DNSTries tries of DNSTimeout each. name is canonical, without a trailing dot.
func (c *Client) Query(ctx context.Context, name string, qtype uint16) Answer { panic("unwritten") }

// QueryServer asks one public server, with the DO bit; its answers have a cache of their own.
func (c *Client) QueryServer(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	panic("unwritten")
}

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

// ChainEnd says why a chain of redirects ended.
type ChainEnd string

// The ends, named as redirect-checker's outcomes.
const (
	EndFinal             ChainEnd = "final"
	EndLoop              ChainEnd = "loop"
	EndTooManyRedirects  ChainEnd = "tooManyRedirects"
	EndMissingLocation   ChainEnd = "missingLocation"
	EndInvalidLocation   ChainEnd = "invalidLocation"
	EndUnsupportedScheme ChainEnd = "unsupportedScheme"
	EndBlocked           ChainEnd = "blocked"
	EndUnreachable       ChainEnd = "unreachable"
	EndDeadline          ChainEnd = "deadline"
)

// Hop is one exchange of a chain. Exactly one of Response and Err is set.
type Hop struct {
	URL      target.URL
	Response *Response
	Err      error
}

// Chain is what Follow saw.
type Chain struct {
	Hops []Hop
	End  ChainEnd
	// Err is the *fault.Error behind an End other than EndFinal.
	Err error
	// Followed counts the redirects that were followed.
	Followed int
}

// Final is the last answer, nil where the last hop gave none.
func (c Chain) Final() *Response { panic("unwritten") }

// Follow performs r and follows at most limit redirects (301, 302, 303, 307, 308), each Location parsed and judged as a
// first target is, nothing sent to one that fails. Cookies set along the chain are sent back (RFC 6265, kept for this
// call alone); Authorization never exists. A revisited canonical URL is a loop, unless a cookie was set since (once).
func (c *Client) Follow(ctx context.Context, r Request, limit int) Chain { panic("unwritten") }
