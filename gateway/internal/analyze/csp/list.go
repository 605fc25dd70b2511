package csp

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// list is a directive's values as sources. It is read as a browser reads it: 'none' beside others does not count, and a
// list without any source that counts matches nothing.
type list []Source

func parseList(values []string) list {
	sources := make(list, 0, len(values))
	for _, value := range values {
		sources = append(sources, ParseSource(value))
	}
	return sources
}

func (l list) has(keyword string) bool {
	return slices.ContainsFunc(l, func(s Source) bool { return s.Kind == Keyword && s.Keyword == keyword })
}

func (l list) hasKind(kind Kind) bool {
	return slices.ContainsFunc(l, func(s Source) bool { return s.Kind == kind })
}

// trusts reports whether the list names scripts one by one, by nonce or hash.
func (l list) trusts() bool { return l.hasKind(Nonce) || l.hasKind(Hash) }

// allowsAllInline reports whether the list does: "does a source list allow all inline behavior for type" (section
// 6.7.3.2).
func (l list) allowsAllInline(isScript bool) bool {
	return l.has("'unsafe-inline'") && !l.trusts() && (!isScript || !l.has("'strict-dynamic'"))
}

// admitsNoElement reports whether by a list no script element matches, as by 'none' or an empty one.
func (l list) admitsNoElement() bool { return !l.trusts() && !l.hasFallbacksInForce() }

// admitsNoHandler reports whether by a list no event handler attribute matches.
func (l list) admitsNoHandler() bool {
	return !l.allowsAllInline(true) && (!l.has("'unsafe-hashes'") || !l.hasKind(Hash))
}

// hasFallbacks reports whether the list has anything that 'strict-dynamic' takes back.
func (l list) hasFallbacks() bool {
	return l.hasKind(Host) || l.hasKind(Scheme) || l.has("'self'") || l.has("'unsafe-inline'")
}

// hasFallbacksInForce reports whether the list has a source beside nonces and hashes that 'strict-dynamic' does not
// take back.
func (l list) hasFallbacksInForce() bool { return l.hasFallbacks() && !l.has("'strict-dynamic'") }

// admitsAnyone reports whether the list matches URLs of the scheme that a stranger controls: every host of a network
// scheme, or a scheme without hosts.
func (l list) admitsAnyone(scheme string) bool {
	for _, s := range l {
		switch s.Kind {
		case Scheme:
			if schemeMatches(s.Scheme, scheme) {
				return true
			}
		case Host:
			if isNetwork(scheme) && (s.Scheme == "" || schemeMatches(s.Scheme, scheme)) && s.openHost() {
				return true
			}
		case Invalid, None, Keyword, Nonce, Hash:
		}
	}
	return false
}

// openHost reports whether the source matches nearly every host: all of them, or all below a registry's suffix (*.com).
func (s Source) openHost() bool {
	suffix, icann := s.sharedSuffix()
	return s.Host == "*" || suffix != "" && icann
}

// sharedSuffix is the public suffix below which a wildcard matches every name, empty where it is none: whoever
// registers there is matched. icann tells a registry's suffix (com) from that of a company which lends names
// (github.io).
func (s Source) sharedSuffix() (suffix string, icann bool) {
	below, isWildcard := strings.CutPrefix(s.Host, "*.")
	if !isWildcard {
		return "", false
	}
	suffix, icann = publicsuffix.PublicSuffix(below)
	// What is on no list (an internal name) is a suffix by the list's default rule, and no stranger can register there.
	if suffix != below || !icann && !strings.Contains(suffix, ".") {
		return "", false
	}
	return suffix, icann
}

// admitsHost reports whether the list matches https scripts of the host at the default port, whatever their path.
func (l list) admitsHost(host string) bool {
	for _, s := range l {
		if s.Kind != Host || s.Path != "" && s.Path != "/" {
			continue
		}
		if s.Scheme != "" && !schemeMatches(s.Scheme, "https") || s.Port != "" && s.Port != "*" && s.Port != "443" {
			continue
		}
		if s.Host == host || strings.HasPrefix(s.Host, "*.") && strings.HasSuffix(host, s.Host[1:]) {
			return true
		}
	}
	return false
}

func isNetwork(scheme string) bool {
	return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss"
}

// schemeMatches reports whether there is a "scheme-part match" (section 6.7.2.9): what is written without protection
// also matches the same with it.
func schemeMatches(written, scheme string) bool {
	switch written {
	case scheme:
		return true
	case "http", "wss":
		return scheme == "https"
	case "ws":
		return scheme == "wss" || scheme == "http" || scheme == "https"
	}
	return false
}
