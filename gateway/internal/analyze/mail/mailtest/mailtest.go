// Package mailtest helps tests of the parsers and walkers of mail records.
package mailtest

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
)

// Codes are the codes of issues in alphabetical order.
func Codes(issues mail.Issues) []string {
	codes := []string{}
	for _, i := range issues {
		codes = append(codes, i.Code)
	}
	slices.Sort(codes)
	return codes
}

// Showable fails the test if an argument of an issue cannot be shown: strangers' texts are among them.
func Showable(t *testing.T, issues mail.Issues) {
	t.Helper()
	for _, i := range issues {
		for name, value := range i.Args {
			if text, is := value.(string); is && (strings.ContainsAny(text, "\n\r\x1b\x00") || len(text) > 600) {
				t.Fatalf("%s has %s %q", i.Code, name, text)
			}
		}
	}
}
