package tools

import (
	"context"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"
)

// ping sends ten ICMP echo requests from the worker.
func ping(client *egress.Client, worker *workerclient.Client) tool.Tool {
	return tool.New(tool.Spec[probeTarget, workerapi.Ping]{
		Slug:   "ping",
		Worker: true,
		Parse:  parseProbe,
		Run: func(ctx context.Context, t probeTarget) (workerapi.Ping, error) {
			job, err := probeJob(ctx, client, worker, t)
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
