package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func emailDNSHealth(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Host, any]{
		Slug: "email-dns-health",
		Parse: func(in tool.Input) (target.Host, error) {
			return target.ParseHost(in.Text)
		},
	})
}
