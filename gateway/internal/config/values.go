package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/netpolicy"
)

// platformFlag is a variable of a hosting platform, which we do not own: 1 is set, anything else is not.
type platformFlag bool

func (f *platformFlag) Decode(s string) error { //nolint:unparam // the interface wants it
	*f = s == "1"
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
		return settings.ErrMalformed
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
		p, err := parseNetwork(element)
		if err != nil {
			return err
		}
		*c = append(*c, p)
	}
	return nil
}

func parseNetwork(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if a, bare := netip.ParseAddr(s); bare == nil && a.Zone() == "" {
		p, err = a.Prefix(a.BitLen())
	}
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, settings.ErrMalformed
	}
	return p.Masked(), nil
}

// translation is NAT64_PREFIXES.
type translation struct {
	Prefixes []netip.Prefix
	Auto     bool
}

func (t *translation) Decode(s string) (err error) {
	t.Prefixes, t.Auto, err = netpolicy.ParseTranslationPrefixes(s)
	return err
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
			return settings.ErrMalformed
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
		return "", settings.ErrMalformed
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") {
		return "", settings.ErrMalformed
	}
	// The parser passes ports that do not exist.
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return "", settings.ErrMalformed
		}
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// WorkerToken is the credential of the worker; of two, the first is sent.
type WorkerToken struct{ settings.Secret }

// Decode implements envconfig.Decoder.
func (t *WorkerToken) Decode(s string) error {
	all, err := settings.ParseTokens(s, 1)
	if err != nil {
		return err
	}
	t.Secret = all[0]
	return nil
}

// ParseWorkerToken reads the token of a DIAGNOSTICS_WORKER_TOKEN_FILE.
func ParseWorkerToken(content []byte) (string, error) {
	value, err := settings.FileValue(content)
	if err != nil {
		return "", err
	}
	var token WorkerToken
	err = token.Decode(value)
	return token.Reveal(), err
}

// workerURL is the base URLs of workers, comma-separated.
type workerURL string

// Addresses are the hosts and ports, comma-separated.
func (w workerURL) Addresses() string {
	var all []string
	for base := range strings.SplitSeq(string(w), ",") {
		if u, err := url.Parse(base); err == nil {
			all = append(all, u.Host)
		}
	}
	return strings.Join(all, ",")
}

func (w *workerURL) Decode(s string) error {
	var elements list
	if err := elements.Decode(s); err != nil {
		return err
	}
	for i := range elements {
		base, err := baseURL(elements[i], "http", "https")
		if err != nil {
			return err
		}
		elements[i] = base
	}
	*w = workerURL(strings.Join(elements, ","))
	return nil
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

// bootstrapURL is as rdapURL, or off: the zero URL.
type bootstrapURL struct{ target.URL }

func (b *bootstrapURL) Decode(s string) (err error) {
	if s == "off" {
		b.URL = target.URL{}
		return nil
	}
	var base rdapURL
	err = base.Decode(s)
	b.URL = base.URL
	return err
}

// contactURL goes into a header and a page, so it is printable ASCII.
type contactURL string

func (c *contactURL) Decode(s string) error {
	u, err := url.Parse(s)
	if err != nil || !settings.IsPrintable(s) || strings.ContainsAny(s, `()<>"\`) {
		return settings.ErrMalformed
	}
	switch {
	case u.Scheme == "mailto" && strings.Contains(u.Opaque, "@"):
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil:
	default:
		return settings.ErrMalformed
	}
	*c = contactURL(s)
	return nil
}
