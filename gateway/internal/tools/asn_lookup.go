package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func asnLookup(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.NetworkQuery, any]{
		Slug: "asn-lookup",
		Parse: func(in tool.Input) (target.NetworkQuery, error) {
			return target.ParseNetworkQuery(in.Text)
		},
	})
}
