package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func securityHeaders(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.URL, any]{
		Slug: "security-headers",
		Parse: func(in tool.Input) (target.URL, error) {
			return target.ParseURL(in.Text)
		},
	})
}
