package egress

import (
	"context"

	"diagnostics/gateway/internal/target"
)

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
