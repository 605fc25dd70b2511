package tools

import (
	"context"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"
)

// packetLoss sends fifty ICMP echo requests from the worker and tells which runs of them were lost.
func packetLoss(client *egress.Client, worker *workerclient.Client) tool.Tool {
	return tool.New(tool.Spec[probeTarget, workerapi.PacketLoss]{
		Slug:   "packet-loss",
		Worker: true,
		Parse:  parseProbe,
		Run: func(ctx context.Context, t probeTarget) (workerapi.PacketLoss, error) {
			job, err := probeJob(ctx, client, worker, t)
			if err != nil {
				return workerapi.PacketLoss{}, err
			}
			result, err := worker.PacketLoss(ctx, job)
			if err != nil {
				return workerapi.PacketLoss{}, err
			}
			result.Target = t.String()
			return result, nil
		},
	})
}
