package ping

import (
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/probing"
)

var rows = finding.Join(probing.EchoRows, finding.Rows{
	probing.CodeAnswered: {
		State: finding.OK,
		Args:  "host text, median duration, probes number" + probing.MoreArgs,
		Message: "{host} answers in [{median}]{median?|an unknown time} (median of {probes} " +
			"{probes:probe|probes})." + probing.More,
		Brief:   "Answers[ in {median}]",
		Meaning: "It was measured from our server, so the path from your own connection may differ.",
	},
})
