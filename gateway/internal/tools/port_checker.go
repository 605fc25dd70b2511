package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func portChecker(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.HostPort, any]{
		Slug: "port-checker",
		Parse: func(in tool.Input) (target.HostPort, error) {
			return target.ParseHostPort(in.Text, 0)
		},
	})
}
