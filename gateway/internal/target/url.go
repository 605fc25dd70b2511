package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/ascii"
)

// URL is an absolute http or https URL with a public host, no user information, a port from 1 to 65535 and no fragment.
type URL struct {
	scheme string
	host   Host
	port   uint16
	// path and query as they go on the wire (escaped), starting with "/".
	requestURI string
}

// ParseURL takes an absolute http or https URL (RFC 3986). It is read by hand: net/url passes ports 0 and 99999, empty
// labels and percent-encoded hosts, and browsers repair what RFC 3986 forbids (`http:\\host`, `http:///host`). What two
// readers could read as two hosts is refused.
func ParseURL(s string) (URL, error) {
	u, err := parseAbsolute(s, advice{host: wantHostname, addr: wantAddress, url: wantURL})
	if err != nil {
		return URL{}, err.Err
	}
	return u, nil
}

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Host is the canonical host.
func (u URL) Host() Host { return u.host }

// Port is the port, the scheme's default where none was typed.
func (u URL) Port() uint16 { return u.port }

// TargetPort is Port, for the limit on ports.
func (u URL) TargetPort() uint16 { return u.port }

// RequestURI is the escaped path and query.
func (u URL) RequestURI() string { return u.requestURI }

// String is the canonical URL: lower-case scheme and host, brackets around IPv6, no default port, no fragment.
func (u URL) String() string {
	authority := u.host.Authority()
	if u.port != defaultPort(u.scheme) {
		authority += ":" + strconv.Itoa(int(u.port))
	}
	return u.scheme + "://" + authority + u.requestURI
}

// LimitKey is the host.
func (u URL) LimitKey() string { return u.host.LimitKey() }

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

func parseAbsolute(s string, want advice) (URL, *LocationError) {
	if err := checkCharacters(s); err != nil {
		return URL{}, err
	}
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return URL{}, invalid(want.url, "URL_WITHOUT_SCHEME", nil)
	}
	if scheme != "http" && scheme != "https" {
		return URL{}, unsupported(scheme, rest, want.url)
	}
	authorityAndPath, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return URL{}, invalid(want.url, "URL_WITHOUT_SLASHES", finding.Args{"scheme": scheme}).followed(rest != "")
	}
	authority, pathQuery := cutAuthority(authorityAndPath)
	u := URL{scheme: scheme}
	var err *LocationError
	if u.host, u.port, err = parseAuthority(authority, scheme, want); err != nil {
		return URL{}, err
	}
	if u.requestURI, err = requestURI(pathQuery); err != nil {
		return URL{}, err
	}
	return u, nil
}

// unsupported words a scheme that is neither http nor https; `example.com:80` looks like one.
func unsupported(scheme, rest, want string) *LocationError {
	if strings.Contains(scheme, ".") && !strings.HasPrefix(rest, "//") {
		return &LocationError{Problem: LocationScheme, Err: fail(fault.Invalid, want, "URL_WITHOUT_SCHEME", nil)}
	}
	return &LocationError{Problem: LocationScheme,
		Err: fail(fault.Invalid, want, "URL_SCHEME", finding.Args{"scheme": show(scheme)})}
}

// cutScheme splits off a scheme (RFC 3986 section 3.1), lower-cased.
func cutScheme(s string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(s, ":")
	if !ok || scheme == "" || !ascii.IsLetter(scheme[0]) || strings.ContainsFunc(scheme, notInScheme) {
		return "", "", false
	}
	return strings.ToLower(scheme), rest, true
}

func notInScheme(r rune) bool { return !ascii.IsAlphanumeric(r) && r != '+' && r != '-' && r != '.' }

// cutAuthority splits what follows "//" into the authority and the rest, the fragment dropped.
func cutAuthority(s string) (authority, pathQuery string) {
	s, _, _ = strings.Cut(s, "#")
	if i := strings.IndexAny(s, "/?"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func parseAuthority(s, scheme string, want advice) (Host, uint16, *LocationError) {
	switch {
	case strings.Contains(s, `\`):
		return Host{}, 0, invalid(want.url, "URL_HOST_BACKSLASH", nil)
	case strings.Contains(s, "@"):
		return Host{}, 0, &LocationError{Problem: LocationCredentials,
			Err: fail(fault.Invalid, "", "URL_USER_NAME", nil)}
	case strings.Contains(s, "%"):
		return Host{}, 0, invalid(want.url, "URL_HOST_ENCODED", nil).followed(decodesToHost(s))
	}
	host, port, _, err := splitHostPort(s, want.url)
	if err != nil {
		return Host{}, 0, hostProblem(err)
	}
	if host == "" {
		return Host{}, 0, invalid(want.url, "URL_WITHOUT_HOST", nil)
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() && s[0] != '[' {
		return Host{}, 0, invalid(want.url, "URL_IPV6_WITHOUT_BRACKETS", nil)
	}
	h, err := parseHost(host, want)
	if err != nil {
		return Host{}, 0, hostProblem(err)
	}
	// An empty port is the default one (RFC 3986 section 6.2.3).
	if port == "" {
		return h, defaultPort(scheme), nil
	}
	n, ok := parsePort(port)
	if !ok {
		_, ok := parsePort(strings.TrimLeft(port, "0"))
		return Host{}, 0, &LocationError{LocationInvalid, notAPort(port, wantPort), ok}
	}
	return h, n, nil
}
