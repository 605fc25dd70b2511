// Package workerclient is the gateway's bearer client of the workers (shared/workerapi). A worker is not
// trusted: its answer is bounded, held against the contract and cleaned of private hops, and whatever else it does
// ends as one of the failures that docs/contract.md#the-worker promises to a visitor.
package workerclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
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

// Client sends each job to one of the workers. It is safe for concurrent use.
type Client struct {
	workers workers
	// translation gives the prefixes by which the gateway's network translates to IPv4; nil for none.
	translation func() []netip.Prefix
	job         time.Duration
	observer    Observer // may be nil
}

// New returns a client of the workers at base (comma-separated http or https URLs, perhaps with a path prefix) with a
// bearer token. Errors name neither. It checks their readiness once a second, so that no job waits for a lost worker,
// and logs losses. The caller must close it.
func New(base, token string, log *slog.Logger, options ...Option) (*Client, error) {
	return newClient(base, token, defaultLimits(), log, options...)
}

// Option changes how a Client works.
type Option func(*Client, *remote.Config)

// WithOwnFault sets how this host's own faults are found: own returns the failure to report where an error of a
// connection to an address is one, else nil. Without it, those of package shortage are.
func WithOwnFault(own func(err error, to netip.Addr, since time.Time) error) Option {
	return func(_ *Client, r *remote.Config) { r.OwnFault = own }
}

// WithTranslation sets where the prefixes come from by which this network translates IPv6 addresses to IPv4.
func WithTranslation(prefixes func() []netip.Prefix) Option {
	return func(c *Client, _ *remote.Config) { c.translation = prefixes }
}

// WithTLS sets what connections to an https worker are made with, until SetTLS.
func WithTLS(config *tls.Config) Option {
	return func(_ *Client, r *remote.Config) { r.TLS = config }
}

// maxStreamBytes bounds all lines of a stream together; one of them is bounded like a plain answer.
const maxStreamBytes = 4 << 20

func newClient(base, token string, l limits, log *slog.Logger, options ...Option) (*Client, error) {
	c := &Client{job: l.job}
	bases := strings.Split(base, ",")
	for _, b := range bases {
		u, err := remote.ParseBase("the worker", strings.TrimSpace(b))
		if err != nil {
			return nil, err
		}
		// Every job has a connection of its own, so that a moved worker is found at once; beside a job of a tenth of a
		// second and more the handshake costs nothing.
		r := remote.Config{
			Name: "the worker", Base: u, Token: token,
			MaxAnswer: workerapi.MaxResponseBytes, MaxStream: maxStreamBytes,
			Connect: l.connect, Ready: l.ready, Every: l.every,
			ReadyPath: workerapi.PathReady, ReadReady: readReady,
			Connected:  warnOfClearText(u, log),
			CodePrefix: "WORKER_",
			Lost:       "the diagnostics worker is lost, its tools fail", Back: "the diagnostics worker is back",
			NotReady:   "the diagnostics worker is not ready, its tools may fail",
			ReadyAgain: "the diagnostics worker is ready again",
			Log:        log,
		}
		for _, o := range options {
			o(c, &r)
		}
		c.workers.bases = append(c.workers.bases, r)
	}
	return c, c.workers.start()
}

const codeICMPOnly = "WORKER_ICMP"

// Close ends the questions for readiness. Jobs may go on.
func (c *Client) Close() { c.workers.close() }

// Ready returns what the workers can do together, by their last answers on readiness, a second old at most; at the
// start it waits for these. A nil error means that one takes jobs for the families that are named; a worker that drains
// does not. Errors are as those of Traceroute.
func (c *Client) Ready(ctx context.Context) (workerapi.Ready, error) {
	var together workerapi.Ready
	var failed error
	for _, w := range c.workers.all() {
		last, err := w.remote.Ready(ctx)
		if err != nil {
			failed = err
			continue
		}
		ready, _ := last.(workerapi.Ready)
		together = add(together, ready)
	}
	if len(together.Families) > 0 {
		return together, nil
	}
	return together, failed
}

// add returns what two workers can do together.
func add(a, b workerapi.Ready) workerapi.Ready {
	if len(a.Families) == 0 {
		return b
	}
	a.Families = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Families, b.Families))))
	if b.Mode == modeRaw {
		a.Mode = b.Mode
	}
	return a
}

// Serves reports whether one of the workers takes jobs.
func (c *Client) Serves() bool {
	return slices.ContainsFunc(c.workers.all(), func(w *oneWorker) bool { return w.remote.Serves() })
}

// States reports which workers take jobs, by host and port.
func (c *Client) States() map[string]bool {
	states := map[string]bool{}
	for _, w := range c.workers.all() {
		states[w.name] = w.remote.Serves()
	}
	return states
}

func readReady(answer []byte) (any, error) {
	var ready workerapi.Ready
	if err := json.Unmarshal(answer, &ready); err != nil {
		return ready, err
	}
	return ready, ready.Validate()
}

// Job is what to probe, an address that was judged and the name that it came from, and for whom. The worker receives
// only hashes of Client, Network and Place.
type Job struct {
	Address   netip.Addr
	Hostname  string
	RequestID string
	Client    string
	Network   string
	Place     string
	// Trace says with what probes a trace is made; the zero TraceOptions is ICMP. Other jobs have none.
	Trace workerapi.TraceOptions
}

func (j Job) request(token string, nat64 []netip.Prefix) workerapi.Request {
	r := workerapi.Request{
		Target: j.Address.String(), Hostname: j.Hostname, RequestID: j.RequestID,
		Client: workerapi.Pseudonym(token, "client", j.Client), Group: workerapi.Pseudonym(token, "group", j.Network),
		Place: workerapi.Pseudonym(token, "place", j.Place),
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
func (c *Client) Traceroute(ctx context.Context, j Job) (workerapi.Traced, error) {
	asked := time.Now()
	result, err := run[workerapi.Traced](ctx, c, workerapi.PathTraceroute, j)
	if err != nil {
		return workerapi.Traced{}, err
	}
	if result.Traceroute, err = probedAs(result.Traceroute, j.Trace); err != nil {
		return workerapi.Traced{}, err
	}
	setStarted(&result.Measurement, asked)
	inside{c.prefixes()}.hidePrivate(&result.Traceroute)
	result.Truncated = false
	traceLimits.Enforce(&result.Traceroute)
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
		return t, remote.Own(fault.Upstream, err, codeICMPOnly, nil)
	case err != nil:
		return t, remote.Own(fault.Upstream, err, "WORKER_UNUSABLE", nil)
	}
	t.Protocol = asked.Protocol
	return t, nil
}

// SetToken replaces the bearer token. Requests under way go on with the one that they were sent with.
func (c *Client) SetToken(token string) error {
	return c.workers.change(func(r *remote.Config) { r.Token = token },
		func(w *oneWorker) error { return w.remote.SetToken(token) })
}

// SetTLS replaces what connections to an https worker are made with from now on. There is nothing else to change,
// since each request has a connection of its own.
func (c *Client) SetTLS(config *tls.Config) {
	_ = c.workers.change(func(r *remote.Config) { r.TLS = config }, func(w *oneWorker) error {
		w.remote.SetTLS(config)
		return nil
	})
}

// warnOfClearText warns once where the token would leave private networks in clear text. The address of a connection
// is judged, before anything is sent: what a name leads to may change, and is known for certain only then.
func warnOfClearText(base *url.URL, log *slog.Logger) func(net.Conn) {
	var warned atomic.Bool
	return func(conn net.Conn) {
		if base.Scheme != "http" {
			return
		}
		peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err != nil || netpolicy.Near(peer.Addr()) || !warned.CompareAndSwap(false, true) {
			return
		}
		log.Warn("DIAGNOSTICS_WORKER_URL leads to a public address without TLS: the worker's token can be read on the "+
			"network; set WORKER_TLS_CERT_FILE and WORKER_TLS_KEY_FILE for the worker, and an https URL here",
			slog.String("worker", base.Host))
	}
}

// Slugs are the tools of which there are jobs.
func Slugs() []string {
	return []string{slugOf(workerapi.PathTraceroute), slugOf(workerapi.PathPing), slugOf(workerapi.PathPacketLoss)}
}

func slugOf(path string) string { return strings.TrimPrefix(path, "/api/") }

// Observer records the outcome of each job and how long it took. It is safe for concurrent use, and does not block.
type Observer interface {
	Asked(slug string, o remote.Outcome, took time.Duration)
}

// WithObserver sets the observer of the jobs.
func WithObserver(o Observer) Option {
	return func(c *Client, _ *remote.Config) { c.observer = o }
}

// observe passes a job that began at a moment to the observer.
func (c *Client) observe(ctx context.Context, path string, began time.Time, err error) {
	if c.observer != nil {
		c.observer.Asked(slugOf(path), remote.OutcomeOf(ctx, err), time.Since(began))
	}
}
