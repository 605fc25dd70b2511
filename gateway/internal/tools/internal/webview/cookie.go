package webview

import "strings"

// CookieMask stands for what a cookie holds. It is fixed, so that not even the length is shown.
const CookieMask = "***"

// cookieAttributes are those of RFC 6265 and its successor, of the privacy drafts, and of the older RFC 2965 that still
// have a harmless value.
var cookieAttributes = map[string]bool{
	"domain": true, "expires": true, "httponly": true, "max-age": true, "partitioned": true, "path": true,
	"priority": true, "samesite": true, "secure": true,
	"discard": true, "port": true, "version": true,
}

// maskCookie hides the value in a Set-Cookie header and keeps the name and the attributes. A client that shares a
// result would otherwise share a session. What is not certain to be an attribute is masked too: servers put unescaped
// semicolons into quoted values, and fold several cookies into one line.
func maskCookie(header string) string {
	pair, rest := cutCookiePair(header)
	parts := []string{maskPair(pair)}
	for rest != "" {
		var attribute string
		attribute, rest, _ = strings.Cut(rest, ";")
		parts = append(parts, maskAttribute(attribute))
	}
	return strings.Join(parts, "; ")
}

// cutCookiePair splits at the first semicolon that is not inside a quoted value.
func cutCookiePair(header string) (pair, attributes string) {
	equals := strings.IndexByte(header, '=')
	end := strings.IndexByte(header, ';')
	if equals >= 0 && (end < 0 || equals < end) {
		value := strings.TrimLeft(header[equals+1:], " \t")
		if quoted, isQuoted := strings.CutPrefix(value, `"`); isQuoted {
			if closing := strings.IndexByte(quoted, '"'); closing >= 0 {
				start := len(header) - len(quoted) + closing + 1
				end = -1
				if next := strings.IndexByte(header[start:], ';'); next >= 0 {
					end = start + next
				}
			}
		}
	}
	if end < 0 {
		return header, ""
	}
	return header[:end], header[end+1:]
}

func maskPair(pair string) string {
	name, _, hasName := strings.Cut(pair, "=")
	name = strings.TrimSpace(name)
	// Without an equals sign all of it is the value.
	if !hasName || name == "" {
		return CookieMask
	}
	return name + "=" + CookieMask
}

func maskAttribute(attribute string) string {
	attribute = strings.TrimSpace(attribute)
	name, value, _ := strings.Cut(attribute, "=")
	lower := strings.ToLower(strings.TrimSpace(name))
	if !cookieAttributes[lower] {
		return CookieMask
	}
	// Behind a comma a second cookie may begin (RFC 2965); only a date holds one of its own.
	commas := strings.Count(value, ",")
	if commas > 1 || commas == 1 && (lower != "expires" || strings.Contains(value, "=")) {
		return strings.TrimSpace(name) + "=" + CookieMask
	}
	return attribute
}
