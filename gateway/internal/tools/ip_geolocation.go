package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

func ipGeolocation(_ Deps) tool.Tool {
	return tool.New(tool.Spec[target.Address, any]{
		Slug: "ip-geolocation",
		Parse: func(in tool.Input) (target.Address, error) {
			return target.ParseAddress(in.Text)
		},
	})
}
