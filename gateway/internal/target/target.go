// Package target parses what a visitor typed into canonical values. It is pure: no name is looked up and no packet sent.
// Past this package nobody holds a raw string. Errors are *fault.Error: Invalid for a wrong format, Refused for a name or
// an address that the public-address rules refuse.
package target

import (
	"net/netip"

	"golang.org/x/net/publicsuffix"
)

var _ = publicsuffix.List

// Host is a public hostname or a public address, never both.
type Host struct {
	name string
	addr netip.Addr
}

// ParseHost takes a public hostname or a public address literal.
func ParseHost(s string) (Host, error) { panic("unwritten") }

// IsAddr tells whether the host is an address literal.
func (h Host) IsAddr() bool { return h.addr.IsValid() }

// Addr is the address of a literal, the zero Addr for a name.
func (h Host) Addr() netip.Addr { return h.addr }

// Name is the lower-case A-label name without a trailing dot, empty for a literal.
func (h Host) Name() string { return h.name }

// String is the name or the address, without brackets.
func (h Host) String() string { panic("unwritten") }

// LimitKey is String.
func (h Host) LimitKey() string { return h.String() }

// Domain is a DNS owner name (A-labels, lower case, no trailing dot).
type Domain struct{ name string }

// ParseDomain takes a public domain name; underscores tells whether `_` labels are allowed, as dns-lookup and
// dns-resolver-check do. Addresses are Invalid.
func ParseDomain(s string, underscores bool) (Domain, error) { panic("unwritten") }

// String is the name.
func (d Domain) String() string { return d.name }

// LimitKey is the name.
func (d Domain) LimitKey() string { return d.name }

// HostPort is a host and a port from 1 to 65535.
type HostPort struct {
	Host Host
	Port uint16
}

// ParseHostPort takes host:port, [v6]:port or addr:port. A defaultPort of 0 makes the port required.
func ParseHostPort(s string, defaultPort uint16) (HostPort, error) { panic("unwritten") }

// LimitKey is the host without its port.
func (hp HostPort) LimitKey() string { return hp.Host.LimitKey() }

// URL is an absolute http or https URL with a public host, no user information, a port from 1 to 65535 and no fragment.
type URL struct {
	scheme string
	host   Host
	port   uint16
	// path and query as they go on the wire (escaped), starting with "/".
	requestURI string
}

// ParseURL takes an absolute http or https URL.
func ParseURL(s string) (URL, error) { panic("unwritten") }

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Host is the canonical host.
func (u URL) Host() Host { return u.host }

// Port is the port, the scheme's default where none was typed.
func (u URL) Port() uint16 { return u.port }

// RequestURI is the escaped path and query.
func (u URL) RequestURI() string { return u.requestURI }

// String is the canonical URL: lower-case scheme and host, brackets around IPv6, no default port, no fragment.
func (u URL) String() string { panic("unwritten") }

// LimitKey is the host.
func (u URL) LimitKey() string { return u.host.LimitKey() }

// LocationProblem tells the ways in which a Location header cannot be followed apart.
type LocationProblem int

// The problems of a Location.
const (
	LocationMissing     LocationProblem = iota + 1 // absent or blank
	LocationInvalid                                // not a URL, or a host that is none (http:foo, %zz, bad port)
	LocationScheme                                 // a scheme other than http and https
	LocationCredentials                            // user information
	LocationRefused                                // a host that the public-address rules refuse
)

// LocationError says why a Location was not followed. Err is the *fault.Error for the visitor.
type LocationError struct {
	Problem LocationProblem
	Err     error
}

// Error gives the sentence.
func (e *LocationError) Error() string { return e.Err.Error() }

// Unwrap gives the fault.
func (e *LocationError) Unwrap() error { return e.Err }

// Resolve reads a Location header against u (RFC 9110 section 10.2.2) and judges the result as a first target is
// judged. The fragment of u is not kept here. Errors are *LocationError.
func (u URL) Resolve(location string) (URL, error) { panic("unwritten") }

// Address is a public address literal.
type Address struct{ addr netip.Addr }

// ParseAddress takes a public address literal.
func ParseAddress(s string) (Address, error) { panic("unwritten") }

// Addr is the address.
func (a Address) Addr() netip.Addr { return a.addr }

// String is the address.
func (a Address) String() string { return a.addr.String() }

// LimitKey is the address.
func (a Address) LimitKey() string { return a.addr.String() }

// ASN is an assignable autonomous system number.
type ASN uint32

// ParseASN takes AS15169, as15169 or 15169.
func ParseASN(s string) (ASN, error) { panic("unwritten") }

// LimitKey is "AS<n>".
func (a ASN) LimitKey() string { panic("unwritten") }
