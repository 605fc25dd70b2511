package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func whoisLookup(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Registration, any]{
		Slug: "whois-lookup",
		Parse: func(in tool.Input) (target.Registration, error) {
			return target.ParseRegistration(in.Text)
		},
	})
}
