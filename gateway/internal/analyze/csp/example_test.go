package csp_test

import (
	"fmt"

	"diagnostics/gateway/internal/analyze/csp"
)

// Several policies hold together: what one of them forbids is forbidden.
func ExampleSet_Assess() {
	set := csp.Set(csp.ParseHeaders([]string{
		"default-src 'self'; script-src 'self' 'unsafe-inline' https:",
		"object-src 'none'; base-uri 'none'",
	}))
	fmt.Println("inline scripts run:", set.AllowsInlineScripts())
	for _, issue := range set.Assess() {
		fmt.Println(issue.Code)
	}
	// Output:
	// inline scripts run: true
	// CSP_INLINE_SCRIPTS
	// CSP_ANY_SCRIPT_SOURCE
	// CSP_FORM_ACTION
}
