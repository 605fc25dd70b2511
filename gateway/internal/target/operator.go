package target

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"

	"golang.org/x/net/idna"
)

var errOperatorURL = errors.New("the URL must be absolute, http or https, without user, query or fragment")

// ParseOperatorURL takes the URL of a service that the operator chose in a setting, such as RDAP_BASE_URL: its host may
// be private, special or a single label. A trailing slash is dropped, so that Append gives the URLs below it. The
// address policy applies to it, unless the host is one of egress.Settings.ExemptHosts.
func ParseOperatorURL(s string) (URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return URL{}, errOperatorURL
	}
	host, err := operatorHost(u.Hostname())
	if err != nil {
		return URL{}, err
	}
	out := URL{scheme: u.Scheme, host: host, port: defaultPort(u.Scheme)}
	if u.Port() != "" {
		var ok bool
		if out.port, ok = parsePort(u.Port()); !ok {
			return URL{}, errOperatorURL
		}
	}
	var problem *LocationError
	if out.requestURI, problem = requestURI(strings.TrimRight(u.EscapedPath(), "/")); problem != nil {
		return URL{}, errOperatorURL
	}
	return out, nil
}

func operatorHost(s string) (Host, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return Host{addr: a.Unmap().WithZone("")}, nil
	}
	name, err := idna.Lookup.ToASCII(strings.ToLower(strings.TrimSuffix(s, ".")))
	if err != nil || name == "" || strings.ContainsFunc(name, notInOperatorHost) {
		return Host{}, errOperatorURL
	}
	return Host{name: name}, nil
}

func notInOperatorHost(r rune) bool {
	return !ascii.IsAlphanumeric(r) && r != '-' && r != '.'
}

// Append gives the URL below u whose path has the segments added, each escaped.
func (u URL) Append(segments ...string) URL {
	path, _, _ := strings.Cut(u.requestURI, "?")
	path = strings.TrimRight(path, "/")
	for _, segment := range segments {
		path += "/" + url.PathEscape(segment)
	}
	u.requestURI = path
	return u
}

// Authority is the host with its port, in the form that egress.Settings.ExemptHosts takes.
func (u URL) Authority() string {
	return net.JoinHostPort(u.host.String(), strconv.Itoa(int(u.port)))
}
