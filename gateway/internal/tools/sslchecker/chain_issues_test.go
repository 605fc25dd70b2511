package sslchecker

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
)

// TestChainIssues: each disorder has a code and a sentence of its own, and an order that is right has none.
func TestChainIssues(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "The Root")
	first := certtest.Intermediate(t, root, "First")
	second := certtest.Intermediate(t, first, "Second")
	leaf := certtest.Leaf(t, second, []string{sslName})
	other := certtest.Root(t, "Other Root")
	third := certtest.Root(t, "Third Root")
	for _, c := range []struct {
		name  string
		sent  []*certtest.Cert
		codes string
		says  string // in the last of them
	}{
		{"right", []*certtest.Cert{leaf, second, first}, "", ""},
		{"out of order", []*certtest.Cert{leaf, first, second}, "info CHAIN_NOT_IN_ORDER", "not in order"},
		{"repeated", []*certtest.Cert{leaf, second, second, first}, "info CHAIN_REPEATED", "more than once"},
		{"foreign", []*certtest.Cert{leaf, second, first, other}, "info CHAIN_FOREIGN", "a certificate that is not part of the chain: Other Root."},
		{"two foreign", []*certtest.Cert{leaf, second, first, other, third}, "info CHAIN_FOREIGN", "2 certificates that are not part of the chain: Other Root and Third Root."},
		{"root", []*certtest.Cert{leaf, second, first, root}, "info CHAIN_HAS_ROOT", "the root, The Root."},
		{"all of it", []*certtest.Cert{leaf, first, second, second, other, root},
			"info CHAIN_NOT_IN_ORDER, info CHAIN_REPEATED, info CHAIN_FOREIGN, info CHAIN_HAS_ROOT", "the root"},
		{"missing intermediate", []*certtest.Cert{leaf}, "warn INCOMPLETE_CHAIN", "so that the server sends them"},
		{"wrong intermediate", []*certtest.Cert{leaf, first}, "", ""}, // the verdict says it
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := chainIssues(len(c.sent), judgeAs(root, certs.Signing, c.sent...))
			var codes []string
			for _, i := range found {
				codes = append(codes, i.Severity+" "+i.Code)
			}
			if got := strings.Join(codes, ", "); got != c.codes {
				t.Errorf("%s, want %s", got, c.codes)
			}
			if len(found) > 0 && !strings.Contains(found[len(found)-1].Message, c.says) {
				t.Errorf("%s", found[len(found)-1].Message)
			}
		})
	}
	direct := certtest.Leaf(t, root, []string{sslName})
	if found := chainIssues(1, judgeAs(root, certs.Signing, direct)); len(found) > 0 {
		t.Errorf("issued by the root: %v", found)
	}
	if slices.ContainsFunc(chainIssues(2, judgeAs(root, certs.Signing, leaf, other)), func(i issue) bool {
		return i.Code == "CHAIN_FOREIGN"
	}) {
		t.Error("beside a gap nothing is known to be foreign")
	}
}
