package main

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/target"
	"diagnostics/shared/netpolicy"
)

// errMalformed is all that a parser says: Config's tags say what the setting takes.
var errMalformed = errors.New("malformed")

// boolean is true or false, and nothing that merely looks like it.
type boolean bool

func (b *boolean) Decode(s string) error {
	if s != "true" && s != "false" {
		return errMalformed
	}
	*b = s == "true"
	return nil
}

// platformFlag is a variable of a hosting platform, which we do not own: 1 is set, anything else is not.
type platformFlag bool

func (f *platformFlag) Decode(s string) error { //nolint:unparam // the interface wants it
	*f = s == "1"
	return nil
}

const maxCount = 1_000_000_000

// count is a whole number from 0 to maxCount, in plain digits.
type count int

func (c *count) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxCount {
		return errMalformed
	}
	*c = count(n)
	return nil
}

// duration is Go's syntax, and not negative.
type duration time.Duration

func (d *duration) Decode(s string) error {
	parsed, err := time.ParseDuration(s)
	if err != nil || parsed < 0 {
		return errMalformed
	}
	*d = duration(parsed)
	return nil
}

// choice is one of the values in the field's oneof tag.
type choice string

// listenAddr is host:port, where the host may be empty and the port 0.
type listenAddr string

func (a *listenAddr) Decode(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " /") {
		return errMalformed
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errMalformed
	}
	*a = listenAddr(s)
	return nil
}

// list is comma-separated; spaces around an element and empty elements do not count. One of nothing but commas is a
// mistake: it would silently mean what an absent setting means, which is any peer or no target refused.
type list []string

func (l *list) Decode(s string) error {
	*l = nil
	for element := range strings.SplitSeq(s, ",") {
		if element = strings.TrimSpace(element); element != "" && !slices.Contains(*l, element) {
			*l = append(*l, element)
		}
	}
	if len(*l) == 0 {
		return errMalformed
	}
	return nil
}

// cidrs are ranges of addresses; a bare address is a range of one.
type cidrs []netip.Prefix

func (c *cidrs) Decode(s string) error {
	var elements list
	if err := elements.Decode(s); err != nil {
		return err
	}
	*c = nil
	for _, element := range elements {
		p, err := netip.ParsePrefix(element)
		if a, bare := netip.ParseAddr(element); bare == nil && a.Zone() == "" {
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil || p.Addr().Is4In6() {
			return errMalformed
		}
		*c = append(*c, p.Masked())
	}
	return nil
}

const dnsPort = 53

// resolvers are addresses of DNS servers, with or without a port.
type resolvers []netip.AddrPort

func (r *resolvers) Decode(s string) error {
	var elements list
	if err := elements.Decode(s); err != nil {
		return err
	}
	*r = nil
	for _, element := range elements {
		ap, err := netip.ParseAddrPort(element)
		if a, bare := netip.ParseAddr(strings.Trim(element, "[]")); bare == nil {
			ap, err = netip.AddrPortFrom(a, dnsPort), nil
		}
		if err != nil || ap.Port() == 0 {
			return errMalformed
		}
		*r = append(*r, netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()))
	}
	return nil
}

// denyTargets is what the operator refuses.
type denyTargets struct{ target.Denylist }

func (d *denyTargets) Decode(s string) (err error) {
	if err := new(list).Decode(s); err != nil {
		return err
	}
	d.Denylist, err = target.ParseDenylist(s)
	return err
}

// zone is a DNS name.
type zone string

func (z *zone) Decode(s string) error {
	name, err := netpolicy.CanonicalName(s, true)
	*z = zone(name)
	return err
}

// baseURL takes an absolute URL that paths can be put after.
func baseURL(s string, schemes ...string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return "", errMalformed
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") {
		return "", errMalformed
	}
	// The parser passes ports that do not exist.
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return "", errMalformed
		}
	}
	return strings.TrimRight(u.String(), "/"), nil
}

type workerURL string

func (w *workerURL) Decode(s string) error {
	base, err := baseURL(s, "http", "https")
	*w = workerURL(base)
	return err
}

// rdapURL may have a private host: the operator chose it.
type rdapURL struct{ target.URL }

func (r *rdapURL) Decode(s string) (err error) {
	if _, err := baseURL(s, "https"); err != nil {
		return err
	}
	r.URL, err = target.ParseOperatorURL(s)
	return err
}

// contactURL goes into a header and a page, so it is printable ASCII.
type contactURL string

func (c *contactURL) Decode(s string) error {
	u, err := url.Parse(s)
	if err != nil || strings.IndexFunc(s, notTokenRune) >= 0 || strings.ContainsAny(s, `()<>"\`) {
		return errMalformed
	}
	switch {
	case u.Scheme == "mailto" && strings.Contains(u.Opaque, "@"):
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil:
	default:
		return errMalformed
	}
	*c = contactURL(s)
	return nil
}
