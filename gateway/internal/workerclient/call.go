package workerclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// Bounds of the Retry-After of a busy worker.
const (
	maxRetryAfter     = time.Hour
	maxOwnRetrySecond = 5
)

type result interface{ Validate(asked netip.Addr) error }

// run performs one job: request, answer, contract.
func run[T result](ctx context.Context, c *Client, path string, j Job) (T, error) {
	began := time.Now()
	data, err := runJob[T](ctx, c, path, j)
	c.observe(ctx, path, began, err)
	return data, err
}

func runJob[T result](ctx context.Context, c *Client, path string, j Job) (T, error) {
	var none T
	request, err := json.Marshal(j.request(*c.token.Load(), c.prefixes()))
	if err != nil {
		return none, fmt.Errorf("encode the worker's request: %w", err)
	}
	answer, err := c.perform(ctx, path, request, j.Address)
	if err != nil {
		return none, err
	}
	data, err := decode[T](answer, j.Address)
	if err != nil {
		return none, own(fault.Upstream, err, sentenceUnusable)
	}
	return data, nil
}

// reply is what a request ended with.
type reply struct {
	answer []byte
	err    error
}

// perform sends one job to the worker: not at all while the worker is lost, and only as long as it answers readiness
// checks. Errors are those of Traceroute.
func (c *Client) perform(ctx context.Context, path string, body []byte, to netip.Addr) ([]byte, error) {
	ctx = progress.Ask(ctx, "the diagnostics worker")
	up := c.watch.Now()
	if reason := up.Reason(); reason != nil {
		return nil, whileLost(reason)
	}
	working, giveUp := context.WithCancel(ctx)
	defer giveUp()
	asked := parallel.Start(func() reply {
		answer, err := c.call(working, c.limits.job, http.MethodPost, path, body, stepsOf(working, path, to, c.prefixes()))
		return reply{answer, err}
	})
	select {
	case <-asked.Done():
	case <-up.Lost():
		if isCut(up.Reason()) {
			giveUp()
		}
	}
	got := asked.Wait()
	if got.err == nil {
		return got.answer, nil
	}
	return nil, c.failed(ctx, up, got.err)
}

// failed is what a job that began in a stretch ended with.
func (c *Client) failed(ctx context.Context, up *outage.Up, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(err, context.Canceled): // perform gave it up
		return whileLost(up.Reason())
	case isRefusal(err):
		c.watch.MarkLost(up, err)
	case isLoss(err):
		c.watch.Recheck()
	}
	return classify(err)
}

func decode[T result](answer []byte, asked netip.Addr) (T, error) {
	var none T
	var envelope workerapi.Envelope[T]
	// Unmarshal also refuses what follows the first value, and drops fields that the contract does not name.
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return none, err
	}
	if envelope.Error != "" {
		return none, fmt.Errorf("status 200 with the error %q", envelope.Error)
	}
	if envelope.Data == nil {
		return none, errors.New("status 200 without data")
	}
	return *envelope.Data, (*envelope.Data).Validate(asked)
}

// call sends one request and reads its whole answer, which is status 200, JSON and at most MaxResponseBytes long.
// Its errors are those of failures.go, which classify makes a visitor's, or ctx.Err() where ctx was cancelled. The
// transport is used without an http.Client on top: a redirect is then an answer like any other, and there is nothing
// that could follow it.
func (c *Client) call(
	ctx context.Context, limit time.Duration, method, path string, body []byte, along *steps,
) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := c.roundTrip(bounded, method, path, body, along)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	if isOwnFault(err) {
		return nil, err
	}
	if own := c.ownFault.of(err); own != nil {
		return nil, &ownFaultError{err: own}
	}
	if bounded.Err() != nil && !isSilence(err) {
		return nil, &silenceError{cause: err}
	}
	return nil, err
}

func (c *Client) roundTrip(ctx context.Context, method, path string, body []byte, steps *steps) ([]byte, error) {
	var seen stages
	url := c.base.JoinPath(path).String()
	request, err := http.NewRequestWithContext(seen.trace(ctx), method, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the worker's request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+*c.token.Load())
	request.Header.Set("Accept", steps.accept())
	request.Header.Set("User-Agent", "diagnostics-gateway")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.transport.Load().RoundTrip(request)
	if err != nil {
		parallel.Raise(err)
		return nil, seen.judge(ctx, err)
	}
	// The connection serves this request alone, so closing the body early ends it whatever is still on its way.
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response)
	}
	if steps.offered(response.Header) {
		answer, err := steps.read(response.Body)
		return answer, seen.judgeStream(ctx, err)
	}
	if err := wantJSON(response.Header); err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, workerapi.MaxResponseBytes+1))
	if err != nil {
		return nil, seen.judge(ctx, err)
	}
	if len(answer) > workerapi.MaxResponseBytes {
		return nil, fmt.Errorf("the worker's answer is over %d bytes", workerapi.MaxResponseBytes)
	}
	return answer, nil
}

func wantJSON(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("the worker's answer is encoded as %q", encoding)
	}
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("the worker's answer is of type %q", h.Get("Content-Type"))
	}
	return nil
}

// refusal makes the failure of a status other than 200.
func refusal(response *http.Response) error {
	return refusalOf(failureCause(response), response.Header.Get("Retry-After"))
}

// refusalOf makes the failure of what the worker says instead of a result.
func refusalOf(cause *statusError, wait string) error {
	switch cause.status {
	case http.StatusTooManyRequests:
		wait := retryAfter(wait)
		if cause.why == workerapi.RefusedShare {
			return &fault.Error{Kind: fault.Limited, Cause: cause, Rule: fault.LimitWorkerShare, RetryAfter: wait,
				Sentence: "You have too many measurements running; wait until one has finished."}
		}
		return &fault.Error{Kind: fault.Busy, Cause: cause, Rule: fault.LimitWorker, RetryAfter: wait,
			Sentence: "The diagnostics worker is busy; try again in a few seconds."}
	case http.StatusServiceUnavailable:
		if cause.why == workerapi.RefusedShortage {
			return shortage.Fault(cause)
		}
	case http.StatusBadGateway:
		if cause.why == workerapi.RefusedProtocol {
			return own(fault.Upstream, cause, sentenceICMPOnly)
		}
	case http.StatusGatewayTimeout:
		return own(fault.Timeout, cause, "The diagnostics worker did not finish in time.")
	case http.StatusBadRequest:
		return own(fault.Upstream, cause, "The diagnostics worker does not accept this target.")
	}
	return own(fault.Upstream, cause, "The diagnostics worker could not run this job.")
}

// failureCause is for the log: the status and the worker's own sentence where it sent one.
func failureCause(response *http.Response) *statusError {
	cause := &statusError{status: response.StatusCode, why: knownReason(response.Header.Get(workerapi.HeaderRefused))}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFailureBytes))
	var envelope workerapi.Envelope[json.RawMessage]
	if err == nil && json.Unmarshal(body, &envelope) == nil {
		cause.said = envelope.Error
	}
	return cause
}

// knownReason returns a reason of workerapi.HeaderRefused, empty for any other text.
func knownReason(why string) string {
	switch why {
	case workerapi.RefusedShare, workerapi.RefusedBudget, workerapi.RefusedShortage, workerapi.RefusedProtocol:
		return why
	}
	return ""
}

// statusError is an answer of the worker with a status other than 200.
type statusError struct {
	status int
	why    string // one of the reasons of workerapi.HeaderRefused, or empty
	said   string // empty where it said nothing
}

// Error quotes what the worker said, since it may hold anything.
func (e *statusError) Error() string {
	if e.said == "" {
		return e.LogText()
	}
	return fmt.Sprintf("%s: %q", e.LogText(), e.said)
}

// LogText implements redact.Loggable.
func (e *statusError) LogText() string {
	if e.why != "" {
		return fmt.Sprintf("worker status %d: %s", e.status, e.why)
	}
	return fmt.Sprintf("worker status %d", e.status)
}

// retryAfter returns the worker's Retry-After. Without a usable number it is one to five seconds, so that clients that
// were rejected together do not come back together.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 32)
	if err != nil || seconds == 0 {
		return time.Duration(1+rand.IntN(maxOwnRetrySecond)) * time.Second // #nosec G404 -- no secret
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

const (
	maxHeaderBytes  = 16 << 10
	tlsTimeout      = 3 * time.Second
	maxFailureBytes = 4 << 10 // of a failure's body, for the log
)

// ownFaultFunc returns the failure to report where an error of a connection is this host's own fault, else nil.
type ownFaultFunc func(err error, to netip.Addr) error

// of is the same for an error of package net, which names the address itself.
func (f ownFaultFunc) of(err error) error {
	var at netip.Addr
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Addr != nil {
		to, _ := netip.ParseAddrPort(failed.Addr.String()) // the zero address is no way to anywhere
		at = to.Addr()
	}
	return f(err, at)
}

// newTransport makes the transport of the one place that the operator, not the visitor, chose: it goes past egress and
// its policy on purpose. No proxy of the environment is read, since the token would pass through it. Every request has
// a connection of its own, so the worker's name is looked up anew each time and a moved worker is found at once; beside
// a job of a tenth of a second and more the handshake costs nothing.
func newTransport(dial dialFunc, config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		Protocols:              protocols,
		TLSClientConfig:        config,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    tlsTimeout,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			// net/http dials in a goroutine of its own, where no caller would catch a panic.
			conn, err := parallel.Try(func() (net.Conn, error) { return dial(ctx, network, addr) })
			switch {
			case err == nil:
				return conn, nil
			case fault.Is(err, fault.Busy):
				return nil, &ownFaultError{err: err}
			}
			return nil, notConnected(err)
		},
	}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dial connects to the worker. An error that is this host's own fault is the failure to report.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	recorder := shortage.DialRecorder{Dial: new(net.Dialer).DialContext, OwnFault: c.ownFault}
	d := net.Dialer{Timeout: c.limits.connect, Resolver: &net.Resolver{PreferGo: true, Dial: recorder.Connect}}
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		c.warnOfClearText(conn)
		return conn, nil
	}
	return nil, cmp.Or(recorder.Of(err), c.ownFault.of(err), err)
}
