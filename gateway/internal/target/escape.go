package target

import (
	"strings"
	"unicode/utf8"

	"diagnostics/shared/ascii"
)

// The characters that stand for themselves: pchar of RFC 3986 and the slash in a path, the question mark too in a
// query, and square brackets in both, which browsers send and servers expect (`a[]=1`). All others are percent-encoded
// byte by byte; unlike a browser, which sends a few of them raw in a query (| ^ ` { }), so that what is sent is always
// a valid request target.
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	subDelims  = "!$&'()*+,;="
	pathSafe   = unreserved + subDelims + ":@/[]"
	querySafe  = pathSafe + "?"
)

// requestURI canonicalises a path and query without fragment: dot segments removed (RFC 3986 section 5.2.4), escaped,
// starting with a slash.
func requestURI(pathQuery string) (string, *LocationError) {
	path, query, hasQuery := strings.Cut(pathQuery, "?")
	if strings.Contains(path, `\`) {
		return "", invalid("", "URL_PATH_BACKSLASH", nil)
	}
	if ascii.HasBrokenEscape(path) { // a mistake that servers read in several ways
		return "", invalid("", "URL_PATH_PERCENT", nil)
	}
	out := removeDotSegments(escape(path, pathSafe))
	if hasQuery {
		out += "?" + escape(query, querySafe)
	}
	return out, nil
}

// escape keeps existing escapes and encodes stray percent signs: those of queries such as `?discount=50%` are common,
// and servers read them as themselves.
func escape(s, safe string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c < utf8.RuneSelf && strings.IndexByte(safe, c) >= 0, c == '%' && ascii.StartsWithEscape(s[i:]):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// removeDotSegments is RFC 3986 section 5.2.4 on a path that is absolute or empty; `%2e` counts as a dot, as it does
// for browsers.
func removeDotSegments(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kept := make([]string, 0, len(segments))
	for i, segment := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
