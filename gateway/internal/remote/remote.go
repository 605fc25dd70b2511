// Package remote is what the clients of this service's own parts have in common: the worker's (package workerclient),
// and that of other places (package remote/places). The other side is chosen by the operator and is not trusted: its
// answers are bounded in size and time, and whatever it does ends as one of a few failures.
package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/gateway/internal/tool/finding"
)

// Config describes the other side, and how it is watched.
type Config struct {
	// Name is the other side in errors, such as "the worker".
	Name string
	Base *url.URL // as ParseBase returns it
	// Address is the one of the host's addresses that is dialled; the zero Addr is whichever answers.
	Address netip.Addr
	// Token is the bearer token, until SetToken.
	Token string
	// TLS is what connections to an https URL are made with, until SetTLS; nil is Go's default.
	TLS *tls.Config
	// Idle is how many connections are kept for the next request; with 0 each request has one of its own.
	Idle int
	// MaxAnswer bounds a plain answer and a line of a stream, MaxStream all lines of one, in bytes.
	MaxAnswer, MaxStream int
	// Connect bounds one connection, its name lookup included; Ready one readiness check; Every is the time from one
	// check to the next.
	Connect, Ready, Every time.Duration
	// ReadyPath answers readiness checks. ReadReady reads such an answer.
	ReadyPath string
	ReadReady func(answer []byte) (any, error)
	// OwnFault returns the failure to report where an error of a connection to an address is this host's own fault, else
	// nil; by default that of package shortage.
	OwnFault func(err error, to netip.Addr, since time.Time) error
	// Dialling is called with the authority that is about to be dialled, Connected with each new connection. Both may be
	// nil.
	Dialling  func(ctx context.Context, authority string)
	Connected func(net.Conn)
	// Dial is nil outside tests.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// CodePrefix begins the codes of failures to reach the other side, such as PLACE_UNREACHABLE, and Args are their
	// arguments. What the other side or the socket said stays in the cause.
	CodePrefix string
	Args       finding.Args
	// Lost and Back, NotReady and ReadyAgain are the messages of the log.
	Lost, Back, NotReady, ReadyAgain string
	Log                              *slog.Logger
}

// Client calls the other side. It is safe for concurrent use.
type Client struct {
	config    Config
	token     atomic.Pointer[string]
	transport atomic.Pointer[http.Transport]
	watch     *outage.Watch
	last      atomic.Pointer[readiness]
	unready   time.Time // since when the other side is there and not ready; the probe's alone
}

// New returns a client. It checks readiness all the time, so that no call waits for a lost side, and logs losses. The
// caller must close it.
func New(c Config) (*Client, error) {
	if c.OwnFault == nil {
		c.OwnFault = func(err error, _ netip.Addr, _ time.Time) error { return shortage.Of(err) }
	}
	client := &Client{config: c}
	if c.Dial == nil {
		client.config.Dial = client.dial
	}
	if err := client.SetToken(c.Token); err != nil {
		return nil, err
	}
	client.transport.Store(client.newTransport(c.TLS))
	client.watch = outage.Start(outage.Settings{
		Lost: c.Lost, Back: c.Back, Log: c.Log, Probe: client.probe, Again: again, Every: c.Every,
	})
	return client, nil
}

// Close ends the readiness checks. Calls may go on.
func (c *Client) Close() {
	c.watch.Close()
	c.transport.Load().CloseIdleConnections()
}

// SetToken replaces the bearer token. Requests under way go on with the one that they were sent with.
func (c *Client) SetToken(token string) error {
	if !validToken(token) {
		return errors.New(c.config.Name + "'s token must be printable ASCII without spaces, and not empty")
	}
	c.token.Store(&token)
	return nil
}

// Token is the present bearer token.
func (c *Client) Token() string { return *c.token.Load() }

// SetTLS replaces what connections are made with from now on. Requests under way go on, kept connections are closed.
func (c *Client) SetTLS(config *tls.Config) {
	c.transport.Swap(c.newTransport(config)).CloseIdleConnections()
}

// validToken reports whether a header can carry a token. A line break of a badly read secret file would fail every
// request later.
func validToken(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// ParseBase reads the URL of the other side, http or https, perhaps with a path prefix. An error names the other side
// and not the URL.
func ParseBase(name, base string) (*url.URL, error) {
	fail := func(problem string) (*url.URL, error) { return nil, errors.New(name + "'s URL " + problem) }
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return fail("cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return fail("must start with http:// or https://")
	case u.Hostname() == "":
		return fail("has no host")
	case u.User != nil:
		return fail("must hold no user or password; the token has a setting of its own")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fail("must have no query and no fragment")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return fail("has a port outside 1 to 65535")
		}
	}
	return u, nil
}

// LookUp returns the addresses of a host, as a dial finds them; those of a literal are itself.
func LookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	found, err := (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", host)
	for i := range found {
		found[i] = found[i].Unmap().WithZone("")
	}
	return found, err
}
