package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"
)

// Origin is a web origin (RFC 6454): scheme, host and port. The zero Origin is none.
type Origin struct{ scheme, host, port string }

// ParseOrigin reads a serialised origin: http or https, a host, maybe a port, and nothing else.
func ParseOrigin(s string) (Origin, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Origin{}, errors.New("not a URL")
	}
	scheme, rest, found := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return Origin{}, errors.New("the scheme is not http or https")
	}
	// Comparing with what was typed refuses everything that is not the host and port: user, path, query, fragment.
	if u.Host == "" || u.Host != rest || !ascii.Is(rest) {
		return Origin{}, errors.New("an origin has a scheme, a host and maybe a port, and nothing after them")
	}
	host, port, ok := splitAuthority(rest, scheme)
	if !ok {
		return Origin{}, errors.New("the host or the port is malformed")
	}
	return Origin{scheme: scheme, host: host, port: port}, nil
}

// UnmarshalText is ParseOrigin, for settings.
func (o *Origin) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOrigin(string(text))
	return err
}

// IsZero reports whether there is no origin.
func (o Origin) IsZero() bool { return o == Origin{} }

// String is the serialised origin.
func (o Origin) String() string {
	if o.IsZero() {
		return ""
	}
	if o.port == defaultPort(o.scheme) {
		return o.scheme + "://" + o.host
	}
	return o.scheme + "://" + o.host + ":" + o.port
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// splitAuthority reads host[:port]; an absent port is the scheme's default. IPv6 literals keep their brackets.
func splitAuthority(authority, scheme string) (host, port string, ok bool) {
	host, port = strings.ToLower(authority), defaultPort(scheme)
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host = host[:colon]
		if p := authority[colon+1:]; p != "" {
			port = strings.TrimLeft(p, "0")
		}
	}
	if host == "" || strings.Contains(host, ":") != strings.HasPrefix(host, "[") {
		return "", "", false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return host, port, err == nil && n > 0
}

// ownOrigin reports whether an origin is our own by docs/contract.md#whose-request-it-is. trusted is true where
// this peer's proxy headers are trusted.
func (s *Server) ownOrigin(r *http.Request, trusted bool) bool {
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if strings.EqualFold(strings.TrimSpace(site), "cross-site") {
			return false
		}
	}
	values, sent := r.Header["Origin"]
	if !sent {
		return true
	}
	if len(values) != 1 {
		return false
	}
	origin, err := ParseOrigin(values[0])
	if err != nil {
		return false
	}
	if !s.config.PublicOrigin.IsZero() {
		return origin == s.config.PublicOrigin
	}
	if scheme := requestScheme(r, trusted); scheme != "" && scheme != origin.scheme {
		return false
	}
	host, port, ok := splitAuthority(r.Host, origin.scheme)
	return ok && host == origin.host && port == origin.port
}

// requestScheme returns the scheme of the client's request, empty where it is not known: behind an untrusted proxy,
// plain HTTP here says nothing about the client's side. Of several values the first is that of the outermost proxy, or
// of the client itself. A client may forge it, since the origin rule protects only that client, and a foreign page
// cannot make a browser send this header (it would take a preflight, which is 405).
func requestScheme(r *http.Request, trusted bool) string {
	if r.TLS != nil {
		return "https"
	}
	values := r.Header["X-Forwarded-Proto"]
	if !trusted || len(values) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(values[0], ",")
	switch scheme := strings.ToLower(strings.TrimSpace(first)); scheme {
	case "http", "https":
		return scheme
	}
	return ""
}
