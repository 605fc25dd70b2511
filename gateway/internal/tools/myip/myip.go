// Package myip is the tool my-ip. It tells a visitor's own public address, where a trusted header names it.
package myip

import (
	"context"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// myIPResult is the visitor's public address as a trusted header tells it, or why it cannot be told.
type myIPResult struct {
	Available bool    `json:"available"`
	IP        *string `json:"ip"`
	Version   *int    `json:"version"` // 4 or 6
	Reason    *string `json:"reason"`
}

// myIPTarget is the visitor: no target that anybody else could be hit at, so it has no key of its own.
type myIPTarget struct{ visitor tool.Visitor }

// LimitKey is empty: the run charges the client alone.
func (myIPTarget) LimitKey() string { return "" }

// New makes the tool. It needs nothing: the edge tells who the visitor is.
func New() tool.Tool {
	return tool.New(tool.Spec[myIPTarget, myIPResult]{
		Slug: "my-ip",
		Parse: func(in tool.Input) (myIPTarget, error) {
			if in.Text != "" {
				return myIPTarget{}, fault.New(fault.Invalid, "This tool looks at your own address and takes no input; leave it empty.")
			}
			return myIPTarget{in.Visitor}, nil
		},
		Run: func(_ context.Context, t myIPTarget) (myIPResult, error) { return describeVisitor(t.visitor), nil },
	})
}

// describeVisitor never falls back on the other end of the connection: where no trusted header names the visitor, that
// end is likely to be the service's own proxy.
func describeVisitor(v tool.Visitor) myIPResult {
	if !v.HeadersTrusted {
		return myIPUnavailable("This service is not set up to trust the headers that would tell your address.")
	}
	if !v.Addr.IsValid() {
		return myIPUnavailable("The proxy in front of this service did not tell your address.")
	}
	addr := v.Addr.Unmap()
	if addr.Zone() != "" || !netpolicy.Judge(addr).Public {
		return myIPUnavailable("The address that the proxy in front of this service told is not a public one.")
	}
	ip, version := addr.String(), workerapi.Family(addr)
	return myIPResult{Available: true, IP: &ip, Version: &version}
}

func myIPUnavailable(reason string) myIPResult { return myIPResult{Reason: &reason} }
