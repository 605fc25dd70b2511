package emaildnshealth

import (
	"diagnostics/gateway/internal/analyze/mail/spf"
	"diagnostics/gateway/internal/text/bound"
)

// maxTree bounds the tree of SPF terms and maxFindings the findings, in bytes of JSON.
const (
	maxTree     = 224 << 10
	maxFindings = 64 << 10
)

var nodeLimits = bound.LimitsOf[spf.Node]()

// boundTree cuts level by level, so that what the domain itself says is there before what others say.
func boundTree(root *spf.Node) {
	nodeLimits.Enforce(root)
	left := maxTree
	for level := []*spf.Node{root}; len(level) > 0; {
		var next []*spf.Node
		for _, n := range level {
			for i, child := range n.Children {
				alone := *child
				alone.Children = []*spf.Node{}
				if left -= bound.Size(alone); left < 0 {
					n.Children = bound.First(n.Children, i, &n.Truncated)
					break
				}
			}
			next = append(next, n.Children...)
		}
		level = next
	}
}
