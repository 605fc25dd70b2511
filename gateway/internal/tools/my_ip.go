package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func myIP(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Host, any]{
		Slug: "my-ip",
		Parse: func(in tool.Input) (target.Host, error) {
			return target.ParseHost(in.Text)
		},
	})
}
