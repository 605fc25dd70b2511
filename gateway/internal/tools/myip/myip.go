// Package myip is the tool my-ip. It returns the visitor's own public address, where a trusted header names it.
package myip

import (
	"context"
	_ "embed" // openapi.yaml

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// Result is the client's public address by a trusted header, or the reason why there is none.
type Result struct {
	finding.Report
	Available bool    `json:"available"`
	IP        *string `json:"ip"`
	Version   *int    `json:"version"` // 4 or 6
	Reason    *string `json:"reason"`
}

// visitor is who asks: no target that anyone else could be hit at, so it has no key of its own.
type visitor struct{ visitor tool.Visitor }

// LimitKey is empty: the run charges the client alone.
func (visitor) LimitKey() string { return "" }

// New makes the tool. The edge finds the address of the client.
func New() tool.Tool {
	return tool.New(tool.Spec[visitor, Result]{
		Slug:     "my-ip",
		OnlyHere: true,
		OpenAPI:  openAPI, Findings: rows,
		Parse: func(in tool.Input) (visitor, error) {
			if in.Text != "" {
				return visitor{}, fault.New(fault.Invalid, "INPUT_NOT_EMPTY", nil)
			}
			return visitor{in.Visitor}, nil
		},
		Run: func(_ context.Context, t visitor) (Result, error) { return describeVisitor(t.visitor), nil },
	})
}

// describeVisitor never falls back on the other end of the connection: where no trusted header names the visitor, that
// end is likely to be the service's own proxy.
func describeVisitor(v tool.Visitor) Result {
	if v.OwnMachine {
		return unavailable(codeOwnMachine)
	}
	if !v.HeadersTrusted {
		return unavailable(codeUntrusted)
	}
	if !v.Addr.IsValid() {
		return unavailable(codeNoAddress)
	}
	addr := v.Addr.Unmap()
	if addr.Zone() != "" || !netpolicy.Judge(addr).Public {
		return unavailable(codeNotPublic)
	}
	version := workerapi.Family(addr)
	return Result{
		Report:    rows.Draft().Conclude(codeAddress, finding.Args{"address": addr, "version": version}),
		Available: true, IP: new(addr.String()), Version: &version,
	}
}

func unavailable(code string) Result {
	report := rows.Draft()
	report.Add(code, "", nil)
	return Result{Report: report.Conclude(code, nil), Reason: new(rows.Sentence(code, nil))}
}
