// Package packetloss is the tool packet-loss. It sends fifty ICMP echo requests from the worker and reports the loss
// and its bursts.
package packetloss

import (
	_ "embed" // openapi.yaml

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// Result is what the worker measured, and what it comes to.
type Result struct {
	finding.Report
	workerapi.PacketLoss
}

// New makes the tool; client looks the target up, worker probes it. A nil worker is one that is not enabled.
func New(client *egress.Client, worker *workerclient.Client) tool.Tool {
	return probing.New("packet-loss", openAPI, rows, client, worker, (*workerclient.Client).PacketLoss, report,
		func(r *Result) *workerapi.Ping { return &r.Ping })
}

func report(p workerapi.PacketLoss, target string) Result {
	p.Target = target
	return Result{probing.Echo(rows, p.Ping, workerapi.LossGap), p}
}
