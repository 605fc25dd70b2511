package target

import (
	"net/url"
	"strings"

	"diagnostics/shared/netpolicy"
)

// blanks may stand around the value of a header.
const blanks = " \t"

// Repair returns a Location as browsers repair it (WHATWG URL, section 4.4), and whether that changed it: TAB, CR and
// LF are left out, backslashes before the query are slashes, more than two slashes before a host are two, and what a
// path or a query cannot hold is percent-encoded. The host is left as it is, and so is a URL of another scheme than
// http and https. Blanks around the Location are not part of it; control characters there are left out.
func Repair(location string) (repaired string, changed bool) {
	location = strings.Trim(location, blanks)
	plain := strings.TrimFunc(location, func(r rune) bool { return r <= ' ' })
	plain = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(plain)
	rest, fragment, hasFragment := strings.Cut(plain, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	scheme := ""
	if name, after, ok := cutScheme(rest); ok {
		if name != "http" && name != "https" {
			return plain, plain != location
		}
		scheme, rest = rest[:len(rest)-len(after)], after
	}
	repaired = scheme + repairPath(rest, scheme != "")
	if hasQuery {
		repaired += "?" + escape(query, querySafe)
	}
	if hasFragment {
		repaired += "#" + fragment
	}
	return repaired, repaired != location
}

// repairPath repairs what follows a scheme: an authority and a path, or a path alone.
func repairPath(rest string, hasScheme bool) string {
	rest = strings.ReplaceAll(rest, `\`, "/")
	authority := ""
	if below, found := strings.CutPrefix(rest, "//"); found {
		below = strings.TrimLeft(below, "/")
		end := strings.IndexByte(below, '/')
		if end < 0 {
			end = len(below)
		}
		authority, rest = "//"+below[:end], below[end:]
	} else if hasScheme && !strings.HasPrefix(rest, "/") {
		return rest // http:host, which this service does not read
	}
	return authority + escape(rest, pathSafe)
}

// decodesToHost reports whether an authority is a host once its percent-encoding is undone, as browsers do and this
// service does not.
func decodesToHost(authority string) bool {
	host, err := url.PathUnescape(authority)
	if err != nil {
		return false
	}
	_, err = netpolicy.CanonicalName(host, true)
	return err == nil
}
