package workerclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

type result interface{ Validate(asked netip.Addr) error }

// run performs one job: request, answer, contract.
func run[T result](ctx context.Context, c *Client, path string, j Job) (T, error) {
	began := time.Now()
	data, err := runJob[T](ctx, c, path, j)
	c.observe(ctx, path, began, err)
	return data, err
}

// runJob gives the job to the worker that comes first for its address. Where that is full, or fails before it has begun
// the job, it gives it to the next one, once.
func runJob[T result](ctx context.Context, c *Client, path string, j Job) (none T, err error) {
	ctx = progress.Ask(ctx, "the diagnostics worker")
	chosen := c.workers.choose(ctx, j)
	for i, w := range chosen {
		var data T
		data, err = runAt[T](ctx, c, w, path, j, i == len(chosen)-1)
		if err == nil || ctx.Err() != nil || !isForAnother(err) {
			return data, err
		}
	}
	return none, err
}

// isForAnother reports whether another worker may take a job that ended in err. One whose packet budget is used up is
// for none, or the address would be sent twice as much.
func isForAnother(err error) bool {
	if status, is := errors.AsType[*remote.StatusError](err); is && status.Reason == workerapi.RefusedBudget {
		return false
	}
	failed, is := errors.AsType[*fault.Error](err)
	return is && (failed.Rule == fault.LimitWorker || failed.Local && !remote.MayHaveBegun(err))
}

// runAt gives the job to a worker, which is the last one that it is given to or not.
func runAt[T result](ctx context.Context, c *Client, w *oneWorker, path string, j Job, last bool) (T, error) {
	var none T
	request, err := json.Marshal(j.request(w.remote.Token(), c.prefixes()))
	if err != nil {
		return none, fmt.Errorf("encode the worker's request: %w", err)
	}
	call := remote.Call{Method: http.MethodPost, Path: path, Body: request, Limit: c.job, Refuse: refusal}
	if !last {
		// A stream begins when the worker has taken the job: one that ends before that is for another worker.
		call.Step = func(json.RawMessage) {}
	}
	if s := stepsOf(ctx, path, j.Address, c.prefixes()); s != nil {
		call.Step, call.Accepted = s.pass, s.feed.Begin
	}
	answer, err := w.remote.Do(ctx, call)
	if err != nil {
		return none, err
	}
	data, err := decode[T](answer, j.Address)
	if err != nil {
		return none, w.remote.Unusable(err)
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

// refusal makes the failure of what the worker says instead of a result.
func refusal(cause *remote.StatusError) error {
	cause.Reason = knownReason(cause.Reason)
	switch cause.Status {
	case http.StatusTooManyRequests:
		if cause.Reason == workerapi.RefusedShare {
			return &fault.Error{Kind: fault.Limited, Cause: cause, Rule: fault.LimitWorkerShare,
				RetryAfter: cause.RetryAfter, Code: "TOO_MANY_MEASUREMENTS"}
		}
		return &fault.Error{Kind: fault.Busy, Cause: cause, Rule: fault.LimitWorker, RetryAfter: cause.RetryAfter,
			Code: "WORKER_BUSY"}
	case http.StatusServiceUnavailable:
		if cause.Reason == workerapi.RefusedShortage {
			return shortage.Fault(cause)
		}
	case http.StatusBadGateway:
		if cause.Reason == workerapi.RefusedProtocol {
			return remote.Own(fault.Upstream, cause, codeICMPOnly, nil)
		}
	case http.StatusGatewayTimeout:
		return remote.Own(fault.Timeout, cause, "WORKER_TOO_SLOW", nil)
	case http.StatusBadRequest:
		return remote.Own(fault.Upstream, cause, "WORKER_REFUSED", nil)
	}
	return remote.Own(fault.Upstream, cause, "WORKER_FAILED", nil)
}

// knownReason returns a reason of workerapi.HeaderRefused, empty for any other text.
func knownReason(why string) string {
	switch why {
	case workerapi.RefusedShare, workerapi.RefusedBudget, workerapi.RefusedShortage, workerapi.RefusedProtocol:
		return why
	}
	return ""
}
