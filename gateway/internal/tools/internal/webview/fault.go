package webview

import (
	"context"
	"errors"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// Unroutable gives the error of a site that only a family leads to which this host lacks: that says nothing about the
// site. It is nil where the failed round trip has another reason.
func Unroutable(ctx context.Context, client *egress.Client, site target.URL, failed error) error {
	if !fault.Is(failed, fault.Upstream) {
		return nil
	}
	resolution, err := client.Resolve(ctx, site.Host())
	if err != nil {
		return nil //nolint:nilerr // the failed round trip is the error to tell, not this lookup
	}
	return resolution.Reachable()
}

// FaultSentence is what a failure tells a visitor.
func FaultSentence(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Sentence
	}
	return "The request failed."
}
