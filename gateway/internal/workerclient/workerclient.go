// Package workerclient is the gateway's bearer client of the worker (shared/workerapi). The worker is not
// trusted: its answer is bounded, held against the contract and cleaned of private hops, and whatever else it does
// ends as one of the failures that docs/contract.md#the-worker promises to a visitor.
package workerclient

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
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// limits are the client's bounds; only tests choose others than these.
type limits struct {
	job     time.Duration // one job, from the dial to the last byte
	ready   time.Duration // one question for readiness
	connect time.Duration // one connection, its name lookup included
	every   time.Duration // from one answer on readiness to the next question
}

func defaultLimits() limits {
	return limits{
		job:     workerapi.JobLimit,
		ready:   time.Second,
		connect: 2 * time.Second,
		every:   time.Second,
	}
}

// Client sends jobs to one worker. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	token     atomic.Pointer[string]
	transport atomic.Pointer[http.Transport]
	ownFault  ownFaultFunc
	// translation gives the prefixes by which the gateway's network translates to IPv4; nil for none.
	translation func() []netip.Prefix
	limits      limits
	observer    Observer // may be nil
	watch       *outage.Watch
	ready       *outage.Watch // of what it says of itself while it is there
	last        atomic.Pointer[readiness]
	log         *slog.Logger
	warned      atomic.Bool // of clear text
}

// New returns a client of the worker at base (an http or https URL, perhaps with a path prefix) with a bearer token.
// Errors name neither. It checks readiness once a second, so that no job waits for a lost worker, and logs losses. The
// caller must close it.
func New(base, token string, log *slog.Logger, options ...Option) (*Client, error) {
	return newClient(base, token, defaultLimits(), log, options...)
}

// Option changes how a Client works.
type Option func(*Client)

// WithOwnFault sets how this host's own faults are found: own returns the failure to report where an error of a
// connection to an address is one, else nil. Without it, those of package shortage are.
func WithOwnFault(own func(err error, to netip.Addr) error) Option {
	return func(c *Client) { c.ownFault = own }
}

// WithTranslation sets where the prefixes come from by which this network translates IPv6 addresses to IPv4.
func WithTranslation(prefixes func() []netip.Prefix) Option {
	return func(c *Client) { c.translation = prefixes }
}

// WithTLS sets what connections to an https worker are made with, until SetTLS.
func WithTLS(config *tls.Config) Option {
	return func(c *Client) { c.SetTLS(config) }
}

func newClient(base, token string, l limits, log *slog.Logger, options ...Option) (*Client, error) {
	u, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	c := &Client{base: u, limits: l, log: log}
	if err := c.SetToken(token); err != nil {
		return nil, err
	}
	c.ownFault = func(err error, _ netip.Addr) error { return shortage.Of(err) }
	c.transport.Store(newTransport(c.dial, nil))
	for _, o := range options {
		o(c)
	}
	c.watch = outage.Start(outage.Settings{
		Lost: "the diagnostics worker is lost, its tools fail", Back: "the diagnostics worker is back",
		Log: log, Probe: c.probe, Again: again, Every: l.every,
	})
	c.ready = outage.Start(outage.Settings{
		Lost: "the diagnostics worker is not ready, its tools may fail", Back: "the diagnostics worker is ready again",
		Log: log, Probe: c.isReady, Every: l.every,
	})
	return c, nil
}

// Close ends the questions for readiness. Jobs may go on.
func (c *Client) Close() {
	c.ready.Close()
	c.watch.Close()
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("the worker's URL cannot be read")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return nil, errors.New("the worker's URL must start with http:// or https://")
	}
	if u.Hostname() == "" {
		return nil, errors.New("the worker's URL has no host")
	}
	if u.User != nil {
		return nil, errors.New("the worker's URL must hold no user or password; the token has a setting of its own")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("the worker's URL must have no query and no fragment")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("the worker's URL has a port outside 1 to 65535")
		}
	}
	return u, nil
}

// validToken reports whether a header can carry a token. A line break of a badly read secret file would fail every job
// later.
func validToken(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Job is what to probe, an address that was judged and the name that it came from, and for whom: Client and Network as
// tool.Caller has them, of which the worker is given hashes alone.
type Job struct {
	Address   netip.Addr
	Hostname  string
	RequestID string
	Client    string
	Network   string
	// Trace says with what probes a trace is made; the zero TraceOptions is ICMP. Other jobs have none.
	Trace workerapi.TraceOptions
}

func (j Job) request(token string, nat64 []netip.Prefix) workerapi.Request {
	r := workerapi.Request{
		Target: j.Address.String(), Hostname: j.Hostname, RequestID: j.RequestID,
		Client: workerapi.Pseudonym(token, "client", j.Client), Group: workerapi.Pseudonym(token, "group", j.Network),
	}
	for _, p := range nat64 {
		r.NAT64 = append(r.NAT64, p.String())
	}
	if j.Trace != (workerapi.TraceOptions{}) {
		r.Options = &j.Trace
	}
	return r
}

func (c *Client) prefixes() []netip.Prefix {
	if c.translation == nil {
		return nil
	}
	return c.translation()
}

// Traceroute traces the path to the address. Errors are *fault.Error: Busy with the worker's Retry-After (429 of the
// worker) or for a host-side error here, Limited with it where the client holds its share of the worker's slots,
// Timeout, Upstream (all other misbehaviour); or ctx.Err() where the client has left. The answer is checked against the
// contract; private hops are hidden once more.
func (c *Client) Traceroute(ctx context.Context, j Job) (workerapi.Traceroute, error) {
	asked := time.Now()
	result, err := run[workerapi.Traceroute](ctx, c, workerapi.PathTraceroute, j)
	if err != nil {
		return workerapi.Traceroute{}, err
	}
	if result, err = probedAs(result, j.Trace); err != nil {
		return workerapi.Traceroute{}, err
	}
	setStarted(&result.Measurement, asked)
	inside(c.prefixes()).hidePrivate(&result)
	boundTrace(&result)
	return result, nil
}

// Ping sends ten echo requests, and a few more where their answers look limited. Errors are as those of Traceroute.
func (c *Client) Ping(ctx context.Context, j Job) (workerapi.Ping, error) {
	asked := time.Now()
	result, err := run[workerapi.Ping](ctx, c, workerapi.PathPing, j)
	setStarted(&result.Measurement, asked)
	boundPing(&result)
	return result, err
}

// PacketLoss sends fifty echo requests, and a few more as Ping does. Errors are as those of Traceroute.
func (c *Client) PacketLoss(ctx context.Context, j Job) (workerapi.PacketLoss, error) {
	asked := time.Now()
	result, err := run[workerapi.PacketLoss](ctx, c, workerapi.PathPacketLoss, j)
	setStarted(&result.Measurement, asked)
	boundPing(&result.Ping)
	return result, err
}

// probedAs checks a trace against the requested kind of probes. An older worker ignores unknown options, and traces
// with ICMP.
func probedAs(t workerapi.Traceroute, asked workerapi.TraceOptions) (workerapi.Traceroute, error) {
	asked, err := asked.Complete()
	if err == nil {
		err = t.ValidFor(asked)
	}
	switch {
	case err != nil && t.Protocol == "":
		return t, own(fault.Upstream, err, sentenceICMPOnly)
	case err != nil:
		return t, own(fault.Upstream, err, sentenceUnusable)
	}
	t.Protocol = asked.Protocol
	return t, nil
}

// SetToken replaces the bearer token. Requests under way go on with the one that they were sent with.
func (c *Client) SetToken(token string) error {
	if !validToken(token) {
		return errors.New("the worker's token must be printable ASCII without spaces, and not empty")
	}
	c.token.Store(&token)
	return nil
}

// SetTLS replaces what connections to an https worker are made with from now on. There is nothing else to change,
// since each request has a connection of its own.
func (c *Client) SetTLS(config *tls.Config) {
	c.transport.Store(newTransport(c.dial, config))
}

// warnOfClearText warns once where the token would leave private networks in clear text. The address of a connection
// is judged, before anything is sent: what a name leads to may change, and is known for certain only then.
func (c *Client) warnOfClearText(conn net.Conn) {
	if c.base.Scheme != "http" {
		return
	}
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || netpolicy.Near(peer.Addr()) || !c.warned.CompareAndSwap(false, true) {
		return
	}
	c.log.Warn("DIAGNOSTICS_WORKER_URL leads to a public address without TLS: the worker's token can be read on the " +
		"network; set WORKER_TLS_CERT_FILE and WORKER_TLS_KEY_FILE for the worker, and an https URL here")
}

// Outcome is what became of a job.
type Outcome string

// The outcomes of jobs.
const (
	OutcomeOK       Outcome = "ok"
	OutcomeBusy     Outcome = "busy"     // no slot, or no packets left
	OutcomeLimited  Outcome = "limited"  // the client's share of the slots
	OutcomeShortage Outcome = "shortage" // the worker's host, or this one, lacks something
	OutcomeTimeout  Outcome = "timeout"
	OutcomeLost     Outcome = "lost" // it cannot be reached, or broke off
	OutcomeFailed   Outcome = "failed"
	OutcomeCanceled Outcome = "canceled" // the visitor left
)

// Outcomes are all of them.
func Outcomes() []Outcome {
	return []Outcome{OutcomeOK, OutcomeBusy, OutcomeLimited, OutcomeShortage, OutcomeTimeout, OutcomeLost, OutcomeFailed,
		OutcomeCanceled}
}

// Slugs are the tools of which there are jobs.
func Slugs() []string {
	return []string{slugOf(workerapi.PathTraceroute), slugOf(workerapi.PathPing), slugOf(workerapi.PathPacketLoss)}
}

func slugOf(path string) string { return strings.TrimPrefix(path, "/api/") }

// Observer records the outcome of each job and how long it took. It is safe for concurrent use, and does not block.
type Observer interface {
	Asked(slug string, o Outcome, took time.Duration)
}

// WithObserver sets the observer of the jobs.
func WithObserver(o Observer) Option {
	return func(c *Client) { c.observer = o }
}

// observe passes a job that began at a moment to the observer.
func (c *Client) observe(ctx context.Context, path string, began time.Time, err error) {
	if c.observer != nil {
		c.observer.Asked(slugOf(path), outcomeOf(ctx, err), time.Since(began))
	}
}

func outcomeOf(ctx context.Context, err error) Outcome {
	var failed *fault.Error
	switch {
	case err == nil:
		return OutcomeOK
	case errors.Is(ctx.Err(), context.Canceled):
		return OutcomeCanceled
	case !errors.As(err, &failed):
		return OutcomeFailed
	case failed.Kind == fault.Limited:
		return OutcomeLimited
	case failed.Rule == fault.RuleShortage:
		return OutcomeShortage
	case failed.Kind == fault.Busy:
		return OutcomeBusy
	case failed.Kind == fault.Timeout:
		return OutcomeTimeout
	case isLoss(err):
		return OutcomeLost
	}
	return OutcomeFailed
}
