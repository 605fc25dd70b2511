package netpolicy

import (
	"net/netip"
	"slices"
)

// Reachability is the registries' column "Globally Reachable" (RFC 8190).
type Reachability int

// The values of the column.
const (
	// ReachableFalse is "False": packets to the block are not to leave their administrative domain.
	ReachableFalse Reachability = iota
	// ReachableTrue is "True".
	ReachableTrue
	// ReachableNA is "N/A". It is treated as false.
	ReachableNA
)

// Registry says where a row comes from.
type Registry string

// The registries.
const (
	IPv4Special   Registry = "IANA IPv4 Special-Purpose Address Registry"
	IPv6Special   Registry = "IANA IPv6 Special-Purpose Address Registry"
	IPv4Multicast Registry = "IANA IPv4 Multicast Address Space Registry"
	IPv6Space     Registry = "IANA IPv6 Address Space"
	// Own are rows that no registry has and that experience asks for.
	Own Registry = "this service"
)

// Row is one block of a registry.
type Row struct {
	Prefix netip.Prefix
	// Name and Source are the registry's own columns "Name" and "RFC".
	Name     string
	Source   string
	Registry Registry
	// Reachable is the registry's own column, before our opinion.
	Reachable Reachability
	// Narrowed says why a block that the registry calls globally reachable is refused all the same; empty elsewhere.
	Narrowed string
	// Kind completes the sentence "<address> is …" for a visitor.
	Kind string
}

// refused is a row of a table whose block the registry does not call globally reachable.
func refused(prefix, name, source string, from Registry, kind string) Row {
	return Row{Prefix: netip.MustParsePrefix(prefix), Name: name, Source: source, Registry: from,
		Reachable: ReachableFalse, Kind: kind}
}

// notApplicable is one of which the registry does not say either.
func notApplicable(prefix, name, source string, from Registry, kind string) Row {
	r := refused(prefix, name, source, from, kind)
	r.Reachable = ReachableNA
	return r
}

// reachable is one that the registry calls globally reachable.
func reachable(prefix, name, source string, from Registry) Row {
	r := refused(prefix, name, source, from, "")
	r.Reachable = ReachableTrue
	return r
}

// narrowed is one that it calls so and that is refused all the same.
func narrowed(prefix, name, source string, from Registry, kind, why string) Row {
	r := reachable(prefix, name, source, from)
	r.Kind, r.Narrowed = kind, why
	return r
}

// Public reports whether addresses of this very row may be probed.
func (r Row) Public() bool { return r.Reachable == ReachableTrue && r.Narrowed == "" }

func (r *Row) verdict() Verdict {
	v := Verdict{Public: r.Public(), Prefix: r.Prefix, Name: r.Name, Source: r.Source}
	if !v.Public {
		v.Reason = r.Kind
	}
	return v
}

// Rows gives a copy of every row, those of one family in the order in which they are judged: most specific first.
func Rows() []Row { return slices.Concat(ipv4Rows, ipv6Rows) }
