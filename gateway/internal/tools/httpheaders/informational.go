package httpheaders

import (
	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// informational is an answer that came before the final one, such as 103 Early Hints.
type informational struct {
	Status     int              `json:"status"`
	StatusText string           `json:"statusText"`
	Headers    []webview.Header `json:"headers"`
}

// The share of informational answers, by number and in bytes of JSON. A server that means well sends one.
const (
	maxInformational      = 16
	maxInformationalBytes = 256 << 10
)

func describeInterim(answers []egress.Interim) []informational {
	list := make([]informational, 0, len(answers))
	for _, a := range answers {
		list = append(list, informational{
			Status:     a.Status,
			StatusText: webview.DescribeStatus(&egress.Response{Status: a.Status, StatusText: a.StatusText}),
			Headers:    webview.DescribeHeaders(a.Header),
		})
	}
	return list
}

func boundInformational(list []informational, mark *bool) []informational {
	list = bound.First(list, maxInformational, mark)
	for i := range list {
		list[i].StatusText = bound.Text(list[i].StatusText, webview.MaxStatusText, mark)
		list[i].Headers = webview.BoundHeaders(list[i].Headers, mark)
	}
	return bound.List(list, maxInformationalBytes, mark)
}
