package workerclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/shortage"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

// Bounds of the Retry-After that a visitor is told when the worker is busy.
const (
	maxRetryAfter     = time.Minute
	maxOwnRetrySecond = 5
)

type result interface{ Validate(asked netip.Addr) error }

// run performs one job: request, answer, contract.
func run[T result](ctx context.Context, c *Client, path string, j Job) (T, error) {
	var none T
	request, err := json.Marshal(j.request(c.token))
	if err != nil {
		return none, fmt.Errorf("encode the worker's request: %w", err)
	}
	answer, err := c.exchange(ctx, c.limits.job, http.MethodPost, path, request)
	if err != nil {
		return none, err
	}
	data, err := decode[T](answer, j.Address)
	if err != nil {
		return none, fault.Wrap(fault.Upstream, err, "The diagnostics worker sent an answer that cannot be used.")
	}
	return data, nil
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

// exchange sends one request and reads its whole answer, which is status 200, JSON and at most MaxResponseBytes long.
// Errors are as Traceroute says. The transport is used without an http.Client on top: a redirect is then an answer like
// any other, and there is nothing that could follow it.
func (c *Client) exchange(ctx context.Context, limit time.Duration, method, path string, body []byte) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := c.roundTrip(bounded, method, path, body)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	if own := c.ownFault.of(err); own != nil {
		return nil, own
	}
	if bounded.Err() != nil {
		return nil, fault.Wrap(fault.Timeout, err, "The diagnostics worker did not answer in time.")
	}
	return nil, classify(err)
}

func (c *Client) roundTrip(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the worker's request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "diagnostics-gateway")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		parallel.Raise(err)
		return nil, err
	}
	// The connection serves this exchange alone, so closing the body early ends it whatever is still on its way.
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response)
	}
	if err := wantJSON(response.Header); err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, workerapi.MaxResponseBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the worker's answer: %w", err)
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

// classify gives an error of roundTrip its kind and its sentence. What the worker or the socket said stays in the
// cause.
func classify(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return fault.Wrap(fault.Upstream, err,
			"The diagnostics worker cannot be reached at the moment; try again in a few seconds.")
	}
	return fault.Wrap(fault.Upstream, err, "The diagnostics worker sent an answer that cannot be used.")
}

// refusal makes the failure of a status other than 200.
func refusal(response *http.Response) error {
	cause := failureCause(response)
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		wait := retryAfter(response.Header.Get("Retry-After"))
		if response.Header.Get(workerapi.HeaderRefused) == workerapi.RefusedShare {
			limited := fault.Wrap(fault.Limited, cause,
				"You have as many measurements under way as one visitor may; wait until one of them has ended.")
			limited.RetryAfter = wait
			return limited
		}
		busy := fault.Wrap(fault.Busy, cause, "The diagnostics worker is busy; try again in a few seconds.")
		busy.RetryAfter = wait
		return busy
	case http.StatusServiceUnavailable:
		if response.Header.Get(workerapi.HeaderRefused) == workerapi.RefusedShortage {
			return shortage.Fault(cause)
		}
	case http.StatusGatewayTimeout:
		return fault.Wrap(fault.Timeout, cause, "The diagnostics worker did not finish in time.")
	case http.StatusBadRequest:
		return fault.Wrap(fault.Upstream, cause, "The diagnostics worker does not take this target.")
	}
	return fault.Wrap(fault.Upstream, cause, "The diagnostics worker could not run this job.")
}

// failureCause is for the log: the status and the worker's own sentence where it sent one.
func failureCause(response *http.Response) error {
	cause := &statusError{status: response.StatusCode}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFailureBytes))
	var envelope workerapi.Envelope[json.RawMessage]
	if err == nil && json.Unmarshal(body, &envelope) == nil {
		cause.said = envelope.Error
	}
	return cause
}

// statusError is an answer of the worker with a status other than 200.
type statusError struct {
	status int
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
func (e *statusError) LogText() string { return fmt.Sprintf("worker status %d", e.status) }

// retryAfter reads the seconds that the worker asks for. Without a usable number it is one to five, so that visitors
// who were turned away together do not come back together.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 32)
	if err != nil || seconds == 0 {
		return time.Duration(1+rand.IntN(maxOwnRetrySecond)) * time.Second // #nosec G404 -- no secret
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}
