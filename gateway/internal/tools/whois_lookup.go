package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func whoisLookup(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Host, any]{
		Slug: "whois-lookup",
		Parse: func(in tool.Input) (target.Host, error) {
			return target.ParseHost(in.Text)
		},
	})
}
