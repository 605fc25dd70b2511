package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func redirectChecker(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.URL, any]{
		Slug: "redirect-checker",
		Parse: func(in tool.Input) (target.URL, error) {
			return target.ParseURL(in.Text)
		},
	})
}
