// Package ping is the tool ping. It sends ten ICMP echo requests from the worker.
package ping

import (
	"context"
	_ "embed" // openapi.yaml

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// New makes the tool; client looks the target up, worker probes it. A nil worker is one that is not enabled.
func New(client *egress.Client, worker *workerclient.Client) tool.Tool {
	return tool.New(tool.Spec[probing.Target, workerapi.Ping]{
		Slug:    "ping",
		OpenAPI: openAPI,
		Worker:  true,
		Parse:   probing.Parse,
		Run: func(ctx context.Context, t probing.Target) (workerapi.Ping, error) {
			job, err := probing.NewJob(ctx, client, worker, t)
			if err != nil {
				return workerapi.Ping{}, err
			}
			result, err := worker.Ping(ctx, job)
			if err != nil {
				return workerapi.Ping{}, err
			}
			result.Target = t.String()
			return result, nil
		},
	})
}
