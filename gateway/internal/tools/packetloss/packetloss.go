// Package packetloss is the tool packet-loss. It sends fifty ICMP echo requests from the worker and tells which runs of
// them were lost.
package packetloss

import (
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
	return probing.New("packet-loss", openAPI, client, worker, (*workerclient.Client).PacketLoss,
		func(r *workerapi.PacketLoss) *string { return &r.Target })
}
