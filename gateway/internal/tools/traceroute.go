package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func traceroute(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Host, any]{
		Slug:   "traceroute",
		Worker: true,
		Parse: func(in tool.Input) (target.Host, error) {
			return target.ParseHost(in.Text)
		},
	})
}
