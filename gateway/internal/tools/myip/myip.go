// Package myip is the tool my-ip. It tells a visitor's own public address, where a trusted header names it.
package myip

import (
	"context"
	_ "embed" // openapi.yaml

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// Result is the visitor's public address as a trusted header tells it, or why it cannot be told.
type Result struct {
	Available bool    `json:"available"`
	IP        *string `json:"ip"`
	Version   *int    `json:"version"` // 4 or 6
	Reason    *string `json:"reason"`
}

// visitor is who asks: no target that anybody else could be hit at, so it has no key of its own.
type visitor struct{ visitor tool.Visitor }

// LimitKey is empty: the run charges the client alone.
func (visitor) LimitKey() string { return "" }

// New makes the tool. It needs nothing: the edge tells who the visitor is.
func New() tool.Tool {
	return tool.New(tool.Spec[visitor, Result]{
		Slug:    "my-ip",
		OpenAPI: openAPI,
		Parse: func(in tool.Input) (visitor, error) {
			if in.Text != "" {
				return visitor{}, fault.New(fault.Invalid,
					"This tool shows your own address and takes no input; leave the input empty.")
			}
			return visitor{in.Visitor}, nil
		},
		Run: func(_ context.Context, t visitor) (Result, error) { return describeVisitor(t.visitor), nil },
	})
}

// describeVisitor never falls back on the other end of the connection: where no trusted header names the visitor, that
// end is likely to be the service's own proxy.
func describeVisitor(v tool.Visitor) Result {
	if !v.HeadersTrusted {
		return unavailable("This service is not set up to trust the headers that would show it your address.")
	}
	if !v.Addr.IsValid() {
		return unavailable("The proxy in front of this service did not pass on your address.")
	}
	addr := v.Addr.Unmap()
	if addr.Zone() != "" || !netpolicy.Judge(addr).Public {
		return unavailable("The address that the proxy in front of this service passed on is not public.")
	}
	return Result{Available: true, IP: new(addr.String()), Version: new(workerapi.Family(addr))}
}

func unavailable(reason string) Result { return Result{Reason: &reason} }
