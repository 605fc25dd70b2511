package portchecker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestReportOfStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port     uint16
		states   string
		untried  int
		code     string
		state    finding.State
		findings string
	}{
		{443, "open", 0, codeOpen, finding.OK, ""},
		{443, "open open", 1, codeOpen, finding.OK, codeMore},
		{443, "open skipped", 0, codeOpen, finding.OK, codeSkipped},
		{443, "closed", 2, codeClosed, finding.Failed, codeClosed + " " + codeMore},
		{443, "open closed", 2, codeSome, finding.Warned, codeNotOpen + " " + codeMore},
		{443, "skipped open closed skipped", 0, codeSome, finding.Warned, codeNotOpen + " " + codeSkipped + " " + codeSkipped},
		{443, "filtered closed", 0, codeClosed, finding.Failed, codeClosed + " " + codeFiltered},
		{443, "filtered skipped", 0, codeFiltered, finding.Warned, codeFiltered + " " + codeSkipped},
		{443, "unreachable", 0, codeUnreachable, finding.Failed, codeUnreachable},
		{443, "skipped skipped", 0, codeNotTried, finding.Unknown, codeSkipped + " " + codeSkipped},
		{3306, "open", 0, codeOpen, finding.OK, codeExposed},
		{3306, "closed", 0, codeClosed, finding.Failed, codeClosed},
	} {
		t.Run(fmt.Sprint(c.port, " ", c.states), func(t *testing.T) {
			t.Parallel()
			to := toolstest.HostPort(t, fmt.Sprintf("example.com:%d", c.port))
			var tried []attempt
			for i, state := range strings.Fields(c.states) {
				tried = append(tried, attempt{Address: fmt.Sprintf("192.0.2.%d", i+1), Family: 4, State: state,
					why: finding.Args{"reason": codeHostDown}})
			}
			result := summarize(to, tried)
			result.Untried = c.untried
			got := result.report(to.Host)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			broken := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
			if got.Conclusion.Code != c.code || got.Conclusion.State != c.state || strings.Join(codes, " ") != c.findings ||
				c.state == finding.Failed && !broken {
				t.Errorf("%+v, %v", got.Conclusion, codes)
			}
		})
	}
}

// TestSkippedAddressesDoNotCount: they are neither open nor tried.
func TestSkippedAddressesDoNotCount(t *testing.T) {
	t.Parallel()
	to := toolstest.HostPort(t, "example.com:443")
	var tried []attempt
	for i, state := range []string{portOpen, portClosed, portSkipped, portSkipped} {
		tried = append(tried, attempt{Address: fmt.Sprintf("192.0.2.%d", i+1), State: state,
			why: finding.Args{"reason": codeHostDown}})
	}
	if got := summarize(to, tried).report(to.Host).Conclusion; string(got.Args["open"]) != "1" ||
		string(got.Args["tried"]) != "2" {
		t.Error(got)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
