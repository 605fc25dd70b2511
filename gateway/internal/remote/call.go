package remote

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
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

const (
	maxHeaderBytes  = 16 << 10
	tlsTimeout      = 3 * time.Second
	idleTimeout     = 60 * time.Second // shorter than the other side's, which else might close as a request is sent
	bufferBytes     = 1 << 10          // of a connection each way, for as long as it is kept
	drainTime       = 20 * time.Millisecond
	maxFailureBytes = 4 << 10 // of a failure's body, for the log
	maxRetryAfter   = time.Hour
	maxOwnRetry     = 5 // seconds
)

// Call is one request.
type Call struct {
	Method, Path string
	Body         []byte
	// Limit bounds it, from the dial to the last byte.
	Limit time.Duration
	// Step receives the steps of a stream, each as it came; nil wants a plain answer. An older side may answer plainly
	// all the same.
	Step func(step json.RawMessage)
	// Accepted is called where Step is set, when the other side has taken the request; nil is none.
	Accepted func()
	// Refuse makes the failure of an answer that is not a result.
	Refuse func(*StatusError) error
}

// reply is what a request ended with.
type reply struct {
	answer []byte
	err    error
}

// Do sends one request: not at all while the other side is lost, and only as long as it answers readiness checks.
// It returns the answer, or the last line of a stream, which has status 200 and is bounded. Errors are *fault.Error, or
// ctx.Err() where ctx was cancelled.
func (c *Client) Do(ctx context.Context, call Call) ([]byte, error) {
	up := c.watch.Now()
	if reason := up.Reason(); reason != nil {
		return nil, c.whileLost(&notBegunError{reason})
	}
	working, giveUp := context.WithCancel(ctx)
	defer giveUp()
	asked := parallel.Start(func() reply {
		answer, err := c.call(working, call)
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

// failed is what a request that began in a stretch ended with.
func (c *Client) failed(ctx context.Context, up *outage.Up, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(err, context.Canceled): // Do gave it up
		return c.whileLost(&begunError{up.Reason()})
	case isRefusal(err):
		c.watch.MarkLost(up, err)
	case IsLoss(err):
		c.watch.Recheck()
	}
	return c.classify(err)
}

// call sends one request and reads its whole answer, which is status 200, JSON and at most MaxAnswer bytes long. Its
// errors are those of failures.go, which classify makes a visitor's, or ctx.Err() where ctx was cancelled. The
// transport is used without an http.Client on top: a redirect is then an answer like any other, and there is nothing
// that could follow it.
func (c *Client) call(ctx context.Context, call Call) ([]byte, error) {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, call.Limit)
	defer cancel()
	answer, err := c.roundTrip(bounded, cancel, call)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	if isOwnFault(err) {
		return nil, err
	}
	if own := c.ownFaultOf(err, began); own != nil {
		return nil, &ownFaultError{err: own}
	}
	if bounded.Err() != nil && !isSilence(err) {
		return nil, &silenceError{c.config.Name, err}
	}
	return nil, err
}

func (c *Client) roundTrip(ctx context.Context, cancel context.CancelFunc, call Call) ([]byte, error) {
	seen := stages{name: c.config.Name}
	url := c.config.Base.JoinPath(call.Path).String()
	request, err := http.NewRequestWithContext(seen.trace(ctx), call.Method, url, bytes.NewReader(call.Body))
	if err != nil {
		return nil, fmt.Errorf("make the request for %s: %w", c.config.Name, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Token())
	request.Header.Set("Accept", call.accept())
	request.Header.Set("User-Agent", "diagnostics-gateway")
	if call.Method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.transport.Load().RoundTrip(request)
	if err != nil {
		parallel.Raise(err)
		if err = seen.judge(ctx, err); call.Step != nil && is[*brokenOffError](err) {
			err = &notBegunError{err} // a stream begins as soon as the request is taken
		}
		return nil, err
	}
	// Closing the body before its end closes the connection.
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, c.refuse(call, response)
	}
	if call.streams(response.Header) {
		lines := Lines{c.config.Name, c.config.MaxAnswer, c.config.MaxStream, call.Step, call.failure}
		answer, err := lines.Read(response.Body)
		if err == nil && c.config.Idle > 0 {
			drain(response.Body, cancel)
		}
		return answer, seen.judgeStream(ctx, err)
	}
	if err := c.wantJSON(response.Header); err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, int64(c.config.MaxAnswer)+1))
	if err != nil {
		return nil, seen.judge(ctx, err)
	}
	if len(answer) > c.config.MaxAnswer {
		return nil, fmt.Errorf("%s's answer is over %d bytes", c.config.Name, c.config.MaxAnswer)
	}
	return answer, nil
}

// drain reads the end of a body, so that its connection can be kept; one that does not end at once is cut off.
func drain(body io.Reader, cancel context.CancelFunc) {
	timer := time.AfterFunc(drainTime, cancel)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, maxFailureBytes)
}

func (c *Client) wantJSON(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("%s's answer is encoded as %q", c.config.Name, encoding)
	}
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("%s's answer is of type %q", c.config.Name, h.Get("Content-Type"))
	}
	return nil
}

// accept is the request's Accept: an older side has plain answers alone.
func (call Call) accept() string {
	if call.Step == nil {
		return "application/json"
	}
	return progress.MediaType + ", application/json;q=0.5"
}

// streams reports whether the answer is a stream. Whatever it is, the other side has taken the request.
func (call Call) streams(h http.Header) bool {
	if call.Step == nil {
		return false
	}
	if call.Accepted != nil {
		call.Accepted()
	}
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == progress.MediaType && h.Get("Content-Encoding") == ""
}

// refuse makes the failure of a status other than 200.
func (c *Client) refuse(call Call, response *http.Response) error {
	cause := &StatusError{
		Name: c.config.Name, Status: response.StatusCode, Reason: response.Header.Get(workerapi.HeaderRefused),
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFailureBytes))
	var envelope struct {
		Error string `json:"error"`
	}
	if err == nil && json.Unmarshal(body, &envelope) == nil {
		cause.Said = envelope.Error
	}
	return call.failure(cause)
}

// failure is that of Refuse; a readiness check has none.
func (call Call) failure(cause *StatusError) error {
	if call.Refuse == nil {
		cause.Reason = ""
		return cause
	}
	return call.Refuse(cause)
}

// StatusError is an answer with a status other than 200.
type StatusError struct {
	Name       string // whose answer it is
	Status     int
	Reason     string        // of workerapi.HeaderRefused: Refuse replaces what it does not know
	Said       string        // its sentence, empty where there is none; it may hold anything
	RetryAfter time.Duration // never 0
}

// Error quotes what the other side said, since it may hold anything.
func (e *StatusError) Error() string {
	if e.Said == "" {
		return e.LogText()
	}
	return fmt.Sprintf("%s: %q", e.LogText(), e.Said)
}

// LogText implements redact.Loggable.
func (e *StatusError) LogText() string {
	text := fmt.Sprintf("%s status %d", strings.TrimPrefix(e.Name, "the "), e.Status)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// retryAfter reads a Retry-After. Without a usable number it is one to five seconds, so that clients that were rejected
// together do not come back together.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 32)
	if err != nil || seconds == 0 {
		return time.Duration(1+rand.IntN(maxOwnRetry)) * time.Second // #nosec G404 -- no secret
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// ownFaultOf is OwnFault for an error of package net, which names the address itself.
func (c *Client) ownFaultOf(err error, since time.Time) error {
	var at netip.Addr
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Addr != nil {
		to, _ := netip.ParseAddrPort(failed.Addr.String()) // the zero address is no way to anywhere
		at = to.Addr()
	}
	return c.config.OwnFault(err, at, since)
}

// newTransport makes the transport to what the operator, not the visitor, chose: it goes past egress and its policy on
// purpose. No proxy of the environment is read, since the token would pass through it. Without kept connections the
// name is looked up anew for each request, and a side that moved is found at once.
func (c *Client) newTransport(config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		Protocols:              protocols,
		TLSClientConfig:        config,
		DisableKeepAlives:      c.config.Idle == 0,
		MaxIdleConnsPerHost:    c.config.Idle,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         bufferBytes,
		WriteBufferSize:        bufferBytes,
		TLSHandshakeTimeout:    tlsTimeout,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			// net/http dials in a goroutine of its own, where no caller would catch a panic.
			conn, err := parallel.Try(func() (net.Conn, error) { return c.config.Dial(ctx, network, addr) })
			switch {
			case err == nil:
				return conn, nil
			case fault.Is(err, fault.Busy):
				return nil, &ownFaultError{err: err}
			}
			return nil, notConnected(c.config.Name, err)
		},
	}
}

// dial connects. An error that is this host's own fault is the failure to report.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.config.Dialling != nil {
		c.config.Dialling(ctx, addr)
	}
	recorder := shortage.DialRecorder{Dial: new(net.Dialer).DialContext, OwnFault: c.config.OwnFault}
	if c.config.Address.IsValid() {
		_, port, _ := net.SplitHostPort(addr)
		addr = net.JoinHostPort(c.config.Address.String(), port)
	}
	d := net.Dialer{Timeout: c.config.Connect, Resolver: &net.Resolver{PreferGo: true, Dial: recorder.Connect}}
	began := time.Now()
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		if c.config.Connected != nil {
			c.config.Connected(conn)
		}
		return conn, nil
	}
	return nil, cmp.Or(recorder.Of(err), c.ownFaultOf(err, began), err)
}
