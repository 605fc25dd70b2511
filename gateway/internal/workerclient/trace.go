package workerclient

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/workerapi"
)

const sentenceICMPOnly = "This worker can trace with ICMP only."

// probedAs holds a trace against the probes that it was asked for. A worker that is older than the others drops options
// that it does not know, and traces with ICMP.
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
