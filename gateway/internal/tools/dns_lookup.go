package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func dnsLookup(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Domain, any]{
		Slug: "dns-lookup",
		Parse: func(in tool.Input) (target.Domain, error) {
			return target.ParseDomain(in.Text, true)
		},
	})
}
