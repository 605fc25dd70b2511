package tools

import (
	"context"

	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/workerapi"
)

// packetLoss sends fifty ICMP echo requests from the worker and tells which runs of them were lost.
func packetLoss(d Deps) tool.Tool {
	return tool.New(tool.Spec[probeTarget, workerapi.PacketLoss]{
		Slug:   "packet-loss",
		Worker: true,
		Parse:  parseProbe,
		Run: func(ctx context.Context, t probeTarget) (workerapi.PacketLoss, error) {
			job, err := probeJob(ctx, d, t)
			if err != nil {
				return workerapi.PacketLoss{}, err
			}
			result, err := d.Worker.PacketLoss(ctx, job)
			if err != nil {
				return workerapi.PacketLoss{}, err
			}
			result.Target = t.String()
			return result, nil
		},
	})
}
