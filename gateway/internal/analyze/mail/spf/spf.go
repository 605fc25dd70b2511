// Package spf reads a domain's SPF record (RFC 7208) and walks through all that it names, without a mail at hand: it
// counts what a receiver would look up in the worst case, along every branch, and says what is wrong on the way.
//
// The walk goes level by level, so that the lookups of one level are made at once and a record that is cut by a bound
// is cut at the same place every time.
package spf

import (
	"context"
	"net/netip"

	"diagnostics/gateway/internal/analyze/mail"
)

// Resolver is what the walk needs of the DNS. Names are in lower case without a trailing dot, as zone files have them:
// what has a meaning there stands behind a backslash. No records and a nil error is a name without the type; errors are
// mail.ErrNotFound or a *mail.LookupError. It is called from several goroutines at once.
type Resolver interface {
	// TXT gives the records with their strings joined.
	TXT(ctx context.Context, name string) ([]string, error)
	// MX gives the names of the exchanges.
	MX(ctx context.Context, name string) ([]string, error)
	// Addresses gives addresses of either family; one family may be left out where the other has some.
	Addresses(ctx context.Context, name string) ([]netip.Addr, error)
	// V4 gives the IPv4 addresses, which are all that "exists" uses.
	V4(ctx context.Context, name string) ([]netip.Addr, error)
}

// The limits of RFC 7208 section 4.6.4.
const (
	MaxLookups     = 10
	MaxVoidLookups = 2
	maxExchanges   = 10
)

// Bounds of our own on what one hostile tree can cost: terms followed, nodes shown, octets of a record. All are far
// past the point where the record has failed.
const (
	maxFollowed = 30
	maxNodes    = 2000
	maxOctets   = 8 << 10
)

// Node is one term of the tree with what it leads to. The root is the record of the domain itself.
type Node struct {
	// Term is the term as it stands in its record, v=spf1 for the root.
	Term string `json:"term" bound:"text=2k"`
	// Domain is what the term looks up, its macros filled in where they can be; nil where it looks up nothing.
	Domain *string `json:"domain" bound:"text=2k"`
	// Lookups and VoidLookups are those of the term and of all below it.
	Lookups     int `json:"lookups"`
	VoidLookups int `json:"voidLookups"`
	// Record is the SPF record that include, redirect and the root lead to.
	Record *string `json:"record" bound:"text=16k"`
	// Fault is the issue of a term that is wrong. The tool writes its sentence into Error.
	Fault *mail.Issue `json:"-"`
	Error *string     `json:"error"`
	// Void means that the term itself names something that does not exist, Ignored that "all" decides before it. Error
	// says so.
	Void     bool    `json:"void,omitempty"`
	Ignored  bool    `json:"ignored,omitempty"`
	Children []*Node `json:"children" wire:"notnull" bound:"apart"`
	// Truncated means that there are more children, or that a text of the node goes on.
	Truncated bool `json:"truncated,omitempty"`
}

// Report is what a walk found.
type Report struct {
	// Tree is never nil.
	Tree *Node
	// Record is the domain's own record, nil where it has none or several.
	Record *string
	// Found reports whether the domain has an SPF record at all.
	Found bool
	// All is the qualified "all" that decides in the end, through redirect where there is no other; empty where there is
	// none, or it could not be read.
	All string
	// NoAllAt is the domain whose record decides in the end where that was read and has neither "all" nor redirect.
	NoAllAt string
	// SendsNothing means that the record authorizes no sender: -all, and nothing before it.
	SendsNothing bool
	// Failed means that a lookup gave no usable answer, so that the rest is incomplete.
	Failed bool
	Issues mail.Issues

	// root is the tree of the terms that were followed. cut is set if a bound of this service ended that, and faulty if
	// receivers cannot use the record at all.
	root        *visit
	cut, faulty bool
}

// Check walks the SPF record of a domain. It returns when the context ends at the latest, with what was seen.
func Check(ctx context.Context, dns Resolver, domain string) Report {
	tree := &Node{Term: version, Domain: &domain, Children: []*Node{}}
	root := &visit{node: tree, domain: domain, passing: true, final: true}
	w := &walk{dns: dns, nodes: 1, report: Report{Tree: tree, root: root}}
	for level := []*visit{root}; len(level) > 0; {
		w.fetch(ctx, level)
		var next []*visit
		for _, v := range level {
			next = append(next, w.read(v)...)
		}
		level = next
	}
	sum(tree)
	w.conclude()
	return w.report
}

// sum adds up the branches. Depth is bounded by maxFollowed.
func sum(n *Node) {
	for _, child := range n.Children {
		sum(child)
		n.Lookups += child.Lookups
		n.VoidLookups += child.VoidLookups
	}
}
