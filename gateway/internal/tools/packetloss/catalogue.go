package packetloss

import (
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/probing"
)

var rows = finding.Join(probing.EchoRows, finding.Rows{
	probing.CodeAnswered: {
		State:   finding.OK,
		Args:    "host text, median duration, probes number" + probing.MoreArgs,
		Message: "No loss: {host} answered all {probes} {probes:probe|probes}[ (median {median})]." + probing.More,
		Brief:   "No loss",
		Meaning: "It was measured from our server, so the path from your own connection may differ.",
	},
})
