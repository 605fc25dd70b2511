package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func uptime(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.URL, any]{
		Slug: "uptime",
		Parse: func(in tool.Input) (target.URL, error) {
			return target.ParseURL(in.Text)
		},
	})
}
