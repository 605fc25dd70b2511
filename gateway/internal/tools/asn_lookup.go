package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func asnLookup(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Host, any]{
		Slug: "asn-lookup",
		Parse: func(in tool.Input) (target.Host, error) {
			return target.ParseHost(in.Text)
		},
	})
}
