// Package holder lists for whom a share of something bounded is counted. Every share counts all holders of its list, so
// that none forgets one.
package holder

import "diagnostics/gateway/internal/tool"

// Kind is what a holder is.
type Kind int

// The kinds, the narrowest first.
const (
	// Client has one share.
	Client Kind = iota
	// Network is a network around a client. It has several shares.
	Network
	// Place is another instance of this service, with all its clients. It has half of everything, whatever clients it
	// names.
	Place
)

// Holder is one of those for whom a share is counted.
type Holder struct {
	Kind Kind
	// Key differs from the keys of all other holders, whatever their kind.
	Key string
	// Times is how many shares a network has.
	Times int64
}

// List is the holders of one request, the narrowest first.
type List []Holder

// Of returns the holders of a run, and of the networks around its client only the widest: clientip.Identity.Holders
// returns all.
func Of(c tool.Caller) List {
	list := List{{Client, c.Client, 1}}
	if c.Network != "" {
		list = append(list, Holder{Network, c.Network, 16})
	}
	return list.At(c.Place)
}

// At returns the list with a place, unless its ID is empty.
func (l List) At(place string) List {
	if place == "" {
		return l
	}
	// No address holds a space, and a pseudonym of another place holds a slash.
	return append(l, Holder{Place, "place " + place, 0})
}
